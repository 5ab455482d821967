"""Options and result of an experiment: tables of plain values, and charts drawn from them.

Everything that is printed, drawn or written as data comes from the rows of the tables. There are
two charts, lines over a parameter and bars. Their colours are those of Okabe and Ito, which people
with any colour vision can distinguish; lines also differ in dash and mark.
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
from neardup.evaluation import evaluation_report
from neardup.evaluation.evaluation_report import altair_module, save_plot
from neardup.labels.gold import Gold
from neardup.report import html_page as html_table

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """``date`` and ``source`` name columns; ``source`` is the site, outlet or domain.

    ``gold`` makes gold from a table of the documents, which has the ``columns`` that it needs, and
    from numbers that are equal for equal texts. ``sample`` pairs of each treatment are drawn with
    ``seed``. Scored pairs are kept in ``folder`` and reused from there.
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

    def section(self) -> evaluation_report.Section:
        shown = [[_reported(row.get(c), f) for c, f in self.formats.items()] for row in self.rows]
        table = html_table.Table(list(self.formats), shown)
        return evaluation_report.Section(self.title, self.note, table)


def _reported(value: Any, form: str) -> html_table.Cell:
    """The report formats integers and plain decimals itself; other values are formatted here."""
    if value is None or isinstance(value, int) or form == ".3f":
        return value  # type: ignore[no-any-return]
    return format(value, form)


@dataclass(frozen=True)
class Figure:
    """``draw`` returns an altair chart; it is called only if figures are wanted."""

    name: str
    title: str
    draw: Callable[[], Any]
    note: str = ""


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

    def sections(self) -> list[evaluation_report.Section]:
        """Sections of the report: figures first, then the tables they are drawn from."""
        drawn = [
            evaluation_report.Section(figure.title, figure.note, chart=figure.draw)
            for figure in self.figures
        ]
        return [self._about(), *drawn, *(table.section() for table in self.tables)]

    def summary(self) -> list[evaluation_report.Section]:
        """Sections that a terminal shows."""
        return [self._about(), *(table.section() for table in self.tables)]

    def _about(self) -> evaluation_report.Section:
        notes = [f"{self.documents:,} documents.", *self.notes]
        return evaluation_report.Section(self.paper, "\n\n".join(notes))

    def save(self, folder: str | Path) -> Path:
        """Write each table as CSV, each figure as SVG if figures can be drawn, ``report.html``, and
        finally ``evaluation.json``."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for table in self.tables:
            table.save(place / f"{table.name}.csv")
        with contextlib.suppress(MissingExtraError):  # the report names the missing library
            for figure in self.figures:
                save_plot(
                    figure.draw().properties(background="white"), place / f"{figure.name}.svg"
                )
        evaluation_report.save_report(self, place, f"{self.name}: {self.paper}")
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


COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [10, 3], [4, 1], [1, 3])
WIDTH, HEIGHT = 300, 220
MOST_TICKS = 12  # values of x that each get a tick of their own
Axis = tuple[str, str]  # field, title


def lines(
    rows: Sequence[dict[str, Any]],
    x: Axis,
    y: Axis,
    series: str,
    *,
    facet: str | None = None,
    form: str = "",
    unit: bool = False,
    log: bool = False,
    columns: int = 3,
    title: str | None = None,
) -> Any:
    """A line for each value of ``series`` and a panel for each value of ``facet``, in the order of
    rows. ``unit``: the axis runs from 0 to 1; ``log``: it is logarithmic, without zeros."""
    alt = altair_module()
    names = list(dict.fromkeys(row[series] for row in rows))
    rows = [row for row in rows if row[y[0]] or not log]
    scale = alt.Scale(domain=[0, 1]) if unit else alt.Scale(type="log" if log else "linear")
    ticks = sorted({row[x[0]] for row in rows})
    marked = alt.Axis(values=ticks) if len(ticks) <= MOST_TICKS else alt.Axis()
    across = alt.X(f"{x[0]}:Q", title=x[1], scale=alt.Scale(zero=False), axis=marked)
    chart = (
        alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=HEIGHT, **_titled(title))
        .mark_line(point=alt.OverlayMarkDef(size=36), strokeWidth=2)
        .encode(
            x=across,
            y=alt.Y(f"{y[0]}:Q", title=y[1], scale=scale, axis=_axis(form, tickCount=5)),
            color=_colour(series, names, "stroke"),
            strokeDash=alt.StrokeDash(
                f"{series}:N", sort=names, legend=None, scale=_ranged(names, DASHES)
            ),
            detail=f"{series}:N",
        )
    )
    return chart if facet is None else _panels(chart, rows, facet, columns)


def bars(
    rows: Sequence[dict[str, Any]],
    x: Axis,
    y: Axis,
    series: str,
    order: Sequence[str],
    *,
    facet: str | None = None,
    form: str = ",d",
    columns: int = 3,
) -> Any:
    """A group of bars for each value of ``x``, with one bar for each value of ``series``."""
    alt = altair_module()
    names = list(dict.fromkeys(row[series] for row in rows))
    chart = (
        alt.Chart(alt.Data(values=list(rows)), width=WIDTH, height=HEIGHT)
        .mark_bar()
        .encode(
            x=alt.X(f"{x[0]}:N", title=x[1], sort=list(order), axis=alt.Axis(labelAngle=-40)),
            xOffset=alt.XOffset(f"{series}:N", sort=names),
            y=alt.Y(f"{y[0]}:Q", title=y[1], axis=_axis(form)),
            color=_colour(series, names, "square"),
        )
    )
    return chart if facet is None else _panels(chart, rows, facet, columns)


def beside(*charts: Any) -> Any:
    """Charts with axes and legends of their own, two in a row."""
    alt = altair_module()
    return alt.concat(*charts, columns=2, spacing=30).resolve_scale(
        color="independent", strokeDash="independent"
    )


def _titled(title: str | None) -> dict[str, Any]:
    alt = altair_module()
    return {"title": alt.TitleParams(title, anchor="start", fontSize=13)} if title else {}


def _axis(form: str, **more: Any) -> Any:
    alt = altair_module()
    return alt.Axis(format=form, **more) if form else alt.Axis(**more)


def _colour(series: str, names: list[str], symbol: str) -> Any:
    alt = altair_module()
    legend = alt.Legend(title=None, labelLimit=320, symbolType=symbol, symbolStrokeWidth=3)
    return alt.Color(f"{series}:N", sort=names, scale=_ranged(names, COLOURS), legend=legend)


def _ranged(names: list[str], values: Sequence[Any]) -> Any:
    alt = altair_module()
    return alt.Scale(domain=names, range=[values[i % len(values)] for i in range(len(names))])


def _panels(chart: Any, rows: Sequence[dict[str, Any]], facet: str, columns: int) -> Any:
    alt = altair_module()
    order = list(dict.fromkeys(row[facet] for row in rows))
    header = alt.Header(labelFontSize=13, labelFontWeight="bold", labelLimit=WIDTH)
    return chart.facet(
        facet=alt.Facet(f"{facet}:N", title=None, sort=order, header=header), columns=columns
    )
