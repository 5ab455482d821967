from __future__ import annotations

import numpy as np
import pytest

from evaluation.collections import grouped
from neardup import api as nd
from neardup.errors import SettingsError
from neardup.evaluation.scored_pairs import of_result
from neardup.evaluation.swept_settings import parse_thresholds, settings_of
from neardup.methods import registry
from neardup.methods.registry import read_method


def test_thresholds_are_the_numbers_as_written() -> None:
    assert parse_thresholds(".3:.5:.05") == (0.3, 0.35, 0.4, 0.45, 0.5)
    assert parse_thresholds("0.9,.5, 0.5,0.7") == (0.5, 0.7, 0.9)
    assert len(parse_thresholds("0.3:0.95:0.05")) == 14


@pytest.mark.parametrize(
    "written", ["", "x", ".9:.3:.1", ".3:.9:0", ".3:.9:-1", "1.2", "0", ".3::"]
)
def test_wrong_thresholds_are_refused(written: str) -> None:
    with pytest.raises(SettingsError, match="threshold"):
        parse_thresholds(written)


def test_each_method_has_its_cuts() -> None:
    methods = [read_method(one) for one in ("shingles words=3", "simhash", "exact", "imatch")]
    shingles, simhash, exact, imatch = settings_of(methods, thresholds=(0.5, 0.8))
    assert [str(cut) for cut in shingles.cuts] == ["0.5", "0.8"]
    assert [cut.value for cut in simhash.cuts] == list(range(10, -1, -1))
    assert simhash.wide == registry.build("simhash", {"distance": 10})
    assert len(exact.cuts) == len(imatch.cuts) == 1
    own = settings_of(methods)
    assert [len(one.cuts) for one in own] == [1, 1, 1, 1]
    assert [str(one.cuts[0]) for one in own] == ["0.8", "distance 3", "–", "–"]


def test_a_method_that_serves_some_thresholds_is_swept_over_those() -> None:
    (setting,) = settings_of([read_method("shingles keys=bands")], thresholds=(0.1, 0.2, 0.8))
    assert [cut.value for cut in setting.cuts] == [0.8]


def test_a_usual_sweep_leaves_out_what_makes_no_sense() -> None:
    methods = [read_method("qgrams"), read_method("shingles")]
    for usual, cuts in ((True, [0.5, 0.8]), (False, [0.3, 0.5, 0.8])):
        made = settings_of(methods, thresholds=(0.3, 0.5, 0.8), usual=usual)
        assert [cut.value for cut in made[0].cuts] == cuts
        assert len(made[1].cuts) == 3


def test_a_threshold_that_nobody_has_is_refused() -> None:
    with pytest.raises(SettingsError, match="has no parameter 'threshold'"):
        settings_of([read_method("simhash")], threshold=0.5)
    one, other = settings_of([read_method("simhash"), read_method("shingles")], threshold=0.5)
    assert (str(one.cuts[0]), str(other.cuts[0])) == ("distance 3", "0.5")


def test_names_and_commands_say_the_same_setting() -> None:
    written = "shingles words=3 measure=containment text.digits=mask"
    (setting,) = settings_of([read_method(written + " threshold=0.9")], thresholds=(0.5, 0.7))
    assert setting.name == written
    assert read_method(setting.name) == read_method(written)
    command = setting.command(setting.cuts[1])
    assert command == (
        "neardup dedup INPUT --method shingles --set words=3 --set measure=containment "
        "--set text.digits=mask --threshold 0.7 -o OUT"
    )
    (simhash,) = settings_of([read_method("simhash bits=128")], thresholds=(0.5,))
    assert simhash.command(simhash.cuts[0]).endswith("--set bits=128 --set distance=10 -o OUT")


@pytest.mark.parametrize("name", registry.names())
def test_a_cut_is_what_a_run_of_its_own_finds(name: str) -> None:
    """Of every method, at every cut; a run with MinHash bands may miss a few of the pairs."""
    documents = [*grouped(groups=6), *grouped(groups=2, copies=4, seed=1)]
    documents = [{**one, "id": str(i)} for i, one in enumerate(documents)]
    (setting,) = settings_of([registry.build(name)], thresholds=(0.3, 0.6, 0.8))
    wide = of_result(nd.find(documents, method=setting.wide))
    for cut in setting.cuts:
        method = cut.of(setting.method)
        narrow, ours = of_result(nd.find(documents, method=method)), wide.at(cut.threshold)
        assert narrow.lowest == pytest.approx(cut.threshold)
        if method.miss_rate == 0:
            assert np.array_equal(narrow.a, ours.a)
            assert np.array_equal(narrow.b, ours.b)
        keys = [set(zip(p.a.tolist(), p.b.tolist(), strict=True)) for p in (narrow, ours)]
        assert keys[0] <= keys[1]
        assert len(ours) > 0
