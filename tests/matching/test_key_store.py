"""Keys in a spool file give the groups that keys in memory give, in the same order."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neardup.matching import key_store
from neardup.matching.candidates import Groups, distinct, distinct_parts, share_keys
from neardup.matching.key_store import KeyStore
from neardup.schema import Ragged, offsets_of

# Few keys, in all parts of the key space.
KEYS = st.lists(st.integers(0, 15).map(lambda i: i << 60 | i), max_size=6)


@given(
    st.lists(st.tuples(KEYS, st.integers(0, 6), st.booleans()), max_size=12),
    st.booleans(),
    st.sampled_from([1, 4, 1 << 20]),
)
def test_a_file_gives_the_groups_of_memory(
    documents: list[tuple[list[int], int, bool]], grouped: bool, part: int
) -> None:
    lists = [keys for keys, _, _ in documents]
    keys = Ragged(
        np.array([key for some in lists for key in some], np.uint64),
        offsets_of(np.array([len(some) for some in lists], np.int64)),
    )
    probes = np.array([min(looks, len(some)) for some, looks, _ in documents], np.int32)
    order = np.flatnonzero([leads for _, _, leads in documents])[::-1].copy()
    assume(len(order) or not documents)  # the first of equal documents leads them
    codes = order % 2 if grouped else None
    expected = share_keys(keys, probes, codes, order=order)
    with pytest.MonkeyPatch.context() as patch, closing(KeyStore(limit=10**6)) as store:
        patch.setattr(key_store, "PART_KEYS", part)
        patch.setattr(key_store, "BLOCK_KEYS", 3)
        store.append(keys, probes)
        assert store.whole is not None
        store.bound(0)
        parts = [Groups(Ragged(m, ends), looks) for m, looks, ends in store.groups(order, codes)]
        if len(keys.values):
            assert store.whole is None
            assert store.held == 0
        taken, looking = store.take(np.arange(len(documents)))
    assert taken.values.tolist() == keys.values.tolist()
    assert looking.tolist() == probes.tolist()
    for found, wanted in (
        (Groups.concat(parts), expected),
        (distinct_parts(iter(parts)), distinct(expected)),
    ):
        assert found.members.values.tolist() == wanted.members.values.tolist()
        assert found.members.offsets.tolist() == wanted.members.offsets.tolist()
        assert found.probes.tolist() == wanted.probes.tolist()
