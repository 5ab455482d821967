"""What commands show: tables and sections on stdout, progress and the log on stderr.

A table has its natural width in a file or pipe and that of the terminal otherwise. Progress is a
bar on a terminal and a line every few seconds in a log.
"""

from __future__ import annotations

import logging
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from neardup.cli.command import echo
from neardup.progress import LOG, Progress, Silent, Stage, Staged
from neardup.wording import score_text, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

    from neardup.evaluation.sections import Section
    from neardup.report.html_page import Table
    from neardup.runs.result import Result

SHOWN = 20
SHOWN_MEMBERS = 4
PIPE_WIDTH = 240
SECTION_WIDTH = 100


def console() -> Console:
    """Made anew each time, because it binds the stdout of the moment."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in header:
        justify = "right" if name in right else "left"
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console().print(table)


def show_sections(sections: Sequence[Section]) -> None:
    """The sections of an evaluation: title, paragraphs, table."""
    from neardup.report.html_page import paragraphs

    for number, section in enumerate(sections):
        if number:
            echo()
        click.secho(visible(section.title), bold=True)
        for paragraph in paragraphs(section.text):
            echo(_wrapped(paragraph))
        if section.table:
            _show_section_table(section.table)


def _wrapped(paragraph: str) -> str:
    """Commands stay on one line, so that they can be pasted."""
    if paragraph.startswith("$ "):
        return f"\n  {paragraph[2:]}"
    return textwrap.fill(paragraph, SECTION_WIDTH, break_on_hyphens=False, break_long_words=False)


def _show_section_table(table: Table) -> None:
    from neardup.report.html_page import shown

    rows = [[shown(cell) for cell in row] for row in table.rows]
    for number in table.marked:
        rows[number][-1] += "  ←"
    numeric = [
        name
        for i, name in enumerate(table.header)
        if all(isinstance(row[i], int | float | None) for row in table.rows)
    ]
    show_table(table.header, rows, right=numeric)


def show_clusters(result: Result) -> None:
    largest = [("size", "descending"), ("cluster", "ascending")]
    clusters = result.clusters.sort_by(largest)
    rows = [
        (
            f"{cluster['size']:,}",
            score_text(cluster["weakest"]),
            shortened(cluster["kept_id"]),
            others(cluster["kept_id"], cluster["members"]),
        )
        for cluster in clusters.slice(0, SHOWN).to_pylist()
    ]
    if rows:
        show_table(("size", "weakest", "kept", "duplicates"), rows, right=("size", "weakest"))
    if len(clusters) > SHOWN:
        console().print(
            f"… and {len(clusters) - SHOWN:,} more clusters. Hint: -o FOLDER writes all of them."
        )
    if not rows:
        console().print("No near-duplicates found.")


def others(kept: str, members: Sequence[str]) -> str:
    rest = [member for member in members if member != kept]
    shown = ", ".join(map(shortened, rest[:SHOWN_MEMBERS]))
    more = len(rest) - SHOWN_MEMBERS
    return f"{shown}, … {more:,} more" if more > 0 else shown


QUIET_SECONDS = 5.0  # a run shorter than this leaves no line in a log


class _Shown(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        echo(f"{record.levelname.lower()}: {record.getMessage()}", err=True)


def show_log(ctx: click.Context) -> None:
    """The log of the library on stderr, until the command is done."""
    handler, before = _Shown(logging.INFO), LOG.level
    LOG.addHandler(handler)
    LOG.setLevel(logging.INFO)

    def end() -> None:
        LOG.removeHandler(handler)
        LOG.setLevel(before)

    ctx.call_on_close(end)


def progress_for(*, quiet: bool) -> Progress:
    if quiet:
        return Silent()
    return Bars() if sys.stderr.isatty() else Lines()


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
        echo(f"{stage.name}:{share} {stage}", err=True)


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
