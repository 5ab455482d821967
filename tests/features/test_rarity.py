"""What two sets share by rarity, against dictionaries."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import Ragged, offsets_of
from reference import rarity as twin

WEIGHT_OF = st.lists(st.integers(0, 2**16), min_size=200, max_size=200)
SETS = st.lists(st.sets(st.integers(0, 199)) | st.just(set(range(200))), min_size=1, max_size=6)


def entries(sets: list[set[int]], weight_of: list[int]) -> tuple[Ragged, list[dict[int, int]]]:
    weighted = [{f: 4 * weight_of[f] + weight_of[f] % 4 for f in sorted(one)} for one in sets]
    values = [f << 32 | weight for one in weighted for f, weight in one.items()]
    return Ragged(
        np.array(values, np.uint64), offsets_of(np.array([len(s) for s in sets]))
    ), weighted


@given(SETS, WEIGHT_OF)
def test_sizes_equal_twin(sets: list[set[int]], weight_of: list[int]) -> None:
    evidence, weighted = entries(sets, weight_of)
    sizes = _native.sizes_by_rarity(evidence.values, evidence.offsets)
    made = list(zip(*(column.tolist() for column in sizes), strict=True))
    assert made == [twin.sizes_by_rarity(one) for one in weighted]


@given(SETS, WEIGHT_OF, st.lists(st.integers(0, 2**22), min_size=36, max_size=36))
def test_what_is_shared_is_exact_for_pairs_that_reach_what_is_needed(
    sets: list[set[int]], weight_of: list[int], some: list[int]
) -> None:
    evidence, weighted = entries(sets, weight_of)
    weights, *_ = _native.sizes_by_rarity(evidence.values, evidence.offsets)
    a, b = (grid.ravel() for grid in np.indices((len(sets), len(sets)), np.int64))
    needed = np.array(some[: len(a)], np.int64)
    made = _native.shared_by_rarity(evidence.values, evidence.offsets, weights, a, b, needed)
    for i, found in enumerate(map(twin.Shared, *(column.tolist() for column in made))):
        expected = twin.shared_by_rarity(weighted[a[i]], weighted[b[i]])
        if expected.weight >= needed[i]:
            assert found == expected
        else:
            assert all(less <= all_ for less, all_ in zip(found, expected, strict=True))


def test_a_pair_that_needs_nothing_is_always_exact() -> None:
    evidence, weighted = entries([set(range(150)), set(range(100, 200))], [7] * 200)
    weights, *_ = _native.sizes_by_rarity(evidence.values, evidence.offsets)
    a, b, needed = np.array([0]), np.array([1]), np.array([0])
    made = _native.shared_by_rarity(evidence.values, evidence.offsets, weights, a, b, needed)
    assert tuple(int(column[0]) for column in made) == twin.shared_by_rarity(*weighted)
