"""Data of the evaluation → its figures; None where there is nothing to draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from neardup.outputs.html.safe import Html
from neardup.web.evaluation.drawing import Bar, Series, bar_chart, line_chart

Rows = Sequence[dict[str, Any]]


def strata(rows: Rows) -> Html | None:
    if not rows:
        return None
    bars = [
        Bar(
            f"{row['duplicates']} of {row['judged']} judged are duplicates",
            row["precision"],
            row["interval"],
            (f"{row['low']:.2f}", f"to {row['high']:.2f}"),
        )
        for row in rows
    ]
    return bar_chart("Precision in each class of the score", bars, x_label="score of the pairs")


def thresholds(points: Rows, own: float, name: str) -> Html | None:
    if len(points) < 2:
        return None
    series = [
        Series(css, label, [(p["threshold"], p[css]) for p in points if p[css] is not None])
        for css, label in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ]
    band = [(p["threshold"], *p["precision_interval"]) for p in points if p["precision_interval"]]
    series[0] = Series("precision", "precision and its interval", series[0].points, band)
    low, high = points[0]["threshold"], points[-1]["threshold"]
    ticks = [low + (high - low) * i / 4 for i in range(5)]
    return line_chart(
        f"Precision, recall and F1 of {name} over its thresholds",
        series,
        x_label="threshold",
        x_ticks=[(one, f"{one:.2f}") for one in ticks],
        cut=own,
    )


def learning(points: Sequence[Sequence[float]]) -> Html | None:
    if len(points) < 2:
        return None
    made = [(math.log2(labels), f1) for labels, f1 in points]  # sizes double
    ticks = [(x, f"{labels:,.0f}") for (x, _), (labels, _) in zip(made, points, strict=True)]
    return line_chart(
        "F1 on documents that were not trained on, against the number of labels",
        [Series("precision", "F1", made)],
        x_label="labels",
        x_ticks=ticks,
    )
