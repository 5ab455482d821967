"""The contract of a store, in which an index is kept, and the store that an address names.

A store has a description (method, signature, window …), artefacts, documents and a log of
deletions. Every event has a number, ``seq``, which only increases: a document has that of its
arrival, a log entry that of the deletion. The changes of other processes are therefore the events
with a greater number than the last one seen. Rows are written once and deleted once, but never
changed. Writing is exclusive: between ``writing()`` and its end there is no other writer. All of it
is stored, or nothing, and when ``writing()`` has ended it is durable.

A store that lasts as long as the process: an index without durability.
"""

from __future__ import annotations

import importlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neardup.errors import IndexStoreError, NoIndexError, SettingsError

FORMAT = 5  # increased with any change of the schema, the description or the packed signatures

LOG = 1_000_000  # the log reaches back so many numbers; older entries are deleted
PAGE = 1000  # documents in one answer, so that reading needs little memory and no open cursor

# scheme → "module:class", imported when it is used; the class is called with the address
STORES = {
    "memory": "neardup.engines.index.store:VolatileStore",
    "sqlite": "neardup.engines.index.sqlite:SqliteStore",
    "postgresql": "neardup.engines.index.postgresql:PostgresStore",
}


class Row(NamedTuple):
    """A document with its decision. ``time`` is in milliseconds since 1970. ``kept_seq`` is None
    for kept documents; ``kept_id``, ``score``, ``reason`` and ``kind`` describe the match of a
    duplicate, and stay when the match is deleted. ``signature`` is packed (``signing.py``).
    ``within`` is the value of its group, ``by`` a list of methods as JSON, ``source`` the name of
    its source, if it has one."""

    seq: int
    id: str
    time: int
    flags: int
    kept_seq: int | None
    kept_id: str | None
    score: float | None
    reason: str | None
    kind: str | None
    signature: bytes
    text: str | None = None
    within: str | None = None
    by: str | None = None
    source: str | None = None


class Gone(NamedTuple):
    """If ``before`` is None, the document ``removed`` was deleted; otherwise all older documents
    were."""

    seq: int
    removed: int | None
    before: int | None


class Counters(NamedTuple):
    """The last number that was assigned, and the newest time of a document (None if there is
    none)."""

    last: int = 0
    newest: int | None = None


class Writer(Protocol):
    """The operations between the begin and the end of ``writing()``, in the order of their
    numbers."""

    counters: Counters  # those of the store; changes are stored at the end

    def put(self, rows: Sequence[Row]) -> None: ...

    def remove(self, seq: int, rows: Iterable[int]) -> None:
        """Deletes documents, each with an entry of the log, numbered from ``seq``. Entries that are
        more than ``LOG`` numbers older are deleted."""
        ...

    def expire(self, seq: int, before: int) -> int:
        """Deletes all documents of a time before ``before`` and returns their number."""
        ...

    def put_anchors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Writes rows of the passage index (``passage_index.py``), in place of those with the same
        number."""
        ...

    def put_passages(self, description: Mapping[str, Any]) -> None:
        """Writes what the passage index covers; it comes after its rows."""
        ...


class Store(Protocol):
    url: str

    def description(self) -> dict[str, Any] | None:
        """None if nothing has been created yet."""
        ...

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        """Creates the index once. If another process was faster, nothing changes: read the
        description again."""
        ...

    def artefacts(self) -> dict[str, bytes]: ...

    def writing(self) -> AbstractContextManager[Writer]: ...

    def changed(self) -> bool:
        """Whether another process may have written since the last call. It is cheap, because every
        check calls it."""
        ...

    def counters(self) -> Counters: ...

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        """The events after number ``since``, in order; duplicates only if they are wanted. With 0,
        all existing documents; otherwise ``since`` must be within the last ``LOG`` numbers."""
        ...

    def known(self, ids: Sequence[str]) -> set[str]:
        """The ids among these that exist; also allowed while writing."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """The existing documents among these, by id; also allowed while writing."""
        ...

    def linked(self, seq: int) -> list[Row]:
        """The duplicates of a document, in order of arrival."""
        ...

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        """The next ``PAGE`` documents that arrived after number ``since``, without signatures
        (``b""``), on request with texts, and the number of duplicates of each."""
        ...

    def numbered(self, numbers: Sequence[int]) -> list[Row]:
        """The existing documents of these numbers, in their order, without signatures."""
        ...

    def numbers(self) -> list[int]:
        """The numbers of all documents, in order."""
        ...

    def size(self) -> int:
        """The number of documents. It is cheap, because every trace calls it."""
        ...

    def passages(self) -> dict[str, Any] | None:
        """What the passage index covers; None if nothing was written."""
        ...

    def anchors(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        """These rows of the passage index, as far as they exist; also allowed while writing."""
        ...

    def totals(self) -> dict[str, int]:
        """``documents``, ``kept``, ``duplicates``, ``bytes`` on disk."""
        ...

    def structure_faults(self) -> list[str]:
        """What is wrong with the tables themselves, as far as the database can tell."""
        ...

    def close(self) -> None: ...


def check_format(url: str, found: str | None) -> None:
    """Refuses a store of a different format version."""
    if found == str(FORMAT):
        return
    newer = found is not None and found.isdigit() and int(found) > FORMAT
    raise IndexStoreError(
        f"The index {url} has format {found}; this version reads {FORMAT}.",
        hint="it is of a newer version: update neardup."
        if newer
        else "it is of an older version: build the index again.",
    )


def no_index(url: str | Path) -> NoIndexError:
    return NoIndexError(
        f"There is no index {url}.", hint="make one with `neardup index build STORE INPUT…`."
    )


def open_store(url: str | Path, *, create: bool = True) -> Store:
    """``memory:``, ``postgresql://…``, or the file of an SQLite database (also ``sqlite:FILE``)."""
    scheme, found, rest = str(url).partition(":")
    if str(url) == ":memory:":
        scheme = "memory"
    elif not found or len(scheme) == 1:  # C:\\… is a path
        scheme, rest = "sqlite", str(url)
    if scheme == "postgres":
        scheme = "postgresql"
    if scheme not in STORES:
        raise SettingsError(
            f"There is no store for {str(url)!r}.",
            hint="give the file of an SQLite database, postgresql://…, or memory:.",
        )
    module, _, name = STORES[scheme].partition(":")
    address = rest.removeprefix("//") if scheme == "sqlite" else str(url)
    if scheme == "sqlite" and not create and not Path(address).exists():
        raise no_index(address)
    store: Store = getattr(importlib.import_module(module), name)(address)
    return store


