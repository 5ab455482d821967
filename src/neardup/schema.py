"""The schemas of the tables that stages exchange, and lists in flat arrays (``Ragged``).

Documents are passed on as record batches with the columns of ``documents()``; decisions, pairs,
actions and clusters are tables of a run. Columns that neardup does not use never enter these
tables: the reader keeps them, and they reappear unchanged in the kept output.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.errors import SettingsError

Array = npt.NDArray[Any]

KEPT, DUPLICATE, REJECTED = DECIDED = "kept", "duplicate", "rejected"

KINDS = (
    "identical",
    "normalised",
    "layout",
    "excerpt",
    "elaboration",
    "insertion",
    "revision",
    "rewrite",
    "other",
)
# Which of two texts is contained in the other; "a" and "b" are the columns that name them.
DIRECTIONS = ("a_in_b", "b_in_a")


def documents(extra: dict[str, pa.DataType] | None = None) -> pa.Schema:
    """``row`` counts lines or table rows from 1 in its file; ``text`` is valid UTF-8."""
    fields = [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
    ]
    return pa.schema(fields + [pa.field(name, type_) for name, type_ in (extra or {}).items()])


FEW_NAMES = pa.dictionary(pa.int8(), pa.string())
# In decisions, ``a`` is the duplicate and ``b`` the kept document.
KIND_FIELDS = (
    pa.field("kind", FEW_NAMES),
    pa.field("direction", FEW_NAMES),
    pa.field("confidence", pa.float64()),
)

# Scores are stored as computed, in 64 bits, so that a new threshold decides like a new run
# (docs/decisions/0008-scores-in-64-bits.md).
DECISIONS = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("file", pa.dictionary(pa.int32(), pa.large_string())),
        pa.field("row", pa.int64()),
        pa.field("source", pa.dictionary(pa.int32(), pa.large_string())),
        pa.field("decision", FEW_NAMES),
        pa.field("reason", pa.large_string()),
        pa.field("kept_id", pa.large_string()),
        pa.field("score", pa.float64()),
        *KIND_FIELDS,
        pa.field("cluster", pa.int64()),
        pa.field("ref", pa.bool_()),
    ]
)

PAIRS = pa.schema(
    [
        pa.field("a", pa.large_string()),
        pa.field("b", pa.large_string()),
        pa.field("score", pa.float64()),
        *KIND_FIELDS,
    ]
)

# The action of a policy for each document; ``fills`` are fields of a kept document that a merge
# fills, with the duplicate that supplies the value.
ACTIONS = pa.schema(
    [
        *(DECISIONS.field(name) for name in ("id", "file", "row", "source", "decision")),
        pa.field("action", FEW_NAMES),
        pa.field("reason", pa.large_string()),
        *(DECISIONS.field(name) for name in ("kept_id", "kind", "score")),
        pa.field("fills", pa.list_(pa.struct([("field", pa.string()), ("from", pa.string())]))),
    ]
)

CLUSTERS = pa.schema(
    [
        pa.field("cluster", pa.int64()),
        pa.field("kept_id", pa.large_string()),
        pa.field("size", pa.int64()),
        pa.field("weakest", pa.float64()),
        pa.field("members", pa.large_list(pa.large_string())),
    ]
)


@dataclass(frozen=True)
class Ragged:
    """A list column as two buffers: entry ``i`` is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Array
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        return np.diff(self.offsets)

    def __getitem__(self, index: int) -> Array:
        return self.values[self.offsets[index] : self.offsets[index + 1]]

    def take(self, chosen: Array) -> Ragged:
        """The chosen entries, in the given order."""
        # Not of ``self.lengths``: a few of many entries would cost as much as all.
        lengths = self.offsets[1:][chosen] - self.offsets[:-1][chosen]
        out = np.empty(int(lengths.sum()), self.values.dtype)
        size = self.values.dtype.itemsize
        starts = self.offsets[:-1][chosen] * size
        _native.gather_memory(
            self.values.view(np.uint8), starts, lengths * size, out.view(np.uint8)
        )
        return Ragged(out, offsets_of(lengths))

    @classmethod
    def of_strings(cls, strings: pa.LargeStringArray) -> Ragged:
        """The UTF-8 bytes of an Arrow string column, without a copy."""
        if len(strings) == 0:
            return cls(np.empty(0, np.uint8), np.zeros(1, np.int64))
        _, offsets, data = strings.buffers()
        starts = np.frombuffer(offsets, np.int64, len(strings) + 1, strings.offset * 8)
        values = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
        return cls(values, starts)

    @classmethod
    def of_texts(cls, texts: list[str]) -> Ragged:
        return cls.of_strings(pa.array(texts, pa.large_string()))

    @classmethod
    def concat(cls, parts: list[Ragged], dtype: npt.DTypeLike) -> Ragged:
        lengths = np.concatenate([np.empty(0, np.int64), *(part.lengths for part in parts)])
        values = [part.values[part.offsets[0] : part.offsets[-1]] for part in parts]
        return cls(np.concatenate([np.empty(0, dtype), *values]), offsets_of(lengths))


