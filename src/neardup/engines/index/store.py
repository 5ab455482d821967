"""The contract of a store, in which an index is kept, and the store that an address names.

A store has a description (method, signature, window …), artefacts, documents and a log of
deletions. Every event has a number, ``seq``, which only increases: a document has that of its
arrival, a log entry that of the deletion. The changes of other processes are therefore the events
with a greater number than the last one seen. Rows are written once and deleted once, but never
changed. Writing is exclusive: between ``writing()`` and its end there is no other writer. All of it
is stored, or nothing, and when ``writing()`` has ended it is durable.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neardup.errors import IndexStoreError, NoIndexError, SettingsError

FORMAT = 5  # increased with any change of the schema, the description or the packed signatures

LOG = 1_000_000  # the log reaches back so many numbers; older entries are deleted
PAGE = 1000  # documents in one answer, so that reading needs little memory and no open cursor

# scheme → "module:class", imported when it is used; the class is called with the address
STORES = {
    "memory": "neardup.engines.index.volatile:VolatileStore",
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
