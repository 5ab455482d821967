"""The metrics for Prometheus, in a registry of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

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
        """So that registering asks nothing of the index."""
        return (GaugeMetricFamily(f"neardup_{name}", text) for name, text in GAUGES.items())

    def collect(self) -> Iterator[GaugeMetricFamily]:
        found = self._stats()
        for name, text in GAUGES.items():
            yield GaugeMetricFamily(f"neardup_{name}", text, found[name])
