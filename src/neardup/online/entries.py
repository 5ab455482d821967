"""What an index says of its documents: one entry each, or all as a table of decisions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import pyarrow as pa

from neardup import schema
from neardup.online.arrivals import kept_reason
from neardup.online.store import Row

COLUMNS = ("id", "decision", "reason", "kept_id", "score", "kind")


class Entry(NamedTuple):
    """A document of the index, as it was decided."""

    id: str
    time: datetime
    decision: str
    reason: str
    kept_id: str | None = None
    score: float | None = None
    kind: str | None = None
    text: str | None = None


def entry_of(row: Row, copies: int) -> Entry:
    """``copies`` is how many were set aside for it."""
    aside = row.kept_seq is not None
    reason = row.reason if aside and row.reason else kept_reason(row.flags, copies)
    decision = schema.DUPLICATE if aside else schema.KEPT
    time = moment(row.time)
    return Entry(row.id, time, decision, reason, row.kept_id, row.score, row.kind, row.text)


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def decisions_of(entries: Iterable[Entry]) -> pa.Table:
    fields = [schema.DECISIONS.field(name) for name in COLUMNS]
    rows = [entry._asdict() for entry in entries]
    columns = [pa.array([row[f.name] for row in rows], _plain(f.type)) for f in fields]
    return pa.table(columns, COLUMNS).cast(pa.schema(fields))


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_
