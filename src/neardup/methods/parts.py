"""Evidence of several methods in one row of 32-bit words: the byte size of each, then each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged, offsets_of

WORD = 4


def packed(parts: Sequence[Ragged]) -> Ragged:
    count, many = len(parts[0]), len(parts)
    sizes = np.stack([part.lengths * part.values.dtype.itemsize for part in parts], axis=1)
    head = Ragged(sizes.astype(np.uint32).reshape(-1), np.arange(count + 1, dtype=np.int64) * many)
    rows = Ragged.concat([head, *map(_words, parts)], np.uint32)
    order = np.arange(count)[:, None] + np.arange(many + 1) * count  # a row's head, then its parts
    taken = rows.take(order.reshape(-1))
    return Ragged(taken.values, taken.offsets[:: many + 1].copy())


def unpacked(rows: Ragged, dtypes: Sequence[np.dtype[np.generic]]) -> list[Ragged]:
    many = len(dtypes)
    sizes = rows.values[rows.offsets[:-1, None] + np.arange(many)].astype(np.int64)
    words = -(-sizes // WORD)
    starts = rows.offsets[:-1, None] + many + np.cumsum(words, axis=1) - words
    bytes_ = rows.values.view(np.uint8)
    return [
        _part(bytes_, starts[:, i] * WORD, sizes[:, i], dtype) for i, dtype in enumerate(dtypes)
    ]


def _part(bytes_: Array, starts: Array, sizes: Array, dtype: np.dtype[np.generic]) -> Ragged:
    out: npt.NDArray[np.uint8] = np.empty(int(sizes.sum()), np.uint8)
    _native.gather_memory(bytes_, np.ascontiguousarray(starts), np.ascontiguousarray(sizes), out)
    return Ragged(out.view(dtype), offsets_of(sizes // dtype.itemsize))


def _words(part: Ragged) -> Ragged:
    """The same bytes as 32-bit words, each row filled up with zeros."""
    size = part.values.dtype.itemsize
    if size % WORD == 0:
        values = part.values[part.offsets[0] : part.offsets[-1]]
        return Ragged(values.view(np.uint32), (part.offsets - part.offsets[0]) * (size // WORD))
    sizes = part.lengths * size
    filled = -(-sizes // WORD) * WORD
    out = np.zeros(int(filled.sum()), np.uint8)
    ends = offsets_of(filled)
    bytes_ = part.values.view(np.uint8)
    at = np.arange(int(sizes.sum())) - np.repeat(offsets_of(sizes)[:-1] - ends[:-1], sizes)
    out[at] = bytes_[part.offsets[0] * size : part.offsets[-1] * size]
    return Ragged(out.view(np.uint32), ends // WORD)
