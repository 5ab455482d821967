"""What an experiment is told, and what it gives: tables of plain values, and figures of them.

The tables are all there is: what is printed, drawn and written as data comes from their rows.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from neardup.documents.streams import whole_file
from neardup.errors import MissingExtraError
from neardup.evaluation import report
from neardup.evaluation.gold import Gold
from neardup.evaluation.plots import save_plot
from neardup.outputs.html import table as html_table

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """``date`` and ``source`` name columns; ``source`` is the site, outlet or domain.

    ``gold`` makes what is known of the pairs of the documents that were read, from a table of them
    with the ``columns`` it asks for, and from numbers that are equal where texts are.
    ``sample`` pairs of each treatment are drawn by ``seed``. Scored pairs are kept in ``folder``
    and found again there.
    """

    text: str = "text"
    id: str | None = None
    date: str | None = None
    source: str | None = None
    gold: Callable[[Any, Any], Gold] | None = None
    columns: tuple[str, ...] = ()
    limit: int | None = None
    workers: int | None = None
    sample: int = 20
    seed: int = 0
    folder: Path | None = None


@dataclass(frozen=True)
class Table:
    """``formats``: the columns in order, each with a format for people; "" for plain text."""

    name: str
    title: str
    formats: Mapping[str, str]
    rows: Sequence[Row]
    note: str = ""

    def cells(self) -> list[list[str]]:
        """As people read them; a value that is missing is a dash."""
        return [
            ["–" if row.get(c) is None else format(row[c], f) for c, f in self.formats.items()]
            for row in self.rows
        ]

    def save(self, path: Path) -> None:
        with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.formats), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.rows)

    def section(self) -> report.Section:
        shown = [[_reported(row.get(c), f) for c, f in self.formats.items()] for row in self.rows]
        table = html_table.Table(list(self.formats), shown)
        return report.Section(self.title, self.note, table)


def _reported(value: Any, form: str) -> html_table.Cell:
    """The report shows numbers its own way, and to the right; others come as written here."""
    if value is None or isinstance(value, int) or form == ".3f":
        return value  # type: ignore[no-any-return]
    return format(value, form)


@dataclass(frozen=True)
class Figure:
    """``draw`` gives an altair chart; it is called only where figures are wanted."""

    name: str
    title: str
    draw: Callable[[], Any]
    note: str = ""


@dataclass(frozen=True)
class Experiment:
    """``measured``: seconds are among the values, so they are not the same in every run."""

    name: str
    paper: str
    documents: int
    settings: Mapping[str, Any]
    all_tables: Sequence[Table]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    measured: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    def tables(self) -> Sequence[Table]:
        return self.all_tables

    def sections(self) -> list[report.Section]:
        """For the report: figures first, then the tables they are drawn from."""
        drawn = [report.Section(one.title, one.note, chart=one.draw) for one in self.figures]
        return [self._about(), *drawn, *(table.section() for table in self.all_tables)]

    def summary(self) -> list[report.Section]:
        """What a terminal shows."""
        return [self._about(), *(table.section() for table in self.all_tables)]

    def _about(self) -> report.Section:
        said = [f"{self.documents:,} documents.", *self.notes]
        return report.Section(self.paper, "\n\n".join(said))

    def save(self, folder: str | Path) -> Path:
        """Each table as CSV, each figure as SVG where figures can be drawn, ``report.html``, and
        when all that is whole ``evaluation.json``."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for table in self.all_tables:
            table.save(place / f"{table.name}.csv")
        with contextlib.suppress(MissingExtraError):  # the report says what is missing
            for figure in self.figures:
                save_plot(
                    figure.draw().properties(background="white"), place / f"{figure.name}.svg"
                )
        report.save_report(self, place, f"{self.name}: {self.paper}")
        return place

    def data(self) -> dict[str, Any]:
        return {
            "experiment": self.name,
            "paper": self.paper,
            "documents": self.documents,
            "measured": self.measured,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "tables": {table.name: list(table.rows) for table in self.all_tables},
            **self.more,
        }
