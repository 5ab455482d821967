"""The documents of an index in readable form: single entries, a table of decisions, and statistics.

The statistics are the number of documents, their memory, and whether checking pays (DDD §5).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa

from neardup import schema
from neardup.decisions.rule import kept_reason
from neardup.engines.index.index_memory import Memory
from neardup.engines.index.store import Counters, Row, Store
from neardup.errors import RejectedError
from neardup.wording import shortened

COLUMNS = ("id", "decision", "reason", "kept_id", "score", "kind")


class Entry(NamedTuple):
    """A document of the index with its decision."""

    id: str
    time: datetime
    decision: str
    reason: str
    kept_id: str | None = None
    score: float | None = None
    kind: str | None = None
    text: str | None = None
    within: str | None = None
    by: tuple[str, ...] | None = None
    source: str | None = None


class Entries:
    """The contents of a store, one document or all."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.RLock()

    @property
    def lock(self) -> threading.RLock:
        """The lock for reading and writing. A thread that holds it can take it again."""
        return self._lock

    def get(self, id: str) -> Entry:
        with self._lock:
            row = self._store.get([id]).get(id)
            if row is None:
                raise unknown(id)
            return entry_of(row, len(self._store.linked(row.seq)))

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return isinstance(id, str) and bool(self._store.known([id]))

    def __iter__(self) -> Iterator[Entry]:
        """Entries in order of arrival, read in pages; documents that arrive meanwhile may be
        missing."""
        last = 0
        while page := self.rows_after(last):
            yield from (entry_of(row, copies) for row, copies in page)
            last = page[-1][0].seq

    def rows_after(self, last: int) -> list[tuple[Row, int]]:
        """The next page of the store (``Store.rows``)."""
        with self._lock:
            return self._store.rows(last)

    def __len__(self) -> int:
        with self._lock:
            return self._store.size()

    def decisions(self) -> pa.Table:
        """Every document once, in order of arrival, with the applicable columns of a run."""
        with self._lock:
            return decisions_of(self)


def unknown(id: str) -> RejectedError:
    return RejectedError(
        f"The index has no document {shortened(id)!r}.", hint="is it spelled as it was added?"
    )


def entry_of(row: Row, copies: int) -> Entry:
    """The entry of a row; ``copies`` is the number of its duplicates."""
    aside = row.kept_seq is not None
    reason = row.reason if aside and row.reason else kept_reason(row.flags, copies)
    decision = schema.DUPLICATE if aside else schema.KEPT
    said = row.kept_id, row.score, row.kind, row.text, row.within
    by = tuple(json.loads(row.by)) if row.by else None
    return Entry(row.id, moment(row.time), decision, reason, *said, by, row.source)


def moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def decisions_of(entries: Iterable[Entry]) -> pa.Table:
    fields = [schema.DECISIONS.field(name) for name in COLUMNS]
    rows = [entry._asdict() for entry in entries]
    columns = [pa.array([row[f.name] for row in rows], _plain(f.type)) for f in fields]
    return pa.table(columns, COLUMNS).cast(pa.schema(fields))


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


@dataclass
class Checks:
    """The number and the duration of checks since the index was opened."""

    count: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds

    @property
    def seconds(self) -> float | None:
        """The average duration of a check."""
        return self.total / self.count if self.count else None


def stats_of(
    totals: dict[str, int], memory: Memory, counters: Counters, checks: Checks
) -> dict[str, Any]:
    newest, seconds = counters.newest, checks.seconds
    share = totals["duplicates"] / totals["documents"] if totals["documents"] else 0.0
    return {
        **totals,
        "matchable": len(memory),
        "evidence_bytes": memory.evidence_bytes,
        "postings_bytes": memory.postings_bytes,
        "newest": None if newest is None else moment(newest),
        "checks": checks.count,
        "check_seconds": seconds,
        "duplicate_share": share,
        "pays_from_seconds": seconds / share if seconds and share else None,
    }
