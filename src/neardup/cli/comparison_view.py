"""A comparison or an explanation as the command line gives it: lines, colours, JSON, a page."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.documents.streams import whole_file
from neardup.report import side_by_side_lines
from neardup.report.side_by_side import escaped_json
from neardup.runs.comparison import Comparison
from neardup.runs.explanation import Explanation

if TYPE_CHECKING:
    from rich.console import Console


class Shown:
    """Two texts."""

    def __init__(self, compared: Comparison) -> None:
        self._compared = compared

    def json(self) -> str:
        return _written(self._compared.to_dict())

    def write_page(self, path: Path) -> None:
        _write(path, self._compared.to_html())

    def show(self, most: int | None) -> None:
        show_comparison(self._compared, most)


class ShownWhy:
    """One document of a run."""

    def __init__(self, explained: Explanation) -> None:
        self._explained = explained

    def json(self) -> str:
        return _written(self._explained.to_dict())

    def write_page(self, path: Path) -> None:
        _write(path, self._explained.to_html())

    def show(self, most: int | None) -> None:
        for line in self._explained.head():
            click.echo(line)
        if self._explained.comparison:
            click.echo("\n" + self._explained.between())
            show_comparison(self._explained.comparison, most)


def show_comparison(compared: Comparison, most: int | None) -> None:
    """In a pipe or a file without colours, whatever the width."""
    console = _console()
    if not console.is_terminal:
        click.echo("\n".join(compared.lines(most=most)))
        return
    from rich.text import Text

    for name, said in [*compared.facts(), *compared.measure_facts()]:
        console.print(Text.assemble((f"{name:<12}", "dim"), said), soft_wrap=True)
    console.print()
    names = compared.names
    side_by_side_lines.show(
        console, compared.a, compared.b, compared.alignment, names=names, most=most
    )


def _console() -> Console:
    """Made anew each time, because it binds the stdout of the moment."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, emoji=False, markup=False)


def _written(said: dict[str, Any]) -> str:
    return escaped_json(json.dumps(said, indent=2, ensure_ascii=False))


def _write(path: Path, page: str) -> None:
    with whole_file(path) as part:
        part.write_text(page, "utf-8")
    click.echo(f"Written to {path}.", err=True)
