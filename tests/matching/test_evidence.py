"""The evidence store gives back what was put in, from memory and from its spool file alike."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import DataError
from neardup.matching import evidence
from neardup.matching.evidence import EvidenceStore
from neardup.schema import Ragged

BATCH = st.lists(st.lists(st.integers(0, 255), max_size=5), max_size=4)


def ragged(lists: list[list[int]], dtype: type, lead: int = 0) -> Ragged:
    """``lead`` values before the first entry and one after the last: a slice."""
    values = [9] * lead + [v for one in lists for v in one] + [9]
    offsets = np.cumsum([lead, *map(len, lists)]).astype(np.int64)
    return Ragged(np.array(values, dtype), offsets)


@given(
    st.lists(st.tuples(BATCH, st.integers(0, 2)), max_size=5),
    st.sampled_from([0, 1, 16, 100, 10**9]),
    st.sampled_from([np.uint8, np.uint64]),
    st.data(),
)
def test_memory_and_spool_give_the_same(
    batches: list[tuple[list[list[int]], int]], limit: int, dtype: type, data: st.DataObject
) -> None:
    everything: list[list[int]] = []
    small = data.draw(st.sampled_from([16, evidence.SMALL]), label="small")
    with pytest.MonkeyPatch.context() as patch, ExitStack() as ends:
        patch.setattr(evidence, "SMALL", small)
        store = ends.enter_context(closing(EvidenceStore(dtype, limit=limit)))
        for lists, lead in batches:
            store.append(ragged(lists, dtype, lead))
            everything += lists
            if data.draw(st.booleans(), label="read in between"):
                _check(store, everything, data)
        _check(store, everything, data)
        size = sum(map(len, everything)) * np.dtype(dtype).itemsize
        assert store.spooled in (0, size)
        assert (store.spooled > 0) == (size > limit)


def _check(store: EvidenceStore, everything: list[list[int]], data: st.DataObject) -> None:
    assert store.lengths.tolist() == [len(one) for one in everything]
    index = st.integers(0, max(len(everything) - 1, 0))
    chosen = sorted(data.draw(st.lists(index, max_size=6))) if everything else []
    taken = store.take(np.array(chosen, np.int64))
    assert [taken[i].tolist() for i in range(len(taken))] == [everything[i] for i in chosen]
    assert taken.values.dtype == store.dtype


def test_the_spool_file_has_no_name(tmp_path: Path) -> None:
    store = EvidenceStore(np.uint64, limit=0, folder=tmp_path)
    store.append(ragged([[1, 2], [3]], np.uint64))
    assert store.spooled == 24
    assert list(tmp_path.iterdir()) == []
    store.close()


def test_a_spool_file_that_lost_its_end_is_an_error_not_a_wrong_answer() -> None:
    store = EvidenceStore(np.uint64, limit=0)
    store.append(ragged([[1, 2], [3]], np.uint64))
    assert store._file is not None
    store._file.truncate(20)
    assert store.take(np.array([0]))[0].tolist() == [1, 2]
    with pytest.raises(DataError, match="Hint:"):
        store.take(np.array([0, 1]))
    store.close()
