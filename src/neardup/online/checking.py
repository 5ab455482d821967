"""What an index answers without changing anything: what a document would be a duplicate of."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pyarrow as pa

from neardup.artefacts.artefact import Artefacts
from neardup.documents.columns import Columns
from neardup.methods.method import Method
from neardup.online.arrivals import texts_of
from neardup.online.cache import Cache
from neardup.online.entries import Entries
from neardup.online.rule import Match, Rule, no_texts
from neardup.online.signature import Arrival
from neardup.online.signing import Document
from neardup.online.stats import Checks, stats_of
from neardup.online.store import Store
from neardup.online.windows import span


class Checking(Entries):
    def __init__(self, store: Store, rule: Rule, clock: Callable[[], float] = time.time) -> None:
        super().__init__(store)
        self._rule, self._clock = rule, clock
        self._cache = Cache(store, rule)
        self._checks = Checks()

    @property
    def method(self) -> Method:
        """With the threshold where it cuts."""
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
        found = [self._match(arrival, age) for arrival in arrivals]
        if not kinds:
            return found
        texts = [arrival.text for arrival in arrivals]
        return self._rule.with_kinds(found, texts, partial(texts_of, self._store))

    def _match(self, arrival: Arrival, age: int | None) -> Match | None:
        memory, newest = self._cache.current(), self._cache.seen.newest
        at = self._rule.time_of(arrival, self._now(), newest)
        signature = memory.as_first(arrival.signature, self._rule.signer)
        found = memory.best(signature, self._rule.since(at, newest, age))
        return self._rule.match(found, signature) if found else None

    def stats(self) -> dict[str, Any]:
        """Counts, memory, and whether checking pays: a check costs ``check_seconds``, so it does
        where processing a document costs more than ``pays_from_seconds``."""
        with self._lock:
            memory = self._cache.current()
            return stats_of(self._store.totals(), memory, self._cache.seen, self._checks)

    def _now(self) -> int:
        return int(self._clock() * 1000)
