"""What an index is kept in: the contract of a store, and which store an address names.

A store holds a description (method, signature, window …), artefacts, documents and a log of what
went away. Everything that happens has a number, ``seq``, which only grows: a document has that of
its arrival, what went away that of its going. So what others have written since is whatever has a
greater number than the last one seen. Rows are written once and deleted once, never changed.
Writing is exclusive: between ``writing()`` and its end no other writer is inside, and all of it is
there afterwards, or nothing. When ``writing()`` has ended, what was written is durable.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from neardup.errors import IndexStoreError, NoIndexError, SettingsError

FORMAT = 4  # steps with any change of the schema, the description or the packed signatures

LOG = 1_000_000  # numbers back that it is told what went away; older entries are deleted
PAGE = 1000  # documents of one answer: an index is read in little memory, with no cursor left open

# scheme → "module:class", imported when it is asked for; the class is called with the address
STORES = {
    "memory": "neardup.engines.index.volatile:VolatileStore",
    "sqlite": "neardup.engines.index.sqlite:SqliteStore",
    "postgresql": "neardup.engines.index.postgresql:PostgresStore",
}


class Row(NamedTuple):
    """A document as it was decided. ``time`` is in milliseconds since 1970. ``kept_seq`` is None
    for kept ones; ``kept_id``, ``score``, ``reason`` and ``kind`` say what a duplicate is of, and
    stay when that goes away. ``signature`` is packed (``signing.py``). ``within`` is the value of
    its group; ``by`` a list of methods as JSON; ``source`` says whose it is, where it says so."""

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
    """``before`` is None where the document ``removed`` went; else all that were older went."""

    seq: int
    removed: int | None
    before: int | None


class Counters(NamedTuple):
    """The last number given, and the newest time that was seen (None before any)."""

    last: int = 0
    newest: int | None = None


class Writer(Protocol):
    """What can be done between the begin and the end of ``writing()``, in this order of time."""

    counters: Counters  # as the store has them; what is set is stored at the end

    def put(self, rows: Sequence[Row]) -> None: ...

    def remove(self, seq: int, rows: Iterable[int]) -> None:
        """Takes documents out, one entry of the log each, numbered from ``seq`` on. Entries that
        are ``LOG`` numbers older go."""
        ...

    def expire(self, seq: int, before: int) -> int:
        """Takes out all documents of a time before ``before``; how many they were."""
        ...


class Store(Protocol):
    url: str

    def description(self) -> dict[str, Any] | None:
        """None where nothing has been created yet."""
        ...

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        """Once. Where another process was faster, nothing changes: read the description again."""
        ...

    def artefacts(self) -> dict[str, bytes]: ...

    def writing(self) -> AbstractContextManager[Writer]: ...

    def changed(self) -> bool:
        """Whether another may have written since this was last asked; cheap: checks ask it."""
        ...

    def counters(self) -> Counters: ...

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        """What happened after number ``since``, in order; duplicates only where they are wanted.
        From 0 all documents that are there; else ``since`` may not be ``LOG`` numbers back."""
        ...

    def known(self, ids: Sequence[str]) -> set[str]:
        """Those that are there; also between begin and end of writing."""
        ...

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        """Those that are there, by id, as they are now; also between begin and end of writing."""
        ...

    def linked(self, seq: int) -> list[Row]:
        """The duplicates of a document, in order of arrival."""
        ...

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        """The next ``PAGE`` documents that arrived after number ``since``, their signatures left
        out (``b""``), on request their texts, and how many duplicates are linked to each."""
        ...

    def totals(self) -> dict[str, int]:
        """``documents``, ``kept``, ``duplicates``, ``bytes`` on disk."""
        ...

    def close(self) -> None: ...


def check_format(url: str, found: str | None) -> None:
    """Refuses a store of another format than ours."""
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
    made: Store = getattr(importlib.import_module(module), name)(address)
    return made
