"""The progress of long work: an interface for whoever shows it, and the log of finished stages.

The command line draws bars. The library shows a bar in a notebook, where nobody sees a log, if work
takes longer than a second; elsewhere it shows nothing. Stages with counts and seconds go to
the logger ``neardup`` of the standard module as INFO, and whatever makes a result incomplete as
WARNING.
"""

from __future__ import annotations

import logging
import sys
import time
from typing import Any, Protocol

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


AFTER, EVERY = 1.0, 0.25  # seconds: when a bar appears, and how often it moves


class Cell:
    """A bar in the cell of a notebook; it goes away when the work is done."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._next = time.monotonic() + AFTER
        self._stage, self._unit = "", ""
        self._total: int | None = None
        self._of_bytes, self._done, self._done_bytes = False, 0, 0

    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        self._stage, self._unit, self._done, self._done_bytes = name, unit, 0, 0
        self._of_bytes, self._total = bool(total_bytes), total_bytes or total
        self._show()

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._done, self._done_bytes = self._done + amount, self._done_bytes + done_bytes
        self._show()

    def finish(self) -> None:
        if self._shown is not None:
            self._write("")

    def _show(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            done = self._done_bytes if self._of_bytes else self._done
            share = f' value="{min(done / self._total, 1):.3f}"' if self._total else ""
            counted = f": {self._done:,} {self._unit}" if self._done else ""
            self._write(f"<progress{share}></progress> {self._stage}{counted}")

    def _write(self, markup: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(markup), display_id=True)
        else:
            self._shown.update(HTML(markup))


def usual() -> Progress:
    """For work whose caller says nothing of progress."""
    notebooks: Any = sys.modules.get("IPython")
    shell = notebooks.get_ipython() if notebooks else None
    return Cell() if getattr(shell, "kernel", None) is not None else Silent()


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
