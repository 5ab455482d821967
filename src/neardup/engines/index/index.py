"""An index of documents that come one by one: check, add, replace, remove.

With frozen artefacts, adding a collection document by document gives the decisions of
``dedup(keep="first")`` on it. What ``add`` has answered is durable where the store is. ``check``
answers what a document would be a duplicate of, and changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from neardup.arguments import IndexArguments, documented
from neardup.artefacts.artefact import Artefacts
from neardup.documents.columns import Columns
from neardup.engines.index.arrival_rule import Match, Rule, no_texts
from neardup.engines.index.arrivals import Events, Known, Writing, texts_of
from neardup.engines.index.entries import Checks, Entries, stats_of
from neardup.engines.index.index_memory import Cache
from neardup.engines.index.index_settings import IndexSettings, opened
from neardup.engines.index.signing import Arrival, Document, Signer
from neardup.engines.index.slots import milliseconds, span
from neardup.engines.index.store import Row, Store, no_index, open_store
from neardup.errors import NoIndexError, RejectedError
from neardup.methods.base import Method


class Checking(Entries):
    def __init__(self, store: Store, rule: Rule, clock: Callable[[], float] = time.time) -> None:
        super().__init__(store)
        self._rule, self._clock = rule, clock
        self._cache = Cache(store, rule)
        self._checks = Checks()

    @property
    def method(self) -> Method:
        """With the threshold that the index decides by."""
        return self._rule.method

    @property
    def artefacts(self) -> Artefacts:
        """The frozen ones."""
        return self._rule.signer.artefacts

    @property
    def columns(self) -> Columns:
        """What to read of files for this index."""
        return self._rule.signer.reading

    def check(
        self, document: Document, *, max_age: str | None = None, kind: bool | None = None
    ) -> Match | None:
        """What the document would be a duplicate of; nothing is stored. With ``max_age`` ("6h")
        only documents that are at most so much older count. With ``kind`` texts are aligned to
        tell it, which costs many times what the answer does; None: where ``kinds`` was asked."""
        began = time.perf_counter()
        age = None if max_age is None else span("max_age", max_age)
        arrival = self._rule.signer.sign_one(document)
        kinds = self._rule.check_kinds if kind is None else kind
        if kinds and not self._rule.signer.texts:
            raise no_texts()
        with self._lock:
            (match,) = self._checked([arrival], age, kinds)
            self._checks.add(time.perf_counter() - began)
        return match

    def check_records(
        self, records: pa.RecordBatch, *, max_age: str | None = None
    ) -> list[Match | None]:
        """Documents as a reader gives them (``schema.documents``); each is asked for itself.
        Kinds are told as by ``add``: in a batch they cost little."""
        age = None if max_age is None else span("max_age", max_age)
        arrivals = self._rule.signer.sign_records(records)
        with self._lock:
            return self._checked(arrivals, age, self._rule.kinds)

    def _checked(
        self, arrivals: Sequence[Arrival], age: int | None, kinds: bool
    ) -> list[Match | None]:
        matches = [self._match(arrival, age) for arrival in arrivals]
        if not kinds:
            return matches
        texts = [arrival.text for arrival in arrivals]
        return self._rule.with_kinds(matches, texts, partial(texts_of, self._store))

    def _match(self, arrival: Arrival, age: int | None) -> Match | None:
        memory, newest = self._cache.current(), self._cache.seen.newest
        at = self._rule.time_of(arrival, self._now(), newest)
        signature = memory.as_first(arrival.signature, self._rule.signer)
        best = memory.best(signature, self._rule.since(at, newest, age))
        return self._rule.match(best, signature) if best else None

    def stats(self) -> dict[str, Any]:
        """Counts, memory, and whether checking pays: a check costs ``check_seconds``, so it does
        where processing a document costs more than ``pays_from_seconds``."""
        with self._lock:
            memory = self._cache.current()
            return stats_of(self._store.totals(), memory, self._cache.seen, self._checks)

    def _now(self) -> int:
        return int(self._clock() * 1000)


class Index(Checking):
    """Opened with :meth:`open`. Safe to use from several threads; they take turns."""

    @classmethod
    @documented(IndexSettings)
    def open(
        cls,
        url: str | Path,
        *,
        create: bool = True,
        clock: Callable[[], float] = time.time,
        **settings: Unpack[IndexArguments],
    ) -> Index:
        """Open the index at ``url``: the file of an SQLite database, ``postgresql://…`` or
        ``memory:``. With ``create=False`` it has to exist.

        A new index is created with these settings and with parameters of the method as in
        :func:`neardup.dedup`. An existing one has its settings stored; those that are given have
        to be the same, except ``memory`` and ``kinds``, which hold while it is open. A method that
        needs tables starts with general ones if there are neither ``artefacts`` nor a ``run``; the
        texts are then stored, so that own tables can be counted from them later.
        """
        written = IndexSettings.of(dict(settings))
        store = open_store(url, create=create)
        try:
            if not create and store.description() is None:
                raise no_index(store.url)
            description, rule = opened(store, written)
            index = cls(store, rule, clock)
            if (run := written.run or description["run"]) is not None:
                index._begin(Path(run))
        except BaseException:
            store.close()
            raise
        return index

    @classmethod
    def exists(cls, url: str | Path) -> bool:
        try:
            store = open_store(url, create=False)
        except NoIndexError:
            return False
        try:
            return store.description() is not None
        finally:
            store.close()

    def described(self) -> dict[str, Any]:
        """What the index was made with: only data."""
        with self._lock:
            return self._store.description() or {}

    @property
    def store(self) -> Store:
        return self._store

    def _begin(self, folder: Path) -> None:
        """Takes in the kept documents of a run, all or none: after a kill it begins again."""
        from neardup.engines.index.refresh import kept_of_run

        if self._store.counters().last:
            return
        chunks = kept_of_run(folder, self.columns).chunks(self.columns)
        with self._writing() as writing:
            if not writing.counters.last:  # else another process was faster
                for chunk in chunks:
                    writing.arrive_new(self._rule.signer.sign_records(chunk.read().records))

    def add(self, document: Document) -> Match | None:
        """Checks and stores at once: None where it is kept. One that is a duplicate is stored too,
        with what it is of."""
        arrival = self.sign_one(document)
        with self.events() as events:
            return events.add([arrival])[0]

    def add_many(self, documents: Sequence[Document]) -> list[Match | None]:
        """Adds documents in order, all or none; one answer a document."""
        arrivals = self.sign(documents)
        with self.events() as events:
            return events.add(arrivals)

    def add_records(self, records: pa.RecordBatch) -> list[Match | Known | None]:
        """Documents as a reader gives them (``schema.documents``). One whose id is there already is
        left out, and said so."""
        arrivals = self._rule.signer.sign_records(records)
        with self._writing() as writing:
            return writing.arrive_new(arrivals)

    def take_rows(self, rows: Sequence[Row]) -> None:
        """Documents of another index, from their texts, at their times."""
        signer = self._rule.signer
        arrivals = signer.sign([_document(row, signer) for row in rows])
        with self._writing() as writing:
            writing.refuse_known(arrivals)
            for arrival, row in zip(arrivals, rows, strict=True):
                writing.arrive_at(arrival, row.time)

    def update(self, document: Document) -> Match | None:
        """A new version takes the place of the one with its id, or is added where there is none. It
        arrives now; then those that were set aside for the old one arrive again."""
        arrival = self.sign_one(document)
        with self.events() as events:
            return events.update(arrival)

    def remove(self, id: str) -> dict[str, Match | None]:
        """Takes a document out. Those that were set aside for it arrive again, in their old order:
        what they are now, by id."""
        with self.events() as events:
            return events.remove(id)

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

    def close(self) -> None:
        with self._lock:
            self._store.close()
            self._cache.forget()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def events(self) -> Iterator[Events]:
        """Several events that are durable together, or not at all."""
        with self._writing() as writing:
            yield Events(writing)

    def sign(self, documents: Sequence[Document]) -> list[Arrival]:
        """Documents as events take them: all, or an error that names the first that cannot be."""
        return self._rule.signer.sign(documents)

    def sign_one(self, document: Document) -> Arrival:
        return self._rule.signer.sign_one(document)

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


def _document(row: Row, signer: Signer) -> Document:
    made = {signer.source: row.source, signer.columns.id_name: row.id}
    made[signer.columns.text] = row.text
    return made if signer.within is None else {**made, signer.within: row.within}
