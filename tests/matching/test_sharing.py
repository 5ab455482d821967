"""Pairs that share many features, against a counter of all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.matching.candidates import Groups
from neardup.matching.shared_keys import sharing_pairs
from neardup.schema import Ragged, offsets_of
from reference import matching
from reference import rarity as twin

GROUPS = st.lists(st.sets(st.integers(0, 11), min_size=2), max_size=20)


@given(GROUPS, st.integers(1, 6), st.sets(st.integers(0, 11)), st.integers(1, 4))
def test_pairs_equal_twin(
    groups: list[set[int]], least: int, silent: set[int], workers: int
) -> None:
    """Some documents look with none of their features."""
    members = np.array([d for group in groups for d in sorted(group)], np.int64)
    offsets = offsets_of(np.array([len(group) for group in groups], np.int64))
    looks = np.array([d not in silent for d in members.tolist()], np.uint8)
    given = Groups(Ragged(members, offsets), looks)
    a, b, shared, _ = sharing_pairs(given, 12, least, workers=workers)
    assert np.all(a < b)
    assert np.all(np.diff(b) >= 0)
    made = dict(zip(zip(a.tolist(), b.tolist(), strict=True), shared.tolist(), strict=True))
    assert len(made) == len(a)
    expected = twin.sharing_pairs([sorted(group) for group in groups], least)
    assert made == {pair: n for pair, n in expected.items() if not {*pair} <= silent}


@given(GROUPS, st.integers(0, 12), st.integers(0, 12), st.sets(st.integers(0, 11)))
def test_packed_groups_are_cut_to_a_range(
    groups: list[set[int]], first: int, last: int, silent: set[int]
) -> None:
    lists = [sorted(group) for group in groups]
    members = np.array([d for group in lists for d in group], np.int64)
    offsets = offsets_of(np.array([len(group) for group in lists], np.int64))
    looks = np.array([d not in silent for d in members.tolist()], np.uint8)
    packed = _native.pack_groups(members, looks, offsets)
    assert len(packed) == len(members) + len(groups)
    found, looking, ends = _native.groups_between(packed, first, last)
    parts = [part.tolist() for part in np.split(found, ends[1:-1])] if len(found) else []
    assert parts == matching.groups_between(lists, first, last)
    assert looking.tolist() == [d not in silent for d in found.tolist()]
    limits = 1, 2, first, max(first, last)
    whole = _native.sharing_pairs(members, looks, offsets, 12, *limits)
    cut = _native.sharing_pairs(found, looking, ends, 12, *limits)
    for one, other in zip(whole, cut, strict=True):
        assert one.tolist() == other.tolist()


@given(GROUPS, st.integers(1, 4))
def test_the_pairs_of_each_document_that_share_most_equal_twin(
    groups: list[set[int]], most: int
) -> None:
    met = twin.sharing_pairs([sorted(group) for group in groups], 1)
    pairs = sorted(met, key=lambda pair: (pair[1], pair[0]))
    a, b = (np.array([pair[side] for pair in pairs], np.int64) for side in (0, 1))
    chosen = _native.most_shared(a, b, np.array([met[p] for p in pairs], np.int32), most)
    listed = {pair for pair, first in zip(pairs, chosen.tolist(), strict=True) if first}
    assert listed == twin.most_shared(met, most)


LEAST = st.lists(st.integers(1, 4), min_size=12, max_size=12)


@given(GROUPS, LEAST, st.sets(st.integers(0, 11)))
def test_a_document_meets_later_ones_by_what_it_looks_with(
    groups: list[set[int]], least: list[int], silent: set[int]
) -> None:
    members = np.array([d for group in groups for d in sorted(group)], np.int64)
    offsets = offsets_of(np.array([len(group) for group in groups], np.int64))
    looks = np.array([d not in silent for d in members.tolist()], np.uint8)
    columns = members, looks, offsets, np.array(least, np.int32)
    shared = twin.sharing_pairs([sorted(group) for group in groups], 1)
    expected = {p for p, n in shared.items() if p[0] not in silent and n >= least[p[0]]}
    entries = sum(n for p, n in shared.items() if p[0] not in silent)
    pairs = _native.larger_pairs(*columns, entries, len(expected))
    assert pairs is not None
    assert sorted(zip(*(side.tolist() for side in pairs), strict=True)) == sorted(expected)
    if expected:
        assert _native.larger_pairs(*columns, entries, len(expected) - 1) is None
        assert _native.larger_pairs(*columns, entries - 1, len(expected)) is None


SIGNED = st.tuples(st.sets(st.integers(0, 15)), st.integers(0, 15))


@given(SIGNED, SIGNED)
def test_shared_keys_count_where_one_looks(
    one: tuple[set[int], int], other: tuple[set[int], int]
) -> None:
    keys = [sorted(values) for values, _ in (one, other)]
    probes = [min(count, len(row)) for row, (_, count) in zip(keys, (one, other), strict=True)]
    looking = [{*row[:count]} for row, count in zip(keys, probes, strict=True)]
    counted = _native.shared_keys(
        np.array(keys[0] + keys[1], np.uint64),
        offsets_of(np.array([len(row) for row in keys])),
        np.array(probes, np.int32),
        np.array([0]),
        np.array([1]),
    )
    both = {*keys[0]} & {*keys[1]}
    assert counted.tolist() == [len(both & (looking[0] | looking[1]))]
