"""The figures of an evaluation: measures over thresholds, precision against recall, recall by
similarity, and what planted copies show. Each is drawn by ``report/figures.py``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neardup.artefacts.idf import IdfTable
from neardup.evaluation.measurement import AtCut, Measured
from neardup.evaluation.metrics import Band
from neardup.evaluation.stability import Correlation, Stability, common_terms
from neardup.report.figures import (
    NARROW,
    UNIT,
    WIDE,
    Axis,
    BarSeries,
    Figure,
    Panel,
    Series,
    Shade,
    bar_panel,
    line_panel,
    shade_panel,
)
from neardup.report.html_page import Html

if TYPE_CHECKING:
    from neardup.evaluation.planted_experiment import Findings

MEASURES = ("precision", "recall", "F1")
ROW = 15  # pixels of an edit in the map of recall
CELLS = 50  # of the map of idf values, each way
GROUPS = 5  # panels beside that of all documents
COMPARED_AS = {"ranked list": "as_list", "set": "as_set"}


def measures(measured: Sequence[Measured]) -> Html:
    """Precision, recall and F1 over the threshold, with their intervals, in a panel for each
    setting; settings with one threshold only are in the table."""
    swept = [one for one in measured if len(one.at) > 1]
    return Figure([_measures(one, len(swept)) for one in swept], MEASURES).html()


def _measures(measured: Measured, panels: int) -> Panel:
    name = measured.setting.name
    x = Axis.of("threshold", [at.cut.threshold for at in measured.at], tight=True)
    series = [_measure(measured.at, measure) for measure in MEASURES]
    title, width = f"Precision, recall and F1 of {name}", NARROW if panels > 1 else WIDE
    return line_panel(title, series, x, heading=name, dots=True, width=width)


def _measure(points: Sequence[AtCut], name: str) -> Series:
    known = [
        (
            at.cut.threshold,
            getattr(at.every, name.lower()),
            getattr(at.every, f"{name.lower()}_interval"),
        )
        for at in points
        if getattr(at.every, name.lower()) is not None
    ]
    line = [(threshold, value) for threshold, value, _ in known]
    band = [
        (threshold, interval.low, interval.high) for threshold, _, interval in known if interval
    ]
    return Series(name, line, band)


def curve(measured: Sequence[Measured]) -> Html:
    """Precision against recall: a line for each setting, a point for each threshold."""
    return Figure([_curve(measured)], _labels(measured)).html()


def article(measured: Sequence[Measured]) -> Figure:
    """The figure of an article: precision against recall, and F1 over the threshold. What a
    collection chose is left out where the sweep of the same setting is drawn."""
    swept = {one.setting.name for one in measured if not one.at[0].cut.auto}
    measured = [one for one in measured if not one.at[0].cut.auto or one.setting.name not in swept]
    series = [Series(one.setting.name, _f1_line(one)) for one in measured]
    x = Axis.of("threshold", [at for one in series for at, _ in one.points], tight=True)
    f1 = line_panel("F1 over the threshold", series, x, Axis("F1", 0, 1, UNIT.ticks), dots=True)
    return Figure([_curve(measured), f1], _labels(measured), columns=1)


def _f1_line(measured: Measured) -> Sequence[tuple[float, float]]:
    """No points for a method that calibrates itself: it has no one threshold to draw them at."""
    return _measure(measured.at, "F1").points if measured.at[0].cut.threshold else []


def _curve(measured: Sequence[Measured]) -> Panel:
    series = [
        Series(
            one.setting.name,
            [
                (at.every.recall, at.every.precision)
                for at in one.at
                if at.every.recall is not None and at.every.precision is not None
            ],
        )
        for one in measured
    ]
    x, y = (Axis(label, 0, 1, UNIT.ticks) for label in ("recall", "precision"))
    return line_panel("Precision against recall", series, x, y, dots=True)


def bands(measured: Sequence[Measured], best: Sequence[int]) -> Html:
    """Recall in each band of similarity, a bar for each setting."""
    chosen = [one.at[i].bands for one, i in zip(measured, best, strict=True)]
    series = [
        BarSeries(one.setting.name, [band.recall for band in of])
        for one, of in zip(measured, chosen, strict=True)
    ]
    panel = bar_panel(
        "Recall by the similarity of the duplicates",
        [(band_name(band),) for band in chosen[0]],
        series,
        Axis("recall", 0, 1, UNIT.ticks),
        x_label="similarity of the duplicates",
    )
    return Figure([panel], _labels(measured), marks="bar").html()


def band_name(band: Band) -> str:
    return f"{band.low:g} to {band.high:g}"


def _labels(measured: Sequence[Measured]) -> list[str]:
    if len(measured) < 2:
        return []
    return [one.setting.name + (" auto" if one.at[0].cut.auto else "") for one in measured]


def recall_map(findings: Findings) -> Html:
    """Recall of planted copies: a row for each edit and rate, a column for each threshold."""
    cells, cuts = findings.measures.cells, findings.cuts
    count = len(cells)
    shades = [
        Shade((j, j + 1), (count - i - 1, count - i), recall, f"{recall:.2f}")
        for i, cell in enumerate(cells)
        for j, cut in enumerate(cuts)
        for recall in [cell.found(cut.threshold) / len(cell)]
    ]
    edits = [(count - i - 0.5, f"{cell.edit} {cell.rate:.0%}") for i, cell in enumerate(cells)]
    thresholds = [
        (j + 0.5, "own" if cut.value is None else f"{cut.value:g}") for j, cut in enumerate(cuts)
    ]
    x = Axis(cuts[0].parameter or "threshold", 0, len(cuts), thresholds)
    y = Axis("", 0, count, edits)
    panel = shade_panel("Recall by edit and threshold", shades, x, y, height=ROW * count)
    return Figure([panel]).html()


def decoy_curves(findings: Findings) -> Html:
    """Recall of all copies, and the share of each sort of decoy that passes, over thresholds."""
    cuts = [point.cut.threshold for point in findings.points]
    copies = Series("copies found", [(p.cut.threshold, p.recall) for p in findings.points])
    decoys = [
        Series(
            f"{cell.edit}s of {cell.rate:.0%} frame",
            [(cut, cell.found(cut) / len(cell)) for cut in cuts],
        )
        for cell in findings.measures.traps
    ]
    x, y = Axis.of("threshold", cuts, tight=True), Axis("share", 0, 1, UNIT.ticks)
    series = [copies, *decoys]
    panel = line_panel("Copies found and decoys accepted", series, x, y, dots=True)
    return Figure([panel], [one.label for one in series]).html()


def idf_agreement(
    tables: tuple[IdfTable, IdfTable],
    names: tuple[str, str],
    correlation: Correlation,
    stability: Stability | None,
) -> Figure:
    """The idf of each common term in both tables and, for documents, whose signature changes."""
    more = [] if stability is None else [_signature_changes(stability)]
    return Figure([_idf_map(tables, names, correlation)], more=more)


def _idf_map(
    tables: tuple[IdfTable, IdfTable], names: tuple[str, str], correlation: Correlation
) -> Panel:
    a, b = tables
    in_a, in_b = common_terms(a, b)
    cells, _, _ = np.histogram2d(a.idf[in_a], b.idf[in_b], CELLS, range=[[0, 1], [0, 1]])
    most = np.log1p(cells.max())
    shades = [
        Shade(
            (i / CELLS, (i + 1) / CELLS),
            (j / CELLS, (j + 1) / CELLS),
            0.15 + 0.85 * float(np.log1p(cells[i, j]) / most),
        )
        for i, j in np.argwhere(cells > 0).tolist()
    ]
    r = "undefined" if correlation.coefficient is None else f"{correlation.coefficient:.4f}"
    heading = f"Spearman {r}: {correlation.common:,} common terms by idf"
    x, y = (Axis(f"idf in {name}", 0, 1, UNIT.ticks) for name in names)
    return shade_panel(heading, shades, x, y, heading=heading, width=400, height=320)


def _signature_changes(stability: Stability) -> Figure:
    largest = sorted(stability.groups.items(), key=lambda item: -item[1].documents)[:GROUPS]
    panels = []
    for name, changes in [("all", stability.total), *largest]:
        shares = changes.shares()
        series = [
            Series(label, [(share["n"], share[key]) for share in shares])
            for label, key in COMPARED_AS.items()
        ]
        heading = f"{name}: {changes.documents:,} documents"
        x = Axis.of("terms in the signature", [share["n"] for share in shares], tight=True)
        y = Axis.of("signatures that change", [y for s in series for _, y in s.points], form=".0%")
        panels.append(line_panel(heading, series, x, y, heading=heading, dots=True, width=NARROW))
    return Figure(panels, list(COMPARED_AS))
