"""The method ``join``: every measure and kind of feature against all pairs in exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup import api as nd
from neardup.errors import SettingsError
from neardup.features.qgrams import qgrams
from neardup.matching import rare
from neardup.methods.join import Join
from neardup.methods.set_measures import MEASURES, pair_scorer, prefix_sizes, set_scores
from neardup.schema import Ragged, offsets_of
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import join as twin
from reference.shingles import windows
from repeats import examples

WORDS = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=24)
THRESHOLDS = st.integers(1, 20).map(lambda n: Fraction(n, 20))


def features(words: list[str], kind: str, size: int) -> set[str]:
    if kind == "qgrams":
        return set(qgrams(" ".join(words), size))
    return {" ".join(window) for window in windows(words, size if kind == "shingles" else 1)}


@given(
    st.lists(WORDS, max_size=9),
    st.sampled_from(MEASURES),
    THRESHOLDS,
    st.sampled_from(
        [("shingles", 1), ("shingles", 2), ("shingles", 3), ("words", 1), ("qgrams", 2)]
    ),
    st.booleans(),
)
@examples(120)
def test_nothing_is_missed_and_nothing_added(
    texts: list[list[str]], measure: str, t: Fraction, kind: tuple[str, int], small: bool
) -> None:
    long = [words for words in texts if kind[0] != "qgrams" or len(words) >= kind[1]]
    method = Join(kind[0], kind[1], measure, float(t), min_words=1)
    with pytest.MonkeyPatch.context() as patch:
        if small:  # counts that are mostly wrong, many parts
            patch.setattr(rare, "MOST_COUNT_SLOTS", 4)
            patch.setattr(rare, "FEWEST_COUNT_SLOTS", 1)
            patch.setattr(rare, "PART_KEYS", 10)
            patch.setattr(rare, "BLOCK_FEATURES", 20)
        result = nd.find([" ".join(words) for words in long], method=method)
    found = {(p["a"], p["b"]) for p in result.pairs.to_pylist()}
    expected = twin.pairs([features(words, *kind) for words in long], measure, t)
    assert found == {(f"input:{i + 1}", f"input:{j + 1}") for i, j in expected}


def test_overlap_is_another_name_of_containment() -> None:
    assert Join(measure="overlap") == Join(measure="containment")


def test_sizes() -> None:
    assert [Join(features=kind).width for kind in ("shingles", "words", "qgrams")] == [5, 1, 4]
    assert Join(size=3).resolved()["size"] == 3


def test_shingles_by_prefix_are_a_join() -> None:
    shared = " ".join(f"w{i}" for i in range(40))
    texts = [shared, shared + " more", "other " + shared, "w1 " * 20]
    one = nd.find(texts, method="shingles", set={"keys": "prefix"})
    assert nd.find(texts, method="join").pairs.equals(one.pairs)


@given(
    st.lists(st.sets(st.integers(0, 2**32 - 1), max_size=30), max_size=8),
    st.sampled_from([1, 4, 64, 1 << 14]),
    st.booleans(),
    THRESHOLDS,
)
def test_rare_prefixes_equal_the_twin(
    sets: list[set[int]], slots: int, everything: bool, t: Fraction
) -> None:
    """The smallest by (count, value); what is counted once is in the prefix but makes no key."""
    values = np.array([f for one in sets for f in sorted(one)], np.uint32)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    counts = np.zeros(slots, np.uint8)
    _native.count_features(values, counts)
    sizes = prefix_sizes("jaccard", t, np.diff(offsets))
    keys, ends, probes = _native.rare_prefixes(values, offsets, sizes, counts, everything, 0, 1)
    plain, plain_ends, _ = _native.rare_prefixes(
        values, offsets, np.diff(offsets), np.empty(0, np.uint8), False, 0, 1
    )
    for i, one in enumerate(sets):
        key = dict(zip(sorted(one), plain[plain_ends[i] : plain_ends[i + 1]].tolist(), strict=True))
        order = sorted(one, key=lambda f: (counts[f % slots], f))
        shared = [f for f in order if counts[f % slots] != 1]
        prefix = [f for f in order[: sizes[i]] if counts[f % slots] != 1]
        mine = keys[ends[i] : ends[i + 1]].tolist()
        assert probes[i] == len(prefix)
        assert sorted(mine[: probes[i]]) == sorted(key[f] for f in prefix)
        assert sorted(mine) == sorted(key[f] for f in (shared if everything else prefix))


def test_counts_are_exact_while_small_and_grow_slowly_then() -> None:
    counts = np.zeros(2, np.uint8)
    for _ in range(127):
        _native.count_features(np.array([1], np.uint32), counts)
    assert counts.tolist() == [0, 127]
    _native.count_features(np.full(100_000, 1, np.uint32), counts)
    some = int(counts[1])
    _native.count_features(np.full(3_000_000, 1, np.uint32), counts)
    assert 200 < some < counts[1] <= 255


@pytest.mark.parametrize(
    "wrong",
    [
        {"features": "paragraphs"},
        {"size": 0},
        {"size": 33},
        {"features": "words", "size": 2},
        {"measure": "resemblance"},
        {"threshold": 0},
        {"min_words": -1},
        {"features": "qgrams", "text": Text(stop_words="english")},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        Join(**wrong)


# A change is a change of the format: see tests/methods/test_shingles.py.
GOLDEN = {
    "features": [405717001, 467567667, 578835059],
    "keys": [10545260897612340023, 2979273789272392409],
}


def test_golden_vectors() -> None:
    text = "the quick brown fox jumps over the lazy dog and then the dog sleeps for an hour"
    made = Join(size=2, measure="cosine").prepare(batch([text]))
    assert {
        "features": made.evidence[0][:3].tolist(),
        "keys": made.keys[0][:2].tolist(),
    } == GOLDEN


SETS = st.sets(st.integers(0, 60) | st.integers(2**32 - 9, 2**32 - 1), max_size=70)


@given(SETS, SETS, st.integers(1, 1000).map(lambda t: Fraction(t, 1000)))
def test_one_pair_is_scored_as_among_many(one: set[int], other: set[int], t: Fraction) -> None:
    sets = [np.array(sorted(some), np.uint32) for some in (one, other)]
    evidence = Ragged(np.concatenate(sets), offsets_of(np.array([len(one), len(other)])))
    scores = set_scores("jaccard", t, evidence, np.array([0]), np.array([1]))
    score_pair = pair_scorer("jaccard", t)
    assert score_pair is not None
    assert score_pair(*sets) == (scores.score[0] if scores.passed[0] else None)
