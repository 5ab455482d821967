"""An index of documents that come one by one: ask, add, replace, remove.

With frozen artefacts, adding a collection document by document gives the decisions of
``dedup(keep="first")`` on it. What ``add`` has answered is durable where the store is.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.documents.columns import Columns
from neardup.errors import IndexStoreError, RejectedError
from neardup.methods.method import Method
from neardup.online import opening
from neardup.online.arrivals import Known, Match, Rule, Writing
from neardup.online.cache import Cache
from neardup.online.entries import Entry, decisions_of, entry_of, moment
from neardup.online.signing import Arrival, Document
from neardup.online.store import Row, Store, no_index, open_store
from neardup.online.windows import milliseconds, span


class Index:
    """Opened with :meth:`open`. Safe to use from several threads; they take turns."""

    def __init__(self, store: Store, rule: Rule, clock: Callable[[], float] = time.time) -> None:
        self._store, self._rule, self._clock = store, rule, clock
        self._lock = threading.RLock()
        self._cache = Cache(store, rule)
        self._checks, self._check_seconds = 0, 0.0

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        create: bool = True,
        clock: Callable[[], float] = time.time,
        **settings: Any,
    ) -> Index:
        """The index at ``url``: the file of an SQLite database, ``postgresql://…`` or ``memory:``.

        A new one is made with ``method``, ``threshold`` and parameters as in :func:`neardup.dedup`;
        ``text``, ``id``, ``date`` (columns); ``window`` ("24h"; None remembers all); ``against``
        ("kept" or "seen"); ``artefacts`` (a Result or the folder of a run); ``run`` (a folder: its
        method, artefacts and kept documents); ``texts`` (whether they are stored). One that is
        there has all that in it; what is given must be the same. With ``create=False`` it has to be
        there. ``memory`` ("500MB") holds while it is open: beyond it the window is shortened.
        """
        written = opening.IndexSettings.of(settings)
        store = open_store(url, create=create)
        try:
            if not create and store.description() is None:
                raise no_index(url)
            return cls._opened(store, written, clock)
        except BaseException:
            store.close()
            raise

    @classmethod
    def _opened(
        cls, store: Store, written: opening.IndexSettings, clock: Callable[[], float]
    ) -> Index:
        description, new = store.description(), False
        if description is None:
            made, artefacts = opening.described(written)
            files = opening.packed(artefacts)
            opening.unpacked(files, made)  # what cannot be read again is refused now
            store.create(made, files)
            description, new = store.description(), True
            assert description is not None
        opening.check_same(written, description, store.url)
        found = opening.unpacked(store.artefacts(), description)
        index = cls(store, opening.rule_of(description, found, written.memory), clock)
        if new and written.run is not None:
            index._take_kept(Path(written.run))
        return index

    @classmethod
    def exists(cls, url: str | Path) -> bool:
        try:
            cls.open(url, create=False).close()
        except IndexStoreError as error:
            if error.message == no_index(url).message:
                return False
            raise
        return True

    @property
    def method(self) -> Method:
        """With the threshold where it cuts."""
        return self._rule.method

    def described(self) -> dict[str, Any]:
        """What the index was made with: only data."""
        with self._lock:
            return self._store.description() or {}

    @property
    def store(self) -> Store:
        return self._store

    @property
    def columns(self) -> Columns:
        """What to read of files for this index."""
        return self._rule.signer.reading

    def _take_kept(self, folder: Path) -> None:
        from neardup.online.taking import kept_of_run

        for chunk in kept_of_run(folder).chunks(self.columns):
            self.add_records(chunk.read().records)

    def check(self, document: Document, *, max_age: str | None = None) -> Match | None:
        """What the document would be a duplicate of; nothing is stored. With ``max_age`` ("6h")
        only documents that are at most so much older count."""
        began = time.perf_counter()
        age = None if max_age is None else span("max_age", max_age)
        arrival = self._rule.signer.sign_one(document)
        with self._lock:
            match = self._checked(arrival, age)
            self._checks += 1
            self._check_seconds += time.perf_counter() - began
        return match

    def check_records(
        self, records: pa.RecordBatch, *, max_age: str | None = None
    ) -> list[Match | None]:
        """Documents as a reader gives them (``schema.documents``); each is asked for itself."""
        age = None if max_age is None else span("max_age", max_age)
        arrivals = self._rule.signer.sign_records(records)
        with self._lock:
            return [self._checked(arrival, age) for arrival in arrivals]

    def _checked(self, arrival: Arrival, age: int | None) -> Match | None:
        memory, newest = self._cache.current(), self._cache.seen.newest
        at = self._rule.time_of(arrival, self._now(), newest)
        signature = memory.as_first(arrival.signature, self._rule.signer)
        found = memory.best(signature, self._rule.since(at, newest, age))
        return self._rule.match(found, signature) if found else None

    def add(self, document: Document) -> Match | None:
        """Checks and stores at once: None where it is kept. One that is a duplicate is stored too,
        with what it is of."""
        arrival = self._rule.signer.sign_one(document)
        with self._writing() as writing:
            writing.refuse_known([arrival])
            return writing.arrive(arrival)

    def add_many(self, documents: Sequence[Document]) -> list[Match | None]:
        """In order, all or none; one answer a document."""
        arrivals = self._rule.signer.sign(documents)
        with self._writing() as writing:
            writing.refuse_known(arrivals)
            return [writing.arrive(arrival) for arrival in arrivals]

    def add_records(self, records: pa.RecordBatch) -> list[Match | Known | None]:
        """Documents as a reader gives them (``schema.documents``). One whose id is there already is
        left out, and said so."""
        arrivals = self._rule.signer.sign_records(records)
        with self._writing() as writing:
            known = writing.known(arrivals)
            return [
                Known.ID if place in known else writing.arrive(arrival)
                for place, arrival in enumerate(arrivals)
            ]

    def take_rows(self, rows: Sequence[Row]) -> None:
        """Documents of another index, from their texts, at their times."""
        signer = self._rule.signer
        named = [{signer.columns.id_name: row.id, signer.columns.text: row.text} for row in rows]
        arrivals = signer.sign(named)
        with self._writing() as writing:
            writing.refuse_known(arrivals)
            for arrival, row in zip(arrivals, rows, strict=True):
                writing.arrive_at(arrival, row.time)

    def update(self, document: Document) -> Match | None:
        """A new version takes the place of the one with its id, or is added where there is none. It
        arrives now; then those that were set aside for the old one arrive again."""
        arrival = self._rule.signer.sign_one(document)
        if arrival.id is None:
            raise RejectedError(
                "A document without an id cannot replace another.",
                hint="give a dict with the id of the one to replace.",
            )
        with self._writing() as writing:
            old = self._store.get([arrival.id]).get(arrival.id)
            orphans = writing.take_out(old) if old else []
            match = writing.arrive(arrival)
            writing.again(orphans)
        return match

    def remove(self, id: str) -> dict[str, Match | None]:
        """Takes a document out. Those that were set aside for it arrive again, in their old order:
        what they are now, by id."""
        with self._writing() as writing:
            row = self._store.get([id]).get(id)
            if row is None:
                raise _unknown(id)
            return writing.again(writing.take_out(row))

    def expire(self, before: Any) -> int:
        """Forgets all documents of an earlier time, as if they had fallen out of the window; how
        many they were. ``before`` is a date, ISO 8601 or seconds since 1970."""
        moment = milliseconds(before)
        if moment is None:
            raise RejectedError(
                f"{before!r} is no time.", hint="give ISO 8601 such as 2026-01-31T12:00."
            )
        with self._writing() as writing:
            return writing.expire(moment)

    def get(self, id: str) -> Entry:
        with self._lock:
            row = self._store.get([id]).get(id)
            if row is None:
                raise _unknown(id)
            return entry_of(row, len(self._store.linked(row.seq)))

    def __contains__(self, id: object) -> bool:
        with self._lock:
            return isinstance(id, str) and bool(self._store.get([id]))

    def __iter__(self) -> Iterator[Entry]:
        """In order of arrival."""
        for row, copies in self._store.rows():
            yield entry_of(row, copies)

    def __len__(self) -> int:
        with self._lock:
            return self._store.totals()["documents"]

    def decisions(self) -> pa.Table:
        """Every document once, in order of arrival, with the columns of a run that apply."""
        return decisions_of(self)

    def stats(self) -> dict[str, Any]:
        """Counts, memory, and whether checking pays: a check costs ``check_seconds``, so it does
        where processing a document costs more than ``pays_from_seconds``."""
        with self._lock:
            memory, totals = self._cache.current(), self._store.totals()
            newest = self._cache.seen.newest
            seconds = self._check_seconds / self._checks if self._checks else None
            share = totals["duplicates"] / totals["documents"] if totals["documents"] else 0.0
            return {
                **totals,
                "matchable": len(memory),
                "evidence_bytes": memory.evidence_bytes,
                "postings_bytes": memory.postings_bytes,
                "newest": None if newest is None else moment(newest),
                "checks": self._checks,
                "check_seconds": seconds,
                "duplicate_share": share,
                "pays_from_seconds": seconds / share if seconds and share else None,
            }

    def close(self) -> None:
        with self._lock:
            self._store.close()
            self._cache.forget()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _now(self) -> int:
        return int(self._clock() * 1000)

    @contextmanager
    def _writing(self) -> Iterator[Writing]:
        with self._lock:
            writing = None
            try:
                with self._store.writing() as writer:
                    memory = self._cache.upto(writer.counters)
                    writing = Writing(
                        self._rule, memory, self._store, writer, writer.counters, self._now()
                    )
                    yield writing
                    writing.finish()
                self._cache.seen = writing.counters
            except BaseException:
                if writing is not None and writing.dirty:
                    self._cache.forget()  # it holds what was not stored
                raise


def _unknown(id: str) -> RejectedError:
    return RejectedError(
        f"The index has no document {id!r}.", hint="is it spelled as it was added?"
    )
