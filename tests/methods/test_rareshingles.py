"""Shingles by their rarity: whole runs against all pairs in exact fractions; templates; noise."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.artefacts import frequencies
from neardup.artefacts.frequencies import FrequencyCounter, Grams
from neardup.errors import SettingsError
from neardup.matching import rare
from neardup.methods.rareshingles import Rareshingles
from neardup.schema import Ragged
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import rarity as twin
from repeats import examples

PLAIN = Rareshingles(calibrate=False)


def feature_sets(texts: list[str], words: int) -> list[set[int]]:
    sets = frequencies.shingle_sets(Ragged.of_strings(batch(texts).column("text")), words, Text())
    return [{*sets[i].tolist()} for i in range(len(texts))]


def slots_for(sets: list[set[int]]) -> int:
    """32 for every feature, and at least 4096."""
    return max(1 << (32 * sum(map(len, sets))).bit_length(), 4096)


def found_pairs(texts: list[str], method: Rareshingles) -> dict[tuple[int, int], float]:
    result = nd.find(texts, method=method)
    ids = {name: i for i, name in enumerate(result.decisions["id"].to_pylist())}
    return {
        (min(pair), max(pair)): row["score"]
        for row in result.pairs.to_pylist()
        if (pair := (ids[row["a"]], ids[row["b"]]))
    }


@st.composite
def collections(draw: st.DrawFn) -> list[str]:
    """A beginning that many may have, words from few, and words of one's own."""
    template = [f"t{i}" for i in range(draw(st.integers(0, 30)))]
    texts = []
    for d in range(draw(st.integers(1, 8))):
        begins = draw(st.integers(0, len(template)))
        some = draw(st.lists(st.sampled_from("abcdefgh"), max_size=20))
        own = [f"own{d}x{i}" for i in range(draw(st.sampled_from([0, 1, 7, 12])))]
        texts.append(" ".join([*template[:begins], *some, *own]) or "a")
    return texts


@given(
    collections(),
    st.integers(1, 3),
    st.sampled_from(["0.05", "0.3", "0.4", "0.75", "1"]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.integers(2, 5),
    st.booleans(),
    st.booleans(),
)
@examples(80)
def test_runs_equal_all_pairs(
    texts: list[str], words: int, t: str, lone: float, common: int, refuse: bool, small: bool
) -> None:
    method = Rareshingles(
        words,
        float(t),
        calibrate=False,
        lone=lone,
        common=common,
        templates="refuse" if refuse else "accept",
        min_words=0,
    )
    with pytest.MonkeyPatch.context() as patch:
        if small:  # counts that are mostly wrong, many parts
            patch.setattr(rare, "MOST_COUNT_SLOTS", 4)
            patch.setattr(rare, "FEWEST_COUNT_SLOTS", 1)
            patch.setattr(rare, "PART_KEYS", 10)
            patch.setattr(rare, "BLOCK_FEATURES", 20)
        found = found_pairs(texts, method)
    sets = feature_sets(texts, words)
    expected = twin.pairs(sets, slots_for(sets), twin.Settings(Fraction(t), lone, common, refuse))
    equal = {
        (i, j) for i in range(len(sets)) for j in range(i + 1, len(sets)) if sets[i] == sets[j]
    }
    assert set(found) == set(expected) | equal  # equal sets are one document
    for pair, score in found.items():
        assert score == (1 if pair in equal else float(expected[pair]))


TEMPLATE = [f"notice{i}" for i in range(60)]
STUBS = [" ".join([*TEMPLATE, *(f"story{d}word{i}" for i in range(20))]) for d in range(30)]
ARTICLE = [f"line{i}" for i in range(80)]
COPIES = [" ".join([*ARTICLE[:d], f"other{d}", *ARTICLE[d + 1 :]]) for d in range(30)]


@pytest.mark.parametrize("calibrate", [False, True])
def test_filled_templates_are_no_duplicates_and_copies_are(calibrate: bool) -> None:
    method = Rareshingles(calibrate=calibrate)
    assert nd.dedup(STUBS, method=method).counts.duplicates == 0
    assert nd.dedup(COPIES, method=method).counts.duplicates == 29
    both = nd.dedup([*STUBS, *COPIES], method=method)
    assert both.counts.duplicates == 29
    assert set(both.duplicates["kept_id"].to_pylist()) == {"input:31"}


def test_templates_can_be_accepted() -> None:
    accepting = Rareshingles(calibrate=False, templates="accept", threshold=0.2)
    refusing = Rareshingles(calibrate=False, threshold=0.2)
    assert nd.dedup(STUBS, method=accepting).counts.duplicates == 29
    assert nd.dedup(STUBS, method=refusing).counts.duplicates == 0


def noisy(words: list[str], rng: np.random.Generator, rate: float) -> str:
    return " ".join(f"{w}{rng.integers(10**9)}" if rng.random() < rate else w for w in words)


def test_what_one_copy_alone_has_counts_in_part() -> None:
    """One word in five is misread in either scan: a quarter of the shingles is left."""
    rng = np.random.default_rng(4)
    texts = []
    for d in range(20):
        words = [f"page{d}word{i}" for i in range(200)]
        texts += [noisy(words, rng, 0.2), noisy(words, rng, 0.2)]
    counts = {
        lone: nd.dedup(texts, method=Rareshingles(calibrate=False, lone=lone)).counts.duplicates
        for lone in (0.0, 0.1, 0.3, 1.0)
    }
    assert counts[0.0] == counts[0.1] == 20
    assert counts[1.0] == 0
    assert counts[0.1] >= counts[0.3] >= counts[1.0]


def test_versions_of_what_the_table_does_not_know_are_no_template(tmp_path: Path) -> None:
    """With frequencies of an earlier run all that is new is lone."""
    old = [" ".join(f"old{d}word{i}" for i in range(40)) for d in range(10)]
    nd.dedup(old, method=PLAIN).save(tmp_path / "old")
    table = str(tmp_path / "old" / "artefacts" / "frequencies.arrow")
    given_table = Rareshingles(calibrate=False, frequencies=table)
    decided = nd.dedup(COPIES[:2], method=given_table)
    assert decided.counts.duplicates == 1


def test_golden_evidence() -> None:
    counter = FrequencyCounter(Grams(2), Text())
    counter.add(counter.count(batch(["one two three", "one two four", "one two five six"])))
    method = Rareshingles(words=2, common=2, min_words=0)
    table = counter.finish()
    artefacts = {"frequencies": table, "vocabulary": table}
    prepared = method.prepare(batch(["one two three"]), artefacts)
    assert prepared.evidence.values.dtype == np.uint64
    entries = [(int(e) >> 32, int(e) & 0xFFFFFFFF) for e in prepared.evidence.values]
    assert entries == [
        (2051018872, 4 * 7403 + twin.LONE),
        (2972042635, 4 * 1822 + twin.COMMON),
    ]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"words": 0}, "words is 0; expected from 1 to 32"),
        ({"lone": 1.5}, "lone is 1.5; expected from 0 to 1"),
        ({"common": 1}, "common is 1; expected from 2 to 65534"),
        ({"templates": "maybe"}, "templates is 'maybe'; expected 'refuse' or 'accept'"),
        ({"min_words": -1}, "min_words is -1"),
        ({"threshold": 0}, "threshold"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        Rareshingles(**parameters)
