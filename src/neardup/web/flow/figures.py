"""What is shown of a flow: counts by time and source, the latest matches, the rate.

Times are those of the documents, in bars of one unit; what is older than the window is forgotten,
as the index forgets it. Counts are of arrivals: a document that was removed later did arrive.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from neardup.online.entries import moment
from neardup.online.store import Row
from neardup.online.windows import UNITS, Window

MOST_BARS = 60
MOST_MATCHES = 50
MOST_SOURCES = 50
RATE_SECONDS = 60
NO_SOURCE = ""
STEPS = (  # what a bar may stand for
    *(count * UNITS["m"] for count in (1, 2, 5, 10, 15, 30)),
    *(count * UNITS["h"] for count in (1, 2, 3, 6, 12)),
    *(count * UNITS["d"] for count in (1, 2, 7, 14, 28)),
)


@dataclass
class Bar:
    documents: Counter[str] = field(default_factory=Counter)  # by source
    duplicates: Counter[str] = field(default_factory=Counter)


class Figures:
    """Filled by one thread; ``data`` is what everyone sees."""

    def __init__(self, window: Window | None) -> None:
        self.window = window
        self.unit = _unit(window)
        self._bars: dict[int, Bar] = {}
        self._matches: deque[dict[str, Any]] = deque(maxlen=MOST_MATCHES)
        self._arrived: deque[tuple[float, int]] = deque()  # when, how many
        self._newest: int | None = None

    def take(self, rows: Iterable[Row], now: float | None) -> None:
        """``now`` is None for what was there before anyone looked: it says nothing of the rate."""
        count = 0
        for row in rows:
            count += 1
            self._count(row)
        if now is not None and count:
            self._arrived.append((now, count))
        self._forget()

    def _count(self, row: Row) -> None:
        bar = self._bars.setdefault(row.time // self.unit, Bar())
        source = row.source or NO_SOURCE
        bar.documents[source] += 1
        self._newest = max(row.time, self._newest or row.time)
        if row.kept_seq is not None:
            bar.duplicates[source] += 1
            self._matches.appendleft(_match(row))

    def _forget(self) -> None:
        """Without a window the bars become wider, so that all of them still fit."""
        if self._newest is None:
            return
        if self.window is not None:
            floor = self.window.floor(self._newest) // self.unit
            for old in [one for one in self._bars if one < floor]:
                del self._bars[old]
        while self.window is None and self._newest // self.unit - min(self._bars) >= MOST_BARS:
            wider = next((step for step in STEPS if step > self.unit), 2 * self.unit)
            self._widen(wider)

    def _widen(self, unit: int) -> None:
        merged: dict[int, Bar] = {}
        for number, bar in self._bars.items():
            into = merged.setdefault(number * self.unit // unit, Bar())
            into.documents += bar.documents
            into.duplicates += bar.duplicates
        self._bars, self.unit = merged, unit

    def rate(self, now: float) -> float:
        """Arrivals a second in the last minute."""
        while self._arrived and self._arrived[0][0] < now - RATE_SECONDS:
            self._arrived.popleft()
        return sum(count for _, count in self._arrived) / RATE_SECONDS

    def data(self, now: float) -> dict[str, Any]:
        return {
            "rate": self.rate(now),
            "newest": None if self._newest is None else moment(self._newest).isoformat(),
            "unit": self.unit,
            "bars": self._bars_data(),
            **self._sources(),
            "matches": list(self._matches),
        }

    def _bars_data(self) -> list[dict[str, Any]]:
        """From the oldest to the newest, those without a document too."""
        if not self._bars:
            return []
        numbers = range(min(self._bars), max(self._bars) + 1)
        found = ((number, self._bars.get(number) or Bar()) for number in numbers[-2 * MOST_BARS :])
        return [
            {
                "time": moment(number * self.unit).isoformat(),
                "documents": bar.documents.total(),
                "duplicates": bar.duplicates.total(),
            }
            for number, bar in found
        ]

    def _sources(self) -> dict[str, Any]:
        """The most frequent ones; the rest is counted."""
        documents: Counter[str] = Counter()
        duplicates: Counter[str] = Counter()
        for bar in self._bars.values():
            documents.update(bar.documents)
            duplicates.update(bar.duplicates)
        listed = [
            {"source": name, "documents": count, "duplicates": duplicates[name]}
            for name, count in documents.most_common(MOST_SOURCES)
        ]
        return {"sources": listed, "other_sources": max(len(documents) - MOST_SOURCES, 0)}


def _unit(window: Window | None) -> int:
    """The narrowest bar by which the whole window can be drawn."""
    if window is None:
        return STEPS[0]
    span = (window.count + 1) * window.unit
    return next((step for step in STEPS if span / step <= MOST_BARS), -(-span // MOST_BARS))


def _match(row: Row) -> dict[str, Any]:
    return {
        "seq": row.seq,
        "id": row.id,
        "of": row.kept_id,
        "score": row.score,
        "kind": row.kind,
        "source": row.source or NO_SOURCE,
        "time": moment(row.time).isoformat(),
    }
