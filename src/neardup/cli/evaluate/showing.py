"""Sections of an evaluation on the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import click

from neardup.cli.listing import show_table
from neardup.evaluation.report import Section
from neardup.outputs.html.page import paragraphs
from neardup.outputs.html.table import Table, shown

WIDTH = 100


def show_sections(sections: Sequence[Section]) -> None:
    for number, section in enumerate(sections):
        if number:
            click.echo()
        click.secho(section.title, bold=True)
        for paragraph in paragraphs(section.text):
            click.echo(_filled(paragraph))
        if section.table:
            _show(section.table)


def _filled(paragraph: str) -> str:
    """Commands stay on one line, to be pasted."""
    if paragraph.startswith("$ "):
        return f"\n  {paragraph[2:]}"
    return textwrap.fill(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False)


def _show(table: Table) -> None:
    rows = [[shown(cell) for cell in row] for row in table.rows]
    for number in table.marked:
        rows[number][-1] += "  ←"
    numeric = [
        name
        for i, name in enumerate(table.header)
        if all(isinstance(row[i], int | float | None) for row in table.rows)
    ]
    show_table(table.header, rows, right=numeric)
