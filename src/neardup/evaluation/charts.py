"""The figures of an evaluation, as altair charts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.evaluation.evaluation_report import altair_module
from neardup.evaluation.measurement import Measured
from neardup.evaluation.metrics import Band

MEASURES = ("precision", "recall", "F1")
COLOURS = ("#c8553d", "#3a6ea5", "#2f6f4f")
SOFT = "#9aa5b1"
PANEL = (270, 200)
FONT = "Helvetica, Arial, sans-serif"


def measures(measured: Sequence[Measured]) -> Any:
    """Precision, recall and F1 over the threshold, with their intervals, a panel a setting; those
    that have one threshold only are in the table."""
    alt = altair_module()
    measured = [one for one in measured if len(one.at) > 1]
    x = alt.X(
        "threshold:Q",
        title="threshold",
        scale=alt.Scale(zero=False, nice=False),
        axis=alt.Axis(tickCount=5, labelOverlap="greedy"),
    )
    colour = alt.Color(
        "measure:N",
        title=None,
        sort=MEASURES,
        scale=alt.Scale(domain=MEASURES, range=COLOURS),
        legend=alt.Legend(orient="top", symbolOpacity=1, symbolType="stroke", symbolStrokeWidth=3),
    )
    unit = alt.Scale(domain=[0, 1])
    base = alt.Chart(alt.Data(values=_measure_rows(measured)))
    area = base.mark_area(opacity=0.15).encode(
        x=x, y=alt.Y("low:Q", title=None, scale=unit), y2="high:Q", color=colour
    )
    line = base.mark_line(point=alt.OverlayMarkDef(size=20)).encode(
        x=x, y=alt.Y("value:Q", title=None, scale=unit), color=colour
    )
    panels = alt.layer(area, line).properties(width=PANEL[0], height=PANEL[1])
    names = [one.setting.name for one in measured]
    facet = alt.Facet("method:N", title=None, sort=names, header=alt.Header(labelFontSize=12))
    made = panels.facet(facet=facet, columns=3).resolve_scale(x="independent")
    return _plain(made)


def _measure_rows(measured: Sequence[Measured]) -> list[dict[str, Any]]:
    rows = []
    for one in measured:
        for at in one.at:
            for name in MEASURES:
                value = getattr(at.every, name.lower())
                interval = getattr(at.every, f"{name.lower()}_interval")
                if value is None:
                    continue
                rows.append(
                    {
                        "method": one.setting.name,
                        "threshold": at.cut.threshold,
                        "measure": name,
                        "value": value,
                        "low": interval.low if interval else value,
                        "high": interval.high if interval else value,
                    }
                )
    return rows


def curve(measured: Sequence[Measured]) -> Any:
    """Precision against recall, a line a setting, a point a threshold."""
    alt = altair_module()
    rows = [
        {
            "method": one.setting.name,
            "recall": at.every.recall,
            "precision": at.every.precision,
            "order": i,
        }
        for one in measured
        for i, at in enumerate(one.at)
        if at.every.recall is not None and at.every.precision is not None
    ]
    unit = alt.Scale(domain=[0, 1])
    made = (
        alt.Chart(alt.Data(values=rows), width=420, height=300)
        .mark_line(point=alt.OverlayMarkDef(size=30))
        .encode(
            x=alt.X("recall:Q", scale=unit),
            y=alt.Y("precision:Q", scale=unit),
            order="order:Q",
            color=_by_method(alt, measured),
        )
    )
    return _plain(made)


def bands(measured: Sequence[Measured], best: Sequence[int]) -> Any:
    """Recall in each band of similarity, a bar a setting."""
    alt = altair_module()
    chosen = [(one, one.at[i].bands) for one, i in zip(measured, best, strict=True)]
    rows = [
        {"method": one.setting.name, "band": band_name(band), "recall": band.recall}
        for one, found in chosen
        for band in found
        if band.recall is not None
    ]
    order = [band_name(band) for band in chosen[0][1]]
    names = [one.setting.name for one in measured]
    made = (
        alt.Chart(alt.Data(values=rows), width=max(420, 40 * len(names)), height=200)
        .mark_bar()
        .encode(
            x=alt.X("band:N", title="similarity of the duplicates", sort=order, axis=_flat(alt)),
            xOffset=alt.XOffset("method:N", sort=names),
            y=alt.Y("recall:Q", title="recall", scale=alt.Scale(domain=[0, 1])),
            color=_by_method(alt, measured),
        )
    )
    return _plain(made)


def band_name(band: Band) -> str:
    return f"{band.low:g} to {band.high:g}"


def _flat(alt: Any) -> Any:
    return alt.Axis(labelAngle=0)


def _by_method(alt: Any, measured: Sequence[Measured]) -> Any:
    names = [one.setting.name for one in measured]
    legend = alt.Legend(orient="right", labelLimit=260) if len(names) > 1 else None
    return alt.Color("method:N", title=None, sort=names, legend=legend)


def _plain(chart: Any) -> Any:
    """No frame, soft lines, the font of the page."""
    return (
        chart.properties(background="white")
        .configure(font=FONT)
        .configure_view(strokeOpacity=0)
        .configure_axis(
            gridColor="#e8ecf0",
            domainColor="#9aa5b1",
            tickColor="#9aa5b1",
            titleFontWeight="normal",
        )
    )
