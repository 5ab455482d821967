"""The tables that stages exchange, written down once.

Documents flow as record batches with the columns of ``documents()``; decisions, pairs, duplicates
and clusters are the tables of a run. Columns that neardup does not use never enter these tables:
they stay with the reader and come back untouched in the kept output.
"""

from __future__ import annotations

import pyarrow as pa

KEPT, DUPLICATE, REJECTED = "kept", "duplicate", "rejected"

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


def documents(extra: dict[str, pa.DataType] | None = None) -> pa.Schema:
    """``row`` counts lines or table rows from 1 in its file; ``text`` is valid UTF-8."""
    fields = [
        pa.field("row", pa.int64(), nullable=False),
        pa.field("id", pa.large_string(), nullable=False),
        pa.field("text", pa.large_string(), nullable=False),
    ]
    return pa.schema(fields + [pa.field(name, type_) for name, type_ in (extra or {}).items()])


DECISIONS = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("file", pa.dictionary(pa.int32(), pa.large_string())),
        pa.field("row", pa.int64()),
        pa.field("decision", pa.dictionary(pa.int8(), pa.string())),
        pa.field("reason", pa.large_string()),
        pa.field("kept_id", pa.large_string()),
        pa.field("score", pa.float32()),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
        pa.field("cluster", pa.int64()),
        pa.field("ref", pa.bool_()),
    ]
)

PAIRS = pa.schema(
    [
        pa.field("a", pa.large_string()),
        pa.field("b", pa.large_string()),
        pa.field("score", pa.float32()),
        pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
    ]
)

CLUSTERS = pa.schema(
    [
        pa.field("cluster", pa.int64()),
        pa.field("kept_id", pa.large_string()),
        pa.field("size", pa.int64()),
        pa.field("weakest", pa.float32()),
        pa.field("members", pa.large_list(pa.large_string())),
    ]
)
