"""Options and result of an experiment: tables of plain values, and figures drawn from them.

Everything that is printed, drawn or written as data comes from the rows of the tables. Figures are
lines over a parameter, or bars, drawn by ``report/figures.py``.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from neardup.evaluation.sections import Section, save_report
from neardup.files import whole_file
from neardup.labels.gold import Gold
from neardup.labels.sampling import Sample
from neardup.report import figures
from neardup.report import html_page as html_table
from neardup.report.figure_file import save_figure
from neardup.report.figures import UNIT, WIDE, Axis, BarSeries, Series, bar_panel, line_panel

Row = dict[str, Any]
JUDGE = "to_judge.jsonl"


@dataclass(frozen=True)
class Options:
    """``date``, ``source`` and ``title`` name columns; ``source`` is the site, outlet or domain.

    ``gold`` makes gold from a table of the documents, which has the ``columns`` that it needs, and
    from numbers that are equal for equal texts. ``sample`` pairs of each treatment are drawn with
    ``seed``. Scored pairs are kept in ``folder`` and reused from there.
    """

    text: str = "text"
    id: str | None = None
    date: str | None = None
    source: str | None = None
    title: str | None = None
    gold: Callable[[Any, Any], Gold] | None = None
    columns: tuple[str, ...] = ()
    limit: int | None = None
    workers: int | None = None
    sample: int = 20
    seed: int = 0
    folder: Path | None = None


@dataclass(frozen=True)
class Table:
    """``formats`` has the columns in order, each with a format for people; "" for plain text."""

    name: str
    title: str
    formats: Mapping[str, str]
    rows: Sequence[Row]
    note: str = ""

    def save(self, path: Path) -> None:
        with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(self.formats), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(self.rows)

    def section(self) -> Section:
        shown = [[_reported(row.get(c), f) for c, f in self.formats.items()] for row in self.rows]
        table = html_table.Table(list(self.formats), shown)
        return Section(self.title, self.note, table)


def _reported(value: Any, form: str) -> html_table.Cell:
    """The report formats integers and plain decimals itself; other values are formatted here."""
    if value is None or isinstance(value, int) or form == ".3f":
        return value  # type: ignore[no-any-return]
    return format(value, form)


@dataclass(frozen=True)
class Figure:
    """``draw`` is called only if figures are wanted."""

    name: str
    title: str
    draw: Callable[[], figures.Figure]
    note: str = ""


def _markup(figure: Figure) -> html_table.Html:
    return figure.draw().html()


@dataclass(frozen=True)
class Experiment:
    """The result of an experiment; ``measured`` values include times, which vary."""

    name: str
    paper: str
    documents: int
    settings: Mapping[str, Any]
    tables: Sequence[Table]
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    measured: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)
    sample: Sample | None = None  # of pairs that people should judge

    def sections(self) -> list[Section]:
        """Sections of the report: figures first, then the tables they are drawn from."""
        drawn = [
            Section(drawing.title, drawing.note, figure=partial(_markup, drawing))
            for drawing in self.figures
        ]
        return [self._about(), *drawn, *(table.section() for table in self.tables)]

    def summary(self) -> list[Section]:
        """Sections that a terminal shows."""
        return [self._about(), *(table.section() for table in self.tables)]

    def _about(self) -> Section:
        notes = [f"{self.documents:,} documents.", *self.notes]
        return Section(self.paper, "\n\n".join(notes))

    def save(self, folder: str | Path) -> Path:
        """Write tables as CSV, figures as SVG, ``report.html``, and last ``evaluation.json``."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            table.save(place / f"{table.name}.csv")
        if self.sample is not None and not (place / JUDGE).exists():  # it may have been judged
            self.sample.save(place / JUDGE)
        for figure in self.figures:
            save_figure(figure.draw(), place / f"{figure.name}.svg")
        save_report(self, place, f"{self.name}: {self.paper}")
        return place

    def data(self) -> dict[str, Any]:
        return {
            "experiment": self.name,
            "paper": self.paper,
            "documents": self.documents,
            "measured": self.measured,
            "settings": dict(self.settings),
            "notes": list(self.notes),
            "tables": {table.name: list(table.rows) for table in self.tables},
            **self.more,
        }


PANEL = 340  # pixels
MOST_TICKS = 12  # up to this many values of x, each has a tick
Column = tuple[str, str]  # a column of the rows, and the label of its axis


def lines(
    rows: Sequence[Row],
    x: Column,
    y: Column,
    series: str,
    *,
    facet: str | None = None,
    form: str = "g",
    unit: bool = False,
    log: bool = False,
    columns: int = 3,
    title: str = "",
) -> figures.Figure:
    """A line for each value of ``series``, a panel for each value of ``facet``, both in the order
    of the rows. ``unit``: the axis runs from 0 to 1; ``log``: it is logarithmic, without zeros."""
    rows = [row for row in rows if row[y[0]] is not None and (row[y[0]] or not log)]
    names, across = _values(rows, series), sorted({row[x[0]] for row in rows})
    scale = _unit(y[1], form) if unit else _scale(rows, y, form, log)
    ticks = Axis.of(x[1], across, tight=True)
    if len(across) <= MOST_TICKS:
        ticks = replace(ticks, ticks=[(value, f"{value:g}") for value in across])
    panels = []
    for heading, panel_rows in _panels(rows, facet, title):
        drawn = [
            Series(str(name), [(row[x[0]], row[y[0]]) for row in panel_rows if row[series] == name])
            for name in names
        ]
        panels.append(
            line_panel(
                heading or y[1], drawn, ticks, scale, heading=heading, dots=True, width=PANEL
            )
        )
    return figures.Figure(panels, list(map(str, names)), columns)


def bars(
    rows: Sequence[Row],
    x: Column,
    y: Column,
    series: str,
    order: Sequence[str],
    *,
    facet: str | None = None,
    form: str = ",.0f",
    columns: int = 3,
) -> figures.Figure:
    """A group of bars for each value of ``x``, with one bar for each value of ``series``."""
    names, scale = _values(rows, series), _scale(rows, y, form)
    panels = []
    for heading, panel_rows in _panels(rows, facet):
        known = {(row[series], row[x[0]]): row[y[0]] for row in panel_rows}
        drawn = [BarSeries(str(name), [known.get((name, at)) for at in order]) for name in names]
        groups, width = [(str(at),) for at in order], PANEL if facet else WIDE
        panels.append(
            bar_panel(
                heading or y[1], groups, drawn, scale, x_label=x[1], heading=heading, width=width
            )
        )
    return figures.Figure(panels, list(map(str, names)), columns, marks="bar")


def beside(first: figures.Figure, *others: figures.Figure) -> figures.Figure:
    """Figures with axes and keys of their own."""
    return replace(first, more=others)


def _values(rows: Sequence[Row], column: str) -> list[Any]:
    return list(dict.fromkeys(row[column] for row in rows))


def _scale(rows: Sequence[Row], y: Column, form: str, log: bool = False) -> Axis:
    return Axis.of(y[1], [row[y[0]] for row in rows if row[y[0]] is not None], form=form, log=log)


def _unit(label: str, form: str) -> Axis:
    return Axis(label, 0, 1, [(tick, format(tick, form)) for tick, _ in UNIT.ticks])


def _panels(
    rows: Sequence[Row], facet: str | None, title: str = ""
) -> list[tuple[str, Sequence[Row]]]:
    if facet is None:
        return [(title, rows)]
    return [
        (str(value), [row for row in rows if row[facet] == value]) for value in _values(rows, facet)
    ]
