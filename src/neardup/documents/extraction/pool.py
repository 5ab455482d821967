"""Processes that extract pages, shared by all readers of this process.

Extraction is Python and C code that holds the lock, so threads would not run in parallel. A broken
PDF may also crash its process, and a hostile page may keep it busy for hours. Such a process is
replaced, and the page has no answer; the other pages are not affected. Answers are in the order of
the pages.
"""

from __future__ import annotations

import atexit
import functools
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from neardup.documents.extraction.page import Extracted, Page

SECONDS = 60.0  # a page takes a hundredth of one
_CODE = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
_MODULE = "neardup.documents.extraction.worker"


class Worker:
    """One process that extracts one page at a time."""

    def __init__(self) -> None:
        code = _CODE.format(path=sys.path, module=_MODULE)
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def answer(self, page: Page, how: str, seconds: float) -> Extracted | None:
        """None if the process crashed, or was killed because it took too long."""
        timer = threading.Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            pickle.dump((page, how), self._pipe_in, pickle.HIGHEST_PROTOCOL)
            self._pipe_in.flush()
            extracted: Extracted = pickle.load(self._pipe_out)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.close()
            return None
        finally:
            timer.cancel()
        return extracted

    @property
    def _pipe_in(self) -> Any:
        return self._process.stdin

    @property
    def _pipe_out(self) -> Any:
        return self._process.stdout

    @property
    def open(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._pipe_in, self._pipe_out):
            with suppress(OSError):  # what was not written is not wanted any more
                pipe.close()


class Pool:
    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="neardup-extract")
        self._idle: queue.LifoQueue[Worker] = queue.LifoQueue()
        atexit.register(self.close)

    def answers(
        self, pages: Sequence[Page], how: str, seconds: float = SECONDS
    ) -> list[Extracted | None]:
        return list(self._threads.map(lambda page: self._answer(page, how, seconds), pages))

    def _answer(self, page: Page, how: str, seconds: float) -> Extracted | None:
        worker = self._take()
        extracted = worker.answer(page, how, seconds)
        if worker.open:
            self._idle.put(worker)
        return extracted

    def _take(self) -> Worker:
        while True:
            try:
                worker = self._idle.get_nowait()
            except queue.Empty:
                return Worker()
            if worker.open:
                return worker
            worker.close()

    def close(self) -> None:
        while not self._idle.empty():
            self._idle.get_nowait().close()


@functools.cache
def shared_pool(workers: int) -> Pool:
    """Processes are kept for the next run, because starting one takes as long as fifty pages."""
    return Pool(workers)
