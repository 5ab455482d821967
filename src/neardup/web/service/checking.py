"""Checks that do not wait for the writer longer than they must.

A check of a short text takes less than going to a thread and back. It is made in the event loop
where it is sure to be short: the store is on this machine, checks have been quick so far, and no
one else has the index. Where the writer has it, the check waits for its turn without a thread.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from fastapi.concurrency import run_in_threadpool

from neardup.online.index import Index
from neardup.online.rule import Match
from neardup.web.service.writing import Writer

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
