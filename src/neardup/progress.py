"""The progress of long work: an interface for whoever shows it, and the log of finished stages.

A command draws bars on a terminal, and writes a line every few seconds into a log. The library
shows a bar in a notebook, where nobody sees a log, if work takes longer than a second; elsewhere it
shows nothing. Stages with counts and seconds go to the logger ``neardup`` of the standard module as
INFO, and whatever makes a result incomplete as WARNING.
"""

from __future__ import annotations

import logging
import sys
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from neardup.classes import dataclass

if TYPE_CHECKING:
    from rich.progress import TaskID

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


@dataclass
class Stage:
    """How far one stage is, in its unit and in bytes."""

    name: str = ""
    total: int | None = None
    unit: str = "documents"
    total_bytes: int | None = None
    done: int = 0
    done_bytes: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def share(self) -> float | None:
        """The share that is done, between 0 and 1; None when no total is known."""
        if self.total_bytes:
            return min(self.done_bytes / self.total_bytes, 1.0)
        return min(self.done / self.total, 1.0) if self.total else None

    def __str__(self) -> str:
        seconds = max(time.monotonic() - self.began, 1e-9)
        said = f"{self.done:,} {self.unit}, {self.done / seconds:,.0f}/s"
        return f"{said}, {self.done_bytes / seconds / 1e6:,.1f} MB/s" if self.done_bytes else said


class Silent:
    """Shows nothing."""

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


class Staged(Silent):
    """What shows something inherits from this, and defines ``begin``."""

    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        self.begin(Stage(name, total, unit, total_bytes))

    def begin(self, stage: Stage) -> None:
        raise NotImplementedError


AFTER, EVERY = 1.0, 0.25  # seconds: when a bar appears, and how often it moves


class Cell(Staged):
    """A bar in the cell of a notebook; it goes away when the work is done."""

    def __init__(self) -> None:
        self._shown: Any = None
        self._next = time.monotonic() + AFTER
        self._stage = Stage()

    def begin(self, stage: Stage) -> None:
        self._stage = stage
        self._show()

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._stage.done += amount
        self._stage.done_bytes += done_bytes
        self._show()

    def finish(self) -> None:
        if self._shown is not None:
            self._write("")

    def _show(self) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            stage = self._stage
            share = "" if stage.share is None else f' value="{stage.share:.3f}"'
            counted = f": {stage.done:,} {stage.unit}" if stage.done else ""
            self._write(f"<progress{share}></progress> {stage.name}{counted}")

    def _write(self, markup: str) -> None:
        from IPython.display import HTML, display

        if self._shown is None:
            self._shown = display(HTML(markup), display_id=True)
        else:
            self._shown.update(HTML(markup))


def usual() -> Progress:
    """The progress of work whose caller does not choose one: shown in a notebook, silent
    elsewhere."""
    notebooks: Any = sys.modules.get("IPython")
    shell = notebooks.get_ipython() if notebooks else None
    return Cell() if getattr(shell, "kernel", None) is not None else Silent()


QUIET_SECONDS = 5.0  # a run shorter than this leaves no line in a log


class Lines(Staged):
    """Progress for logs: one line every few seconds, none for a short run."""

    def __init__(self) -> None:
        self._stage = Stage()
        self._said = time.monotonic()

    def begin(self, stage: Stage) -> None:
        self._stage = stage

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        stage = self._stage
        stage.done += amount
        stage.done_bytes += done_bytes
        now = time.monotonic()
        if now - self._said < QUIET_SECONDS:
            return
        self._said = now
        share = "" if stage.share is None else f" {stage.share:.0%},"
        print(f"{stage.name}:{share} {stage}", file=sys.stderr, flush=True)


class Bars(Staged):
    """One bar a stage; they go away when the run is done, the summary stays."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bars = progress.Progress(
            progress.TextColumn("{task.description:<9}"),
            progress.BarColumn(),
            progress.TaskProgressColumn(),
            progress.TextColumn("{task.fields[said]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._stage = Stage()
        self._task: TaskID | None = None

    def begin(self, stage: Stage) -> None:
        self._bars.start()
        if self._task is not None:
            self._bars.update(self._task, total=1.0, completed=1.0)
        self._stage = stage
        known = 1.0 if stage.share is not None else None
        self._task = self._bars.add_task(stage.name, total=known, said="")

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._stage.done += amount
        self._stage.done_bytes += done_bytes
        if self._task is not None:
            share = self._stage.share
            self._bars.update(self._task, completed=share or 0, said=str(self._stage))

    def finish(self) -> None:
        self._bars.stop()


def of_command(*, quiet: bool) -> Progress:
    """The progress of a command: bars on a terminal, lines in a log."""
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()


class Logged(Staged):
    """Forwards everything, and logs each stage when it ends."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage: Stage | None = None

    def begin(self, stage: Stage | None) -> None:
        if last := self._stage:
            counted = f"{last.done:,} {last.unit} in " if last.done else ""
            LOG.info("%s: %s%.2f s", last.name, counted, time.monotonic() - last.began)
        self._stage = stage
        if stage:
            self._progress.stage(stage.name, stage.total, stage.unit, stage.total_bytes)

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        if self._stage:
            self._stage.done += amount
        self._progress.advance(amount, done_bytes)

    def finish(self) -> None:
        self.begin(None)
        self._progress.finish()


def logged(progress: Progress) -> Progress:
    """The same progress, which also logs each stage if anybody reads the log."""
    return Logged(progress) if LOG.isEnabledFor(logging.INFO) else progress
