"""Heads of weighted sets without sorting them: the keys that the sorted order has."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from reference import rarity as twin

ENTRIES = st.dictionaries(st.integers(0, 60), st.integers(1, 1000), max_size=40)
COUNTS = st.lists(st.sampled_from([1, 2, 3, 128, 255]), min_size=64, max_size=64)


def keys(
    sets: list[dict[int, int]], needed: list[int], counts: list[int], squared: bool = False
) -> tuple[list[set[int]], list[int]]:
    values = np.array([f << 32 | w for one in sets for f, w in sorted(one.items())], np.uint64)
    offsets = np.cumsum([0, *map(len, sets)]).astype(np.int64)
    made, ends, probes = _native.rare_weighted_prefixes(
        values, offsets, np.array(needed, np.uint64), squared, np.array(counts, np.uint8), 0, 1
    )
    cut = [made[i:j].tolist() for i, j in pairwise(ends)]
    assert [len(one) for one in cut] == [len(set(one)) for one in cut]
    return [set(one) for one in cut], probes.tolist()


def key_of(feature: int) -> int:
    """As a set of this one feature has it."""
    return keys([{feature: 1}], [1], [])[0][0].pop()


@given(st.lists(ENTRIES, max_size=5), COUNTS, st.integers(0, 12), st.booleans())
def test_the_head_is_that_of_the_sorted_order(
    sets: list[dict[int, int]], counts: list[int], twelfths: int, squared: bool
) -> None:
    power = 2 if squared else 1
    needed = [sum(w**power for w in one.values()) * twelfths // 12 for one in sets]
    found, probes = keys(sets, needed, counts, squared)
    expected = [
        [key_of(f) for f in twin.weighted_prefix(one, least, counts, squared=squared)]
        for one, least in zip(sets, needed, strict=True)
    ]
    assert found == [set(one) for one in expected]
    assert probes == [len(one) for one in expected]
