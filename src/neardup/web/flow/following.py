"""Follows the store of an index from a thread of its own, with a connection of its own.

What another process adds is seen as well as what this one does. Where the store cannot be read for
a while, that is told, and tried again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from neardup.errors import NeardupError
from neardup.online.index import Index
from neardup.online.store import PAGE, Row, Store, open_store
from neardup.online.windows import Window
from neardup.web.flow.figures import Figures

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
