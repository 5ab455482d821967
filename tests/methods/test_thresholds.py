"""A threshold as written: a number, auto, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from neardup import api as nd
from neardup.errors import SettingsError, SignatureError
from neardup.methods.rareshingles import Rareshingles
from neardup.papers.recipe import with_recipe
from neardup.plan import resolve
from neardup.settings import settings_of

NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"


def method(**settings: Any) -> Any:
    return resolve(settings_of(with_recipe({"method": "rareshingles", **settings}))).method


@pytest.mark.parametrize(
    ("settings", "calibrate", "threshold"),
    [
        ({}, True, 0.4),
        ({"threshold": "auto"}, True, 0.4),
        ({"set": {"threshold": "auto"}}, True, 0.4),
        ({"threshold": 0.5}, False, 0.5),
        ({"set": {"threshold": 0.5}}, False, 0.5),
        ({"threshold": 0.5, "calibrate": True}, True, 0.5),
        ({"threshold": "auto", "calibrate": True}, True, 0.4),
        ({"calibrate": False}, False, 0.4),
        ({"method": Rareshingles(threshold=0.3), "threshold": "auto"}, True, 0.3),
        ({"method": Rareshingles(threshold=0.3)}, True, 0.3),
        ({"method": Rareshingles(), "threshold": 0.6}, False, 0.6),
        ({"threshold": "auto", "set": {"threshold": 0.9}}, True, 0.4),
    ],
)
def test_a_number_is_a_plain_cut(
    settings: dict[str, Any], calibrate: bool, threshold: float
) -> None:
    made = method(**settings)
    assert (made.calibrate, made.threshold) == (calibrate, threshold)


def test_a_recipe_can_say_auto(tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    for written in (
        'method = "rareshingles"\nthreshold = "auto"\n',
        '[method]\nname = "rareshingles"\nthreshold = "auto"\n',
    ):
        recipe.write_text(written)
        assert method(recipe=recipe).calibrate
        assert not method(recipe=recipe, threshold=0.5).calibrate


@pytest.mark.parametrize("name", ["exact", "imatch", "fingerprint"])
def test_a_method_without_a_threshold_says_so(name: str) -> None:
    with pytest.raises(SettingsError, match=f"{name} has no threshold to choose"):
        nd.dedup(["a"], method=name, threshold="auto")


def test_what_contradicts_itself_or_is_no_threshold_is_refused() -> None:
    with pytest.raises(SettingsError, match="calibrate is false"):
        method(threshold="auto", calibrate=False)
    with pytest.raises(SettingsError, match="threshold is 'high'; expected float"):
        method(threshold="high")


def test_the_run_says_what_was_written_and_where_it_cut(tmp_path: Path) -> None:
    auto = nd.dedup(NEWS, method="rareshingles", threshold="auto").info["settings"]
    assert auto["threshold"] == "auto"
    assert auto["parameters"]["threshold"] == auto["resolved"]["threshold"] == 0.4
    assert auto["resolved"]["clear"] is False
    given = nd.dedup(NEWS, method="rareshingles", threshold=0.5).info
    assert given["settings"]["threshold"] == 0.5
    assert "clear" not in given["settings"]["resolved"]
    assert "calibration" not in given["artefacts"]
    run = nd.dedup(NEWS, method="rareshingles", threshold="auto", signatures=True)
    run.save(tmp_path / "run")
    again = nd.dedup(NEWS, method="rareshingles", threshold="auto", against=tmp_path / "run")
    assert again.counts.kept == 0
    with pytest.raises(SignatureError, match="threshold"):
        nd.dedup(NEWS, method="rareshingles", threshold=0.5, against=tmp_path / "run")
