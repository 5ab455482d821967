"""Progress on stderr: bars on a terminal, a plain line now and then in a log."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from neardup.progress import Progress, Silent

if TYPE_CHECKING:
    import rich.progress

QUIET_SECONDS = 5.0  # a run shorter than this leaves no line in a log


def progress_for(*, quiet: bool) -> Progress:
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()


class Lines:
    """For logs: one line every few seconds, none for a short run."""

    def __init__(self) -> None:
        self._name, self._unit, self._total, self._done = "", "", 0, 0
        self._began = self._said = time.monotonic()

    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> None:
        self._name, self._unit, self._total, self._done = name, unit, total or 0, 0
        self._began = time.monotonic()

    def advance(self, amount: int, done_bytes: int = 0) -> None:  # noqa: ARG002
        self._done += amount
        now = time.monotonic()
        if now - self._said < QUIET_SECONDS:
            return
        self._said = now
        of = f" of {self._total:,}" if self._total else ""
        rate = self._done / max(now - self._began, 1e-9)
        click.echo(f"{self._name}: {self._done:,}{of} {self._unit}, {rate:,.0f}/s", err=True)

    def finish(self) -> None:
        pass


class Bars:
    """One bar a stage; it goes away when the run is done, the summary stays."""

    def __init__(self) -> None:
        from rich import progress
        from rich.console import Console

        self._bars = progress.Progress(
            progress.TextColumn("{task.description:<9}"),
            progress.BarColumn(),
            progress.TextColumn("{task.fields[said]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: rich.progress.TaskID | None = None
        self._unit, self._done, self._began = "", 0, 0.0

    def stage(self, name: str, total: int | None = None, unit: str = "documents") -> None:
        self._bars.start()
        self._end_stage()
        self._unit, self._done, self._began = unit, 0, time.monotonic()
        self._task = self._bars.add_task(name, total=total, said="")

    def advance(self, amount: int, done_bytes: int = 0) -> None:  # noqa: ARG002
        self._done += amount
        rate = self._done / max(time.monotonic() - self._began, 1e-9)
        said = f"{self._done:,} {self._unit}, {rate:,.0f}/s"
        self._update(advance=amount, said=said)

    def _end_stage(self) -> None:
        if self._task is not None:
            self._update(total=max(self._done, 1), completed=max(self._done, 1))

    def _update(self, **changes: Any) -> None:
        if self._task is not None:
            self._bars.update(self._task, **changes)

    def finish(self) -> None:
        self._bars.stop()
