"""One thread that writes: it takes what waits, writes it in one transaction, and answers then.

So many small writes wait for the disk together, and none is answered before it is durable. Works
are done in the order in which they came. What is refused does not hinder the others; after any
other error each is tried again alone, so that only the one it comes from fails. Between two
transactions those that wait to read get their turn.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from neardup.errors import IndexStoreError, RejectedError
from neardup.online.events import Events
from neardup.online.index import Index
from neardup.web.limits import busy
from neardup.web.problems import ProblemError
from neardup.web.service.works import Work

LOG = logging.getLogger("neardup.web")
TOGETHER = 32  # documents of one transaction, if no single work has more: readers wait meanwhile
TURN = 0.1  # seconds that readers have between two transactions, at most

Asked = tuple[Work, "asyncio.Future[Any]"]


class Writer:
    """Used from one event loop. ``wrote`` is told how many documents a transaction had."""

    def __init__(
        self, index: Index, *, most: int, wrote: Callable[[int], None] | None = None
    ) -> None:
        self._index, self._most, self._wrote = index, most, wrote
        self._queue: deque[Asked] = deque()
        self._wake = threading.Condition()
        self._turned = threading.Event()
        self._readers: list[asyncio.Future[None]] = []
        self._thread: threading.Thread | None = None
        self.waiting = 0  # documents
        self.stopping = False
        self.active = False  # whether it has the index, or is about to

    def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name="neardup-writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """From now on nothing is accepted; what was is finished."""
        self.stopping = True

    def close(self) -> None:
        """Returns when all that was accepted is written."""
        with self._wake:
            self.stopping = True
            self._wake.notify()
        if self._thread:
            self._thread.join()

    def fits(self, weight: int) -> bool:
        return not self.waiting or self.waiting + weight <= self._most

    async def write(self, work: Work) -> Any:
        """The answer, when it is durable."""
        if not self.fits(work.weight):
            raise busy(f"{self.waiting:,} documents wait to be written already.")
        asked: asyncio.Future[Any] = self._loop.create_future()
        with self._wake:
            if self.stopping:
                raise busy("The server is stopping.", seconds=5)
            self._queue.append((work, asked))
            self.waiting += work.weight
            self._wake.notify()
        return await asyncio.shield(asked)

    async def turn(self) -> None:
        """Until the writer has let go; only where it is ``active``."""
        free: asyncio.Future[None] = self._loop.create_future()
        self._readers.append(free)
        await free

    def _run(self) -> None:
        while batch := self._taken():
            self.active = True
            results = self._written([work for work, _ in batch])
            self.active = False
            self._turned.clear()
            self._loop.call_soon_threadsafe(self._answer, batch, results)
            self._turned.wait(TURN)

    def _taken(self) -> list[Asked]:
        """What waits, up to ``TOGETHER`` documents; nothing when it is over."""
        with self._wake:
            while not self._queue and not self.stopping:
                self._wake.wait()
            batch: list[Asked] = []
            size = 0
            while self._queue and (not batch or size + self._queue[0][0].weight <= TOGETHER):
                batch.append(self._queue.popleft())
                size += batch[-1][0].weight
        return batch

    def _written(self, works: Sequence[Work]) -> list[Any]:
        """Answers and exceptions."""
        ready = [_prepared(work, self._index) for work in works]
        try:
            with self._index.events() as events:
                made = [_done(events, *one) for one in zip(works, ready, strict=True)]
        except IndexStoreError as error:
            return [error] * len(works)
        except Exception as error:
            LOG.warning("a transaction of %d works failed", len(works), exc_info=error)
            if len(works) == 1:
                return [error]
            return [self._written([work])[0] for work in works]
        if self._wrote:
            self._wrote(sum(work.weight for work in works))
        return made

    def _answer(self, batch: Sequence[Asked], results: Sequence[Any]) -> None:
        """In the loop. Whoever waits to read is resumed before the writer goes on."""
        for (work, asked), result in zip(batch, results, strict=True):
            self.waiting -= work.weight
            if asked.cancelled():
                continue
            if isinstance(result, Exception):
                asked.set_exception(result)
            else:
                asked.set_result(result)
        readers, self._readers = self._readers, []
        for free in readers:
            if not free.cancelled():
                free.set_result(None)
        self._loop.call_soon(self._loop.call_soon, self._turned.set)


def _prepared(work: Work, index: Index) -> Any:
    try:
        return work.prepare(index)
    except Exception as error:
        return error


def _done(events: Events, work: Work, ready: Any) -> Any:
    if isinstance(ready, Exception):
        return ready
    try:
        return work.do(events, ready)
    except (ProblemError, RejectedError) as error:
        return error