class VolatileStore:
    def __init__(self, url: str = "memory:") -> None:
        self.url = url
        self._description: dict[str, Any] | None = None
        self._artefacts: dict[str, bytes] = {}
        self._counters = Counters()
        self._rows: dict[int, Row] = {}
        self._by_id: dict[str, int] = {}
        self._linked: dict[int, list[int]] = {}
        self._passages: dict[str, Any] | None = None
        self._anchors: dict[int, bytes] = {}
        self._order: list[int] | None = None  # numbers, ascending; None after a change

    def description(self) -> dict[str, Any] | None:
        return self._description

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        self._description, self._artefacts = dict(description), dict(artefacts)

    def artefacts(self) -> dict[str, bytes]:
        return self._artefacts

    @contextmanager
    def writing(self) -> Iterator[_Writer]:
        writer = _Writer(self, self._counters)
        try:
            yield writer
        except BaseException:
            writer.undo()
            raise
        self._counters = writer.counters

    def changed(self) -> bool:
        return False

    def counters(self) -> Counters:
        return self._counters

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        for row in [self._rows[number] for number in self._numbers()]:
            if row.seq > since and (duplicates or row.kept_seq is None):
                yield row

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {id_: self._rows[self._by_id[id_]] for id_ in ids if id_ in self._by_id}

    def known(self, ids: Sequence[str]) -> set[str]:
        return self._by_id.keys() & set(ids)

    def linked(self, seq: int) -> list[Row]:
        return [self._rows[one] for one in sorted(self._linked.get(seq, ()))]

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        numbers = self._numbers()
        first = bisect_right(numbers, since)
        light = [self._rows[n]._replace(signature=b"") for n in numbers[first : first + PAGE]]
        light = light if texts else [row._replace(text=None) for row in light]
        return [(row, len(self._linked.get(row.seq, ()))) for row in light]

    def numbered(self, numbers: Sequence[int]) -> list[Row]:
        return [self._rows[n]._replace(signature=b"") for n in sorted(numbers) if n in self._rows]

    def numbers(self) -> list[int]:
        return list(self._numbers())

    def size(self) -> int:
        return len(self._rows)

    def passages(self) -> dict[str, Any] | None:
        return self._passages

    def anchors(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        return [(n, self._anchors[n]) for n in numbers if n in self._anchors]

    def _numbers(self) -> list[int]:
        if self._order is None:
            self._order = sorted(self._rows)
        return self._order

    def totals(self) -> dict[str, int]:
        kept = sum(row.kept_seq is None for row in self._rows.values())
        count = len(self._rows)
        return {"documents": count, "kept": kept, "duplicates": count - kept, "bytes": 0}

    def structure_faults(self) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def _put(self, row: Row) -> None:
        self._order = None
        self._rows[row.seq] = row
        self._by_id[row.id] = row.seq
        if row.kept_seq is not None:
            self._linked.setdefault(row.kept_seq, []).append(row.seq)

    def _remove(self, seq: int) -> Row:
        self._order = None
        row = self._rows.pop(seq)
        del self._by_id[row.id]
        if row.kept_seq is not None:
            self._linked[row.kept_seq].remove(seq)
            if not self._linked[row.kept_seq]:
                del self._linked[row.kept_seq]
        return row


class _Writer:
    """Records how to undo each of its changes, so that a failure leaves no trace."""

    def __init__(self, store: VolatileStore, counters: Counters) -> None:
        self._store = store
        self._undo: list[Callable[[], object]] = []
        self.counters = counters

    def undo(self) -> None:
        for step in reversed(self._undo):
            step()

    def put(self, rows: Sequence[Row]) -> None:
        for row in rows:
            self._store._put(row)
            self._undo.append(partial(self._store._remove, row.seq))

    def remove(self, seq: int, rows: Iterable[int]) -> None:  # noqa: ARG002  # no one reads a log
        for one in rows:
            self._undo.append(partial(self._store._put, self._store._remove(one)))

    def expire(self, seq: int, before: int) -> int:
        old = [row.seq for row in self._store._rows.values() if row.time < before]
        self.remove(seq, old)
        return len(old)

    def put_anchors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._undo.append(partial(setattr, self._store, "_anchors", dict(self._store._anchors)))
        self._store._anchors |= dict(rows)

    def put_passages(self, description: Mapping[str, Any]) -> None:
        self._undo.append(partial(setattr, self._store, "_passages", self._store._passages))
        self._store._passages = dict(description)
