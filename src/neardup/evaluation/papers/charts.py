"""The two charts of the experiments: lines over a parameter, and bars.

Colours are those of Okabe and Ito, which people with any colour vision can tell apart; lines also
differ in dash and mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.evaluation.plots import altair_module

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [10, 3], [4, 1], [1, 3])
WIDTH, HEIGHT = 300, 220
MOST_TICKS = 12  # up to so many values of x, each has its own
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
    """A line a value of ``series``, a panel a value of ``facet``; both in the order they come.
    ``unit``: the axis runs from 0 to 1; ``log``: it is logarithmic, without the zeros."""
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
    """A group of bars a value of ``x``, one bar a value of ``series`` in it."""
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
