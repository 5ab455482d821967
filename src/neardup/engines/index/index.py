"""An index of documents that come one by one: check, add, replace, remove.

With frozen artefacts, adding a collection document by document results in the decisions of
``dedup(keep="first")``. An addition is durable when ``add`` returns, if the store is durable.
``check`` reports the document of which a new one would be a duplicate, and changes nothing.
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
from neardup.engines.index.passage_index import PassageIndex
from neardup.engines.index.signing import Arrival, Document, Signer
from neardup.engines.index.store import Row, Store, no_index, open_store
from neardup.engines.index.time_window import milliseconds, span
from neardup.errors import NoIndexError, RejectedError
from neardup.methods.base import Method
from neardup.passages.provenance import Source
from neardup.schema import Array


class Checking(Entries):
    def __init__(self, store: Store, rule: Rule, clock: Callable[[], float] = time.time) -> None:
        super().__init__(store)
        self._rule, self._clock = rule, clock
        self._cache = Cache(store, rule)
        self._checks = Checks()
        self._passages = PassageIndex(store)

    def sharing(self, anchors: Array) -> list[Source]:
        """The documents that may share a passage with a text (``neardup.trace``)."""
        with self._lock:
            return list(self._passages.sharing(anchors))

    @property
    def method(self) -> Method:
        """The method, with the threshold that the index uses."""
        return self._rule.method

    @property
    def artefacts(self) -> Artefacts:
        """The frozen artefacts."""
        return self._rule.signer.artefacts

    @property
    def columns(self) -> Columns:
        """The columns to read from files for this index."""
        return self._rule.signer.reading

    def check(
        self, document: Document, *, max_age: str | None = None, kind: bool | None = None
    ) -> Match | None:
        """The document of which this one would be a duplicate; nothing is stored. With ``max_age``
        ("6h"), only documents that are at most so much older count. With ``kind``, texts are
        aligned to find the kind of a match, which costs many times the check itself; None uses the
        setting ``kinds``."""
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
        """Checks documents from a reader (``schema.documents``), each for itself. Kinds are found
        as by ``add``, because they cost little in a batch."""
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
        """Counts, memory, and whether checking pays: a check costs ``check_seconds``, so it pays if
        processing a document costs more than ``pays_from_seconds``."""
        with self._lock:
            memory = self._cache.current()
            return stats_of(self._store.totals(), memory, self._cache.seen, self._checks)

    def _now(self) -> int:
        return int(self._clock() * 1000)


class Index(Checking):
    """An index is opened with ``open``. It can be used from several threads, which take
    turns."""

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
        ``neardup.dedup``. An existing one has its settings stored; those that are given have
        to be the same, except ``memory``, ``clipping`` and ``kinds``, which hold while it is open.
        A method that needs tables starts with general ones if there are neither ``artefacts`` nor a
        ``run``; the texts are then stored, so that own tables can be counted from them later.
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
        """The settings of the index, as data."""
        with self._lock:
            return self._store.description() or {}

    @property
    def store(self) -> Store:
        return self._store

    def _begin(self, folder: Path) -> None:
        """Adds the kept documents of a run, all or none; after a kill it starts from the
        beginning."""
        from neardup.engines.index.refresh import kept_of_run

        if self._store.counters().last:
            return
        chunks = kept_of_run(folder, self.columns).chunks(self.columns)
        with self._writing() as writing:
            if not writing.counters.last:  # else another process was faster
                for chunk in chunks:
                    writing.arrive_new(self._rule.signer.sign_records(chunk.read().records))

    def add(self, document: Document) -> Match | None:
        """Checks a document and stores it in one step. None if it is kept; a duplicate is stored
        too, with its match."""
        arrival = self.sign_one(document)
        with self.events() as events:
            return events.add([arrival])[0]

    def add_many(self, documents: Sequence[Document]) -> list[Match | None]:
        """Adds documents in order, all or none; returns one answer for each."""
        arrivals = self.sign(documents)
        with self.events() as events:
            return events.add(arrivals)

    def add_records(self, records: pa.RecordBatch) -> list[Match | Known | None]:
        """Adds documents from a reader (``schema.documents``). A document whose id exists already
        is left out and reported."""
        arrivals = self._rule.signer.sign_records(records)
        with self._writing() as writing:
            return writing.arrive_new(arrivals)

    def take_rows(self, rows: Sequence[Row]) -> None:
        """Adds documents of a different index from their texts, with their times."""
        signer = self._rule.signer
        arrivals = signer.sign([_document(row, signer) for row in rows])
        with self._writing() as writing:
            writing.refuse_known(arrivals)
            for arrival, row in zip(arrivals, rows, strict=True):
                writing.arrive_at(arrival, row.time)

    def keep_passages(self) -> None:
        """Writes the passage index, if the index has one and enough documents are new in it."""
        with self._lock:
            if (self._store.description() or {}).get("passages"):
                with self._store.writing() as writer:
                    self._passages.write(writer, writer.counters.last)

    def update(self, document: Document) -> Match | None:
        """Replaces the document with the same id, or adds a new one. The new version arrives now;
        then the duplicates of the old one arrive again."""
        arrival = self.sign_one(document)
        with self.events() as events:
            return events.update(arrival)

    def remove(self, id: str) -> dict[str, Match | None]:
        """Removes a document. Its duplicates arrive again in their old order; returns their new
        decisions by id."""
        with self.events() as events:
            return events.remove(id)

    def expire(self, before: Any) -> int:
        """Forgets all documents before a time, as if they had fallen out of the window, and returns
        their number. ``before`` is a date, ISO 8601 or seconds since 1970."""
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
        """Signs documents for events: all, or an error that names the first one that cannot be
        used."""
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
                    self._cache.forget()  # it contains documents that were not stored
                raise


def _document(row: Row, signer: Signer) -> Document:
    document = {signer.source: row.source, signer.columns.id_name: row.id}
    document[signer.columns.text] = row.text
    return document if signer.within is None else {**document, signer.within: row.within}