MOST_INT32 = np.iinfo(np.int32).max


class Growing:
    """An array that grows at its end. Memory that is not used yet is not touched, so it costs
    nothing; views of ``values`` stay valid, because a larger array is a new one. An array of 32-bit
    numbers has 64 bits from the first number on that needs them."""

    def __init__(self, dtype: npt.DTypeLike, *width: int) -> None:
        self._room: Array = np.empty((0, *width), dtype)
        self._count = 0

    def append(self, values: Array) -> None:
        end = self._count + len(values)
        if self._room.dtype == np.int32 and len(values) and values.max() > MOST_INT32:
            self._room = self._room.astype(np.int64)
        if end > len(self._room):
            larger = np.empty(
                (max(end, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype
            )
            larger[: self._count] = self._room[: self._count]
            self._room = larger
        self._room[self._count : end] = values
        self._count = end

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Array:
        return self._room[: self._count]


def string_column(texts: list[str]) -> pa.LargeStringArray:
    """``pa.array`` grows its buffer for each text; of long texts, that is most of its time."""
    encoded = [text.encode() for text in texts]
    offsets = offsets_of(np.array([len(text) for text in encoded], np.int64))
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def coded_column(
    codes: Array,
    names: Sequence[str],
    type_: pa.DictionaryType = FEW_NAMES,
) -> pa.DictionaryArray:
    """Names by their numbers, as a dictionary column; a negative number is no value."""
    numbers = pa.array(np.maximum(codes, 0), type_.index_type, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(numbers, pa.array(names, type_.value_type))


def is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


BLOCK_ROWS = 1 << 20  # of tables that are made in parts; a row group of Parquet has as many


def blocks_of(rows: int) -> list[slice]:
    """Consecutive rows in blocks, for arrays that would take too much memory as a whole."""
    return [slice(first, min(first + BLOCK_ROWS, rows)) for first in range(0, rows, BLOCK_ROWS)]


def slices_of(sizes: Array, most: int) -> list[slice]:
    """Consecutive rows whose sizes sum to about ``most``, in parts that cover all of them."""
    if not len(sizes):
        return []
    ends = np.flatnonzero(np.diff(np.cumsum(sizes) // most)) + 1
    return [slice(i, j) for i, j in pairwise([0, *ends.tolist(), len(sizes)])]


def offsets_of(lengths: Array) -> npt.NDArray[np.int64]:
    """The offsets of entries with these lengths: 0 and the cumulative sums."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


VARIABLE = "NEARDUP_INSTRUCTIONS"
LEVELS = ("portable", "sse4", "avx2", "avx512")


def use_wanted() -> None:
    """Has the kernels use the level of instructions that the environment names: to compare levels,
    or to do without one. Every level gives the same bits; without a name, the best is used."""
    wanted = os.environ.get(VARIABLE, "")
    if not wanted:
        return
    available = ", ".join(_native.INSTRUCTIONS)
    if wanted not in LEVELS:
        raise SettingsError(
            f"{VARIABLE} must be one of {', '.join(LEVELS)}, not {wanted!r}.",
            hint=f"this machine has {available}; unset the variable to use the best of them.",
        )
    if wanted not in _native.INSTRUCTIONS:
        raise SettingsError(
            f"{VARIABLE} asks for {wanted}, which this machine does not have; it has {available}.",
            hint="name one of these, or unset the variable to use the best of them.",
        )
    _native.use_instructions(wanted)


use_wanted()  # every stage imports this module before it computes
