"""Figures of planting: recall of each edit over thresholds as a heat map, and false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.evaluation.plots import altair_module

if TYPE_CHECKING:
    from neardup.evaluation.planting.findings import Findings

CELL = 34, 15
HEIGHT = 220


def heat_map(found: Findings) -> Any:
    """A row for each edit and rate, a column a threshold; darker is more recall."""
    alt = altair_module()
    rows = [
        {
            "edit": f"{cell.edit} {cell.rate:.0%}",
            "cut": "own" if cut.value is None else f"{cut.value:g}",
            "recall": cell.found(cut.threshold) / len(cell),
        }
        for cell in found.measures.cells
        for cut in found.cuts
    ]
    order = list(dict.fromkeys(row["edit"] for row in rows))
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "cut:O",
            title=found.cuts[0].parameter or "threshold",
            sort=None,
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("edit:N", title=None, sort=order),
    )
    scale = alt.Scale(domain=[0, 1], scheme="blues")
    boxes = base.mark_rect().encode(color=alt.Color("recall:Q", title="recall", scale=scale))
    dark = alt.condition("datum.recall > 0.6", alt.value("white"), alt.value("black"))
    shares = base.mark_text(fontSize=9).encode(text=alt.Text("recall:Q", format=".2f"), color=dark)
    width, height = CELL[0] * len(found.cuts), CELL[1] * len(order)
    return (boxes + shares).properties(width=width, height=height, background="white")


def alarm_chart(found: Findings) -> Any:
    """Recall of all copies against the share of traps that pass, over thresholds."""
    alt = altair_module()
    rows = []
    for point in found.points:
        rows.append({"of": "copies found", "t": point.cut.threshold, "share": point.recall})
        for cell in found.measures.traps:
            passed = cell.found(point.cut.threshold) / len(cell)
            rows.append(
                {"of": f"traps of {cell.rate:.0%} frame", "t": point.cut.threshold, "share": passed}
            )
    order = list(dict.fromkeys(row["of"] for row in rows))
    return (
        alt.Chart(alt.Data(values=rows), width=420, height=HEIGHT)
        .mark_line(point=True)
        .encode(
            x=alt.X("t:Q", title="threshold", scale=alt.Scale(zero=False)),
            y=alt.Y("share:Q", title="share", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color("of:N", title=None, sort=order),
            strokeDash=alt.StrokeDash("of:N", sort=order, legend=None),
        )
        .properties(background="white")
    )
