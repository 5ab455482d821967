"""The tables that stages on Spark exchange, written down once, and how numpy sees their columns.

Spark has no unsigned numbers: digests and keys are the same 64 bits read as signed ones. Keys and
evidence are bytes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.schema import Array, Ragged, offsets_of

# A document as it was taken in. Documents with equal evidence (in one group) are one ``node``. Only
# the first of a node in its task brings keys and evidence.
DOCUMENT = pa.schema(
    [
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("id", pa.string()),
        ("node", pa.int64()),
        ("digest_a", pa.int64()),
        ("digest_b", pa.int64()),
        ("text_digest", pa.int64()),
        ("normal_digest", pa.int64()),
        ("flags", pa.int32()),
        ("within", pa.string()),
        ("rejected", pa.string()),  # why; null for all that are compared
    ]
)
EVIDENCE = pa.schema([("probes", pa.int32()), ("keys", pa.binary()), ("evidence", pa.binary())])
SIZE = pa.field("size", pa.int64())  # of the evidence in bytes, whether it is there or not
# Keys and evidence of a node, for whoever needs them.
BROUGHT = pa.schema([*(DOCUMENT.field(n) for n in ("node", "digest_a", "digest_b")), *EVIDENCE])
# Where it stands: in the input, and in the order of the rule. Those of references are negative.
STANDING = pa.schema([("position", pa.int64()), ("place", pa.int64())])
# What a part says: of a document (``other`` is what it was set aside for), or of a pair.
DECIDED = pa.schema(
    [
        ("tag", pa.int8()),
        ("position", pa.int64()),
        ("id", pa.string()),
        ("other_position", pa.int64()),
        ("other", pa.string()),
        ("score", pa.float64()),
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("decision", pa.int8()),
        ("reason", pa.string()),
        ("kind", pa.int8()),
        ("direction", pa.int8()),
        ("confidence", pa.float64()),
        ("first", pa.int64()),  # the position of the first of its cluster; null where it is alone
        ("place", pa.int64()),
        ("text_digest", pa.int64()),
        ("other_digest", pa.int64()),
        ("packed", pa.binary()),  # what a part adds up
    ]
)


# The golden ratio in 64 bits: a product with it is spread over all of them.
SPREAD = np.uint64(0x9E3779B97F4A7C15)


def are_among(values: Array, wanted: Array) -> Array:
    """Which values are ``wanted``, sorted. ``np.isin`` would sort these again for every batch."""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[at] == values)


def signed(values: Array) -> pa.Array:
    return pa.array(np.ascontiguousarray(values).view(np.int64))


def unsigned(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Missing values are 0."""
    filled = column.fill_null(0) if column.null_count else column
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)).view(np.uint64)


def as_bytes(rows: Ragged, missing: Array | None = None) -> pa.Array:
    """Those marked as ``missing`` are left out."""
    if missing is not None and missing.any():
        rows = rows.take(np.flatnonzero(~missing))
        ends = np.concatenate([[0], np.cumsum(~missing)])
        offsets = rows.offsets[ends]
    else:
        missing, offsets = None, rows.offsets
    values = rows.values[offsets[0] : offsets[-1]]
    sizes = (offsets - offsets[0]) * rows.values.dtype.itemsize
    bitmap = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    large = pa.Array.from_buffers(
        pa.large_binary(), len(offsets) - 1, [bitmap, pa.py_buffer(sizes.astype(np.int64)), data]
    )
    return large.cast(pa.binary())


def as_rows(column: pa.Array, dtype: npt.DTypeLike) -> Ragged:
    """Missing ones are empty."""
    large = column.cast(pa.large_binary())
    kind = np.dtype(dtype)
    if not len(large):
        return Ragged(np.empty(0, kind), np.zeros(1, np.int64))
    _, ends, data = large.buffers()
    offsets = np.frombuffer(ends, np.int64, len(large) + 1, large.offset * 8)
    held = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    values = held[offsets[0] : offsets[-1]]
    if values.ctypes.data % kind.itemsize:
        values = values.copy()
    lengths = np.diff(offsets) // kind.itemsize
    return Ragged(values.view(kind), offsets_of(lengths))


def ddl(schema: pa.Schema) -> str:
    """As Spark writes it."""
    return ", ".join(f"`{field.name}` {_SPARK[field.type]}" for field in schema)


_SPARK = {
    pa.int8(): "tinyint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
}


def spark_type(type_: pa.DataType) -> str:
    return _SPARK[type_]
