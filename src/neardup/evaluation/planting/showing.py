"""Tables of what planting found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from neardup.evaluation.intervals import wilson
from neardup.evaluation.planting.measured import Measures
from neardup.methods.cuts import Cut
from neardup.outputs.html.table import Cell, Table

if TYPE_CHECKING:
    from neardup.evaluation.planting.findings import Findings


def share(part: int, whole: int) -> dict[str, Any]:
    interval = wilson(part, whole)
    return {"share": part / whole if whole else None, "interval": interval and list(interval)}


def column(cut: Cut) -> str:
    return f"≥ {cut}" if cut.parameter == "threshold" else str(cut)


def edit_table(measures: Measures, cuts: Sequence[Cut]) -> Table:
    rows: list[list[Cell]] = []
    for cell in measures.cells:
        recall = [cell.found(cut.threshold) / len(cell) for cut in cuts]
        rows.append([cell.edit, f"{cell.rate:.0%}", cell.kind, len(cell), *recall])
    return Table(["edit", "rate", "kind", "copies", *map(column, cuts)], rows)


def kind_table(measures: Measures, cuts: Sequence[Cut]) -> Table:
    rows: list[list[Cell]] = []
    for kind in dict.fromkeys(cell.kind for cell in measures.cells):
        some = [cell for cell in measures.cells if cell.kind == kind]
        copies = sum(map(len, some))
        found = [sum(cell.found(cut.threshold) for cell in some) / copies for cut in cuts]
        rows.append([kind, copies, *found])
    return Table(["kind", "copies", *map(column, cuts)], rows)


def cut_table(found: Findings) -> Table:
    best, _ = found.recommended()
    framed = [f"{cell.edit}s, {cell.rate:.0%} frame" for cell in found.measures.traps]
    first = found.cuts[0].parameter or "threshold"
    header = [first, "recall", "95 %", "false alarms", *framed, "95 %", "background", "F1"]
    rows: list[list[Cell]] = []
    for point in found.points:
        passed = [cell.found(point.cut.threshold) / len(cell) for cell in found.measures.traps]
        recall, traps = (
            share(n, of)["interval"]
            for n, of in ((point.found, point.copies), (point.trapped, point.traps))
        )
        alarms: list[Cell] = [point.alarms, *passed, _interval(traps), point.background]
        rows.append([_value(point.cut), point.recall, _interval(recall), *alarms, point.f1])
    marked = [i for i, p in enumerate(found.points) if p.cut == best.cut]
    return Table(header, rows, marked)


def _value(cut: Cut) -> str:
    return "–" if cut.value is None else f"{cut.value:g}"


def _interval(interval: Sequence[float] | None) -> str:
    return f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else "–"
