"""An index may number its documents anew; what passes stays the same documents."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching.window import WindowPostings

SETS = st.lists(st.sets(st.integers(0, 12), min_size=1), min_size=1, max_size=30)
HALF = Fraction(1, 2)


def features(grams: set[int]) -> np.ndarray:
    return np.array(sorted(grams), np.uint32)


def passing(sets: list[set[int]], grams: set[int]) -> list[int]:
    return [i for i, s in enumerate(sets) if 2 * len(s & grams) >= max(len(s), len(grams))]


@given(SETS, st.sets(st.integers(0, 29)), SETS, st.integers(0, 2))
def test_who_passes_is_met_under_the_numbers_of_the_day(
    sets: list[set[int]], gone: set[int], later: list[set[int]], dropped: int
) -> None:
    postings = WindowPostings(HALF, 3)
    for i, grams in enumerate(sets):
        postings.add(features(grams), i, i % 3)
    for grams in later:
        met = postings.meet(features(grams))
        assert met.numbers.tolist() == passing(sets, grams)
        shares = [
            len(s & grams) / max(len(s), len(grams)) for s in map(sets.__getitem__, met.numbers)
        ]
        np.testing.assert_allclose(met.scores, shares)

    alive = np.array([i not in gone for i in range(len(sets))])
    postings.keep(np.where(alive, np.cumsum(alive) - 1, -1))
    left = [i for i in range(len(sets)) if alive[i]]
    for i, grams in enumerate(later, len(left)):
        postings.add(features(grams), i, 1)
    postings.drop(dropped)
    slots = [i % 3 for i in left] + [1] * len(later)
    known = [sets[i] for i in left] + later
    for grams in later:
        expected = [i for i in passing(known, grams) if slots[i] != dropped]
        assert postings.meet(features(grams)).numbers.tolist() == expected
    assert postings.bytes > 0
