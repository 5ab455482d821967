"""What commands show: tables and sections on stdout, the log on stderr.

A table has its natural width in a file or pipe and that of the terminal otherwise.
"""

from __future__ import annotations

import logging
import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from neardup.cli.command import echo
from neardup.progress import LOG
from neardup.wording import score_text, shortened, visible

if TYPE_CHECKING:
    from rich.console import Console

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
