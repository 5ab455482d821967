"""Groups and candidate pairs against dictionaries and double loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.matching.candidates import (
    GroupPairs,
    Groups,
    distinct,
    pairs_within,
    share_keys,
)
from neardup.schema import Ragged
from reference import matching as twin

KEY = st.integers(0, 12) | st.integers(0, 12).map(lambda k: k * 0x1111_1111_1111_1111)
KEYS = st.lists(st.lists(KEY, max_size=6), max_size=14)


def ragged(lists: list[list[int]], dtype: type = np.uint64) -> Ragged:
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Ragged(np.array([v for one in lists for v in one], dtype), offsets)


def as_dicts(groups: Groups) -> list[dict[int, bool]]:
    members, looks = groups.members, Ragged(groups.probes, groups.members.offsets)
    return [
        dict(zip(members[g].tolist(), map(bool, looks[g].tolist()), strict=True))
        for g in range(len(groups))
    ]


@st.composite
def keys_and_probes(draw: st.DrawFn) -> tuple[list[list[int]], list[int]]:
    keys = draw(KEYS)
    return keys, [draw(st.integers(0, len(own))) for own in keys]


@given(keys_and_probes(), st.integers(1, 5))
def test_groups_equal_twin(given: tuple[list[list[int]], list[int]], workers: int) -> None:
    keys, probes = given
    groups = share_keys(ragged(keys), np.array(probes, np.int32), workers=workers)
    expected = twin.shared_groups(keys, probes)
    assert as_dicts(groups) == [expected[key] for key in sorted(expected)]  # in key order
    for g in range(len(groups)):
        assert np.all(np.diff(groups.members[g]) > 0)


@given(keys_and_probes())
def test_pairs_equal_twin(given: tuple[list[list[int]], list[int]]) -> None:
    keys, probes = given
    a, b, left = pairs_within(share_keys(ragged(keys), np.array(probes, np.int32)), 10**9)
    assert len(left) == 0
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert pairs == sorted(twin.group_pairs(list(twin.shared_groups(keys, probes).values())))


@given(KEYS, st.data())
def test_only_documents_of_one_code_meet(keys: list[list[int]], data: st.DataObject) -> None:
    within = data.draw(st.lists(st.integers(-1, 3), min_size=len(keys), max_size=len(keys)))
    probes = np.array([len(own) for own in keys], np.int32)
    a, b, _ = pairs_within(share_keys(ragged(keys), probes, np.array(within, np.int64)), 10**9)
    everyone = twin.group_pairs(list(twin.shared_groups(keys, probes.tolist()).values()))
    expected = {(i, j) for i, j in everyone if within[i] == within[j]}
    assert set(zip(a.tolist(), b.tolist(), strict=True)) == expected


@given(keys_and_probes(), st.integers(0, 40))
def test_pairs_of_small_groups_and_the_groups_left_over_are_all(
    given: tuple[list[list[int]], list[int]], budget: int
) -> None:
    keys, probes = given
    groups = share_keys(ragged(keys), np.array(probes, np.int32))
    a, b, hot = pairs_within(groups, budget)
    small = [g for g in as_dicts(groups) if g not in as_dicts(hot)]
    assert sorted(zip(a.tolist(), b.tolist(), strict=True)) == sorted(twin.group_pairs(small))
    if small and len(hot):
        assert max(map(len, small)) < hot.members.lengths.min()


@given(keys_and_probes(), st.integers(0, 40), st.integers(1, 5))
def test_pairs_in_blocks_are_those_of_one_block(
    given: tuple[list[list[int]], list[int]], budget: int, block: int
) -> None:
    keys, probes = given
    groups = share_keys(ragged(keys), np.array(probes, np.int32))
    whole, blocks = GroupPairs(groups, budget), GroupPairs(groups, budget, block)
    assert len(whole) == len(blocks) <= budget
    assert as_dicts(whole.hot) == as_dicts(blocks.hot)
    parts = [np.stack(pairs) for pairs in blocks]
    assert [p for part in parts for p in part.T.tolist()] == [
        p for pairs in whole for p in np.stack(pairs).T.tolist()
    ]
    assert sum(part.shape[1] for part in parts) == len(blocks)


@given(keys_and_probes())
def test_groups_with_the_same_entries_are_one(given: tuple[list[list[int]], list[int]]) -> None:
    keys, probes = given
    groups = share_keys(ragged(keys), np.array(probes, np.int32))
    once = as_dicts(distinct(groups))
    assert len({repr(g) for g in once}) == len(once)
    assert {repr(g) for g in once} == {repr(g) for g in as_dicts(groups)}


def test_no_documents() -> None:
    groups = share_keys(ragged([]), np.empty(0, np.int32))
    assert len(groups) == 0
    a, b, hot = pairs_within(groups, 10)
    assert len(a) == len(b) == len(hot) == len(distinct(groups)) == 0


@pytest.mark.parametrize("documents", [300_000])
def test_the_key_space_is_worked_through_in_parts(documents: int) -> None:
    """More entries than one part holds: the same groups as numpy finds."""
    rng = np.random.default_rng(5)
    keys = rng.integers(0, 2**64, documents, np.uint64)
    keys = np.concatenate([keys, rng.permutation(keys)[: documents // 2], keys, keys])
    per = 3
    count = len(keys) // per
    keys = keys[: count * per]
    assert len(keys) > 1 << 20
    offsets = np.arange(0, count * per + 1, per, dtype=np.int64)
    members, probes, ends = _native.shared_groups(
        keys, offsets, np.full(count, per, np.int32), np.arange(count)
    )
    entries = np.unique(np.stack([keys, np.arange(len(keys), dtype=np.uint64) // per]), axis=1)
    _, sizes = np.unique(entries[0], return_counts=True)
    assert np.array_equal(np.diff(ends), sizes[sizes > 1])
    assert np.array_equal(members, entries[1][np.repeat(sizes > 1, sizes)].astype(np.int64))
    assert probes.all()
