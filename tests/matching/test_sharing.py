"""Pairs that share many features, against a counter of all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import offsets_of
from reference import rarity as twin

GROUPS = st.lists(st.sets(st.integers(0, 11), min_size=2), max_size=20)


@given(GROUPS, st.integers(1, 6))
def test_pairs_equal_twin(groups: list[set[int]], least: int) -> None:
    members = np.array([d for group in groups for d in sorted(group)], np.int64)
    offsets = offsets_of(np.array([len(group) for group in groups], np.int64))
    a, b, shared = _native.sharing_pairs(members, offsets, 12, least)
    assert np.all(a < b)
    assert np.all(np.diff(b) >= 0)
    made = dict(zip(zip(a.tolist(), b.tolist(), strict=True), shared.tolist(), strict=True))
    assert len(made) == len(a)
    assert made == twin.sharing_pairs([sorted(group) for group in groups], least)
