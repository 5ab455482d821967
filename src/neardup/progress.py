"""The progress of long work: an interface for whoever shows it, and the log of finished stages.

The library itself shows nothing; the command line draws bars. Stages with counts and seconds go to
the logger ``neardup`` of the standard module as INFO, and whatever makes a result incomplete as
WARNING.
"""

from __future__ import annotations

import logging
import time
from typing import Protocol

LOG = logging.getLogger("neardup")
LOG.addHandler(logging.NullHandler())  # otherwise Python prints warnings


class Progress(Protocol):
    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        """A new stage begins, and the one before it ends. A total is None if it is not known; if
        both are, the bytes show better how much is left."""
        ...

    def advance(self, amount: int, done_bytes: int = 0) -> None: ...

    def finish(self) -> None: ...


class Silent:
    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        pass

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        pass

    def finish(self) -> None:
        pass


class Logged:
    """Forwards everything, and logs each stage when it ends."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = self._unit = ""
        self._done, self._began = 0, 0.0

    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        self._end()
        self._stage, self._unit = name, unit
        self._done, self._began = 0, time.perf_counter()
        self._progress.stage(name, total, unit, total_bytes)

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._done += amount
        self._progress.advance(amount, done_bytes)

    def finish(self) -> None:
        self._end()
        self._progress.finish()

    def _end(self) -> None:
        if self._stage:
            seconds = time.perf_counter() - self._began
            counted = f"{self._done:,} {self._unit} in " if self._done else ""
            LOG.info("%s: %s%.2f s", self._stage, counted, seconds)
        self._stage = ""
