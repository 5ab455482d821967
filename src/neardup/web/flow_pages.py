"""The flow of an index as a live page: counts by time and source, latest matches, and the rate.

A thread with its own connection follows the store, so documents that a different process adds are
seen, too. If the store cannot be read for a while, the page reports it and the thread tries again.
Times are those of the documents, in bars of one unit; what is older than the window is forgotten,
as the index forgets it. Counts are of arrivals: a document that was removed later did arrive. An
event brings the whole state again whenever something has changed.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import StreamingResponse

from neardup.engines.index.entries import moment
from neardup.engines.index.index import Index
from neardup.engines.index.store import PAGE, Row, Store, open_store
from neardup.engines.index.time_window import UNITS, Window
from neardup.errors import NeardupError
from neardup.report.html_page import arrivals
from neardup.report.html_page import bar as share_bar
from neardup.web.app import Link
from neardup.web.doors import Door
from neardup.web.pages import Data, ProblemError

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
        """The bars from the oldest to the newest, including those without a document."""
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


LOOK_SECONDS = 0.5


class Follower:
    """``index`` is asked where no other connection can see the store: one in memory."""

    def __init__(self, url: str, index: Callable[[], Index] | None = None) -> None:
        self.url, self._index = url, index
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._follow, name="neardup-flow", daemon=True)
        self._state: dict[str, Any] = {"version": 0, "reading": True, "problem": None}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state

    def _follow(self) -> None:
        seen, figures, store = 0, None, None
        while not self._stop.is_set():
            try:
                store = store or self._opened()
                figures = figures or Figures(_window(store))
                seen = self._look(store, figures, seen)
            except (NeardupError, OSError) as error:
                self._say(problem=str(error))
            self._stop.wait(LOOK_SECONDS)
        if store is not None and self._index is None:
            store.close()

    def _opened(self) -> Store:
        return open_store(self.url, create=False) if self._index is None else self._index().store

    def _look(self, store: Store, figures: Figures, seen: int) -> int:
        """What came since ``seen``, page by page; the first look reads all that is there."""
        first = self.state()["reading"]
        before = seen
        while page := self._page(store, seen):
            seen = page[-1].seq
            figures.take(page, None if first else time.monotonic())
            if self._stop.is_set() or len(page) < PAGE:
                break
            self._say(**self._data(store, figures), reading=first)
        state = self.state()
        quiet = figures.rate(time.monotonic()) != state.get("rate")
        if first or seen != before or quiet or state["problem"]:
            self._say(**self._data(store, figures), reading=False, problem=None)
        return seen

    def _page(self, store: Store, seen: int) -> list[Row]:
        if self._index is None:
            return [row for row, _ in store.rows(seen, texts=False)]
        return [row for row, _ in self._index().rows_after(seen)]

    def _data(self, store: Store, figures: Figures) -> dict[str, Any]:
        return {"totals": store.totals(), **figures.data(time.monotonic())}

    def _say(self, **changed: Any) -> None:
        with self._lock:
            version = self._state["version"] + 1
            self._state = {**self._state, **changed, "version": version}


def _window(store: Store) -> Window | None:
    written = (store.description() or {}).get("window")
    return Window.parse(written) if written else None


MOST_LISTENERS = 50
PAUSE = 1.0  # seconds between two events
BEAT = 15.0  # a sign of life, so that who has gone is noticed
WAIT = 0.25  # how soon a listener notices that the server stops


class FlowPart:
    """``index`` where it is open in this process: then its memory can be told."""

    links: Sequence[Link] = (Link("/flow", "Flow"),)

    def __init__(self, url: str, index: Callable[[], Index] | None = None) -> None:
        self._index = index
        in_memory = index if url.startswith(("memory:", ":memory:")) else None
        self._follower = Follower(url, in_memory)
        self._listeners = 0

    def open(self) -> None:
        self._follower.start()

    def close(self) -> None:
        self._follower.stop()

    def doors(self) -> Sequence[Door]:
        return [
            Door("/flow", self.page, template="flow/flow.html"),
            Door("/flow/events", self.events),
        ]

    def page(self) -> Data:
        return self._shown(self._follower.state())

    def _shown(self, state: dict[str, Any]) -> Data:
        """The data of the page, in which no name is missing, even before the first look is over."""
        totals = {"documents": 0, "kept": 0, "duplicates": 0, "bytes": 0}
        empty: dict[str, Any] = {"rate": 0.0, "newest": None, "unit": 0, "bars": [], "sources": []}
        found = {"totals": totals, **empty, "other_sources": 0, "matches": [], **state}
        return {
            "store": _name(self._follower.url),
            **found,
            "memory": self._memory(),
            "chart": arrivals(found["bars"], found["unit"]),
            "sources": [
                {**one, "bar": share_bar(one["duplicates"], one["documents"])}
                for one in found["sources"]
            ],
        }

    def _memory(self) -> dict[str, int | None]:
        """Bytes: of the index in this process, and of the process."""
        index = None
        if self._index is not None:
            stats = self._index().stats()
            index = stats["evidence_bytes"] + stats["postings_bytes"]
        return {"index": index, "process": _resident()}

    def events(self, request: Request) -> StreamingResponse:
        if self._listeners >= MOST_LISTENERS:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{MOST_LISTENERS} listeners are here already.",
                hint="read /flow.json instead, or come later.",
                headers={"Retry-After": "30"},
            )
        return StreamingResponse(self._events(request), media_type="text/event-stream")

    async def _events(self, request: Request) -> AsyncIterator[str]:
        self._listeners += 1
        stopping, loop = request.app.state.stopping, asyncio.get_running_loop()
        version, told = -1, loop.time()
        try:
            yield "retry: 2000\n\n"
            while not (stopping.is_set() or self._follower.stopped):
                state = self._follower.state()
                if state["version"] != version:
                    version, told = state["version"], loop.time()
                    data = await asyncio.to_thread(self._shown, state)
                    yield f"event: state\nid: {version}\ndata: {json.dumps(data)}\n\n"
                    await asyncio.sleep(PAUSE)
                    continue
                if loop.time() - told > BEAT:
                    told = loop.time()
                    yield ": still here\n\n"
                await asyncio.sleep(WAIT)
        finally:
            self._listeners -= 1


def _name(url: str) -> str:
    """The name of a store: its URL without a user name, a password and parameters, or its file
    name."""
    return url.partition("?")[0].rpartition("@")[2] if "://" in url else Path(url).name


def _resident() -> int | None:
    """What the process holds now; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
