"""The service of an index, as a part of an application.

A check of a short text takes a tenth of a millisecond, less than going to a thread and back. It is
made in the event loop where it is sure to be short: the store is on this machine, checks have been
quick so far, and nothing else uses the index. While the writer uses it, the check waits for its
turn without a thread. Everything that writes goes through one writer (``writer.py``). The metrics
for Prometheus are in a registry of their own.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.index import Index
from neardup.web.app import Link
from neardup.web.doors import Door
from neardup.web.guard import Guard
from neardup.web.limits import Limits
from neardup.web.pages import Data
from neardup.web.service import responses
from neardup.web.service.bodies import Documents, Object
from neardup.web.service.responses import respond
from neardup.web.service.routes import service_doors
from neardup.web.service.tools import Desk
from neardup.web.service.writer import Writer

SHORT = 50_000  # characters
QUICK = 0.001  # seconds; the event loop does nothing else meanwhile
SMOOTH = 0.05  # how much one check counts in the average


class Checker:
    def __init__(self, index: Index, writer: Writer) -> None:
        self._index, self._writer = index, writer
        self._near = not index.store.url.startswith("postgres")
        self._text = index.columns.text
        self._seconds = 0.0  # what a check takes, on average

    async def check(
        self, document: dict[str, Any], *, max_age: str | None = None, kind: bool | None = None
    ) -> Match | None:
        ask = partial(self._index.check, document, max_age=max_age, kind=kind)
        if kind or not self._is_quick(document):
            return await run_in_threadpool(ask)
        lock = self._index.lock
        while not lock.acquire(blocking=False):
            if not self._writer.active:
                return await run_in_threadpool(ask)
            await self._writer.turn()
        try:
            began = time.thread_time()  # a busy machine must not look like a slow check
            return ask()
        finally:
            lock.release()
            self._seconds += SMOOTH * (time.thread_time() - began - self._seconds)

    def _is_quick(self, document: dict[str, Any]) -> bool:
        """Where checks have become slow they go to threads, and one in many is tried again."""
        self._seconds *= 0.999
        return self._near and self._seconds < QUICK and len(document[self._text]) < SHORT


class Service:
    """A part: the index is open when it comes here, and is closed with it."""

    def __init__(self, index: Index, limits: Limits) -> None:
        self.index, self.limits = index, limits
        self.documents = Documents(index.columns, limits)
        self._doors = service_doors(self)
        self.metrics = Metrics([door.path for door in self._doors], self.stats)
        self.writer = Writer(index, most=limits.waiting, wrote=self.metrics.wrote)
        self.checker = Checker(index, self.writer)
        self.ready = False
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/service", "Service")]

    def open(self) -> None:
        self.stopping = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self.desk = Desk(self.limits.seconds)
        self.index.stats()  # reads it into memory before the first question
        self.writer.open()
        self.ready = True

    def stop(self) -> None:
        """Stops the service: what was accepted is finished, nothing new is taken."""
        self.ready = False
        self.writer.stop()
        if self._loop:
            self._loop.call_soon_threadsafe(self.stopping.set)

    def close(self) -> None:
        self.ready = False
        self.writer.close()
        self.index.close()

    def stats(self) -> Object:
        said = self.index.stats()
        newest = said["newest"] and said["newest"].isoformat()
        more = {"method": self.index.method.name, "waiting": self.writer.waiting}
        return {**said, "newest": newest, **more}

    def doors(self) -> Sequence[Door]:
        return [*self._doors, Door("/service", self.page, template="service.html")]

    def page(self) -> Data:
        routes = [
            {"method": door.method, "path": door.path, "summary": door.summary}
            for door in self._doors
        ]
        return {"title": "Service", "stats": self.stats(), "routes": routes}

    def behind(self, guard: Guard) -> Guard:
        """The guard with the limits of this service, its requests counted."""
        return replace(guard, limits=self.limits, watch=self.metrics.request)

    async def checked(
        self, body: bytes, max_age: str | None = None, kind: bool | None = None
    ) -> Response:
        document = self.documents.one(body, named=False)
        match = await self.checker.check(document, max_age=max_age, kind=kind)
        made = responses.answer(document.get(self.documents.columns.id_name), match)
        self.metrics.decided("check", made["decision"])
        return respond(made)

    def told(self, made: list[Object]) -> list[Object]:
        """Answers, counted."""
        for one in made:
            self.metrics.decided("add", one["decision"])
        return made


SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
OTHERS = "other"  # paths of which there may be any number
GAUGES = {
    "documents": "Documents in the index.",
    "kept": "Documents that are kept.",
    "duplicates": "Documents that are duplicates.",
    "matchable": "Documents that new ones are compared with.",
    "bytes": "Bytes of the store on disk.",
    "evidence_bytes": "Bytes of evidence in memory.",
    "postings_bytes": "Bytes of keys in memory.",
    "waiting": "Documents that wait to be written.",
}


class Metrics:
    """``stats`` is asked when they are read. ``paths`` are told apart, all others together."""

    def __init__(self, paths: Iterable[str], stats: Callable[[], dict[str, Any]]) -> None:
        self._registry = CollectorRegistry()
        self._paths = frozenset(paths)
        self._requests = Counter(
            "neardup_requests",
            "Requests by path and status.",
            ["path", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "neardup_request_seconds",
            "Seconds from the head of a request to the end of its answer.",
            ["path"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._decisions = Counter(
            "neardup_decisions",
            "Documents that were checked or added, by what became of them.",
            ["asked", "decision"],
            registry=self._registry,
        )
        self._batches = Histogram(
            "neardup_transaction_documents",
            "Documents of one transaction.",
            buckets=SIZES,
            registry=self._registry,
        )
        # Looking a metric up by its labels costs more than counting does.
        self._of_request = functools.cache(self._looked_up)
        self._of_decision = functools.cache(self._decisions.labels)
        self._registry.register(_Stats(stats))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def request(self, path: str, status: int, seconds: float) -> None:
        path = path if path in self._paths else OTHERS
        requests, times = self._of_request(path, status)
        requests.inc()
        times.observe(seconds)

    def decided(self, asked: str, decision: str) -> None:
        self._of_decision(asked, decision).inc()

    def _looked_up(self, path: str, status: int) -> tuple[Counter, Histogram]:
        return self._requests.labels(path, status), self._seconds.labels(path)

    def wrote(self, documents: int) -> None:
        self._batches.observe(documents)

    def text(self) -> bytes:
        return generate_latest(self._registry)


class _Stats(Collector):
    def __init__(self, stats: Callable[[], dict[str, Any]]) -> None:
        self._stats = stats

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """The names and texts of the gauges, so that registering asks nothing of the index."""
        return (GaugeMetricFamily(f"neardup_{name}", text) for name, text in GAUGES.items())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self._stats()
        for name, text in GAUGES.items():
            yield GaugeMetricFamily(f"neardup_{name}", text, found[name])
