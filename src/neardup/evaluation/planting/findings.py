"""What planting found: recall for each edit and rate, false alarms, traps, and a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from neardup.evaluation.intervals import wilson
from neardup.evaluation.planting.measured import Cell, Measures
from neardup.evaluation.report import Cell as Shown
from neardup.evaluation.report import Section, Table

NEAR = 0.01  # thresholds whose F1 is that near to the best are as good
COLUMNS = 7  # thresholds that a terminal has room for
WHAT = (
    "Recall is the share of copies that were paired with their original. A copy is an edited "
    "document of this collection; the rate says how much of it was changed, added or kept."
)
ALARMS = (
    "False alarms are pairs of a copy with something else than its original, what that resembles "
    "itself, or whom a passage was taken from. Traps are pairs of documents from one template with "
    "other content: the share that passed is a false-alarm rate. Background is how many pairs of "
    "the collection itself a threshold reports; whether they are right is not known here."
)


@dataclass(frozen=True)
class Point:
    """All that is known of one threshold. ``precision`` and ``f1`` are those of a collection with
    as many traps as copies: how many were planted of each is not what a user should depend on."""

    threshold: float
    found: int
    copies: int
    alarms: int
    alarmed: int
    trapped: int
    traps: int
    background: int

    @property
    def recall(self) -> float:
        return self.found / max(self.copies, 1)

    @property
    def wrong(self) -> float:
        """The share of traps that pass, and of copies with a false alarm."""
        return self.trapped / max(self.traps, 1) + self.alarmed / max(self.copies, 1)

    @property
    def precision(self) -> float | None:
        reported = self.recall + self.wrong
        return self.recall / reported if reported else None

    @property
    def f1(self) -> float:
        return 2 * self.recall / (1 + self.recall + self.wrong)

    def data(self) -> dict[str, Any]:
        return {
            **vars(self),
            "recall": share(self.found, self.copies),
            "copies_with_false_alarms": share(self.alarmed, self.copies),
            "traps_passed": share(self.trapped, self.traps),
            "precision": self.precision,
            "f1": self.f1,
        }


@dataclass(frozen=True)
class Findings:
    """``about`` is the setting: method, parameters, seed."""

    measures: Measures
    thresholds: tuple[float, ...]
    about: dict[str, Any]

    @cached_property
    def points(self) -> list[Point]:
        return [_point(self.measures, threshold) for threshold in self.thresholds]

    def recommended(self) -> tuple[Point, list[float]]:
        """The threshold with the best F1, the highest of equal ones; and all that are as good."""
        best = max(self.points, key=lambda point: (point.f1, point.threshold))
        return best, [p.threshold for p in self.points if p.f1 >= best.f1 - NEAR]

    def data(self) -> dict[str, Any]:
        best, near = self.recommended()
        return {
            "experiment": "planting",
            **self.about,
            "documents": self.measures.documents,
            "pairs": "complete" if self.measures.complete else "partial",
            "edits": [_cell_data(cell, self.thresholds) for cell in self.measures.cells],
            "traps": [_cell_data(cell, self.thresholds) for cell in self.measures.traps],
            "thresholds": [point.data() for point in self.points],
            "recommended": {"threshold": best.threshold, "f1": best.f1, "as_good": near},
        }

    def tables(self) -> list[Section]:
        """For a terminal: some of the thresholds."""
        return [
            Section("Recall of edited copies", "", _edit_table(self.measures, self.some())),
            Section("False alarms", ALARMS, _threshold_table(self)),
            Section("Recommended", self.sentence()),
        ]

    def sections(self) -> list[Section]:
        from neardup.evaluation.planting.charts import alarm_chart, heat_map

        table = _edit_table(self.measures, self.thresholds)
        return [
            Section("Recall of edited copies", WHAT, table, lambda: heat_map(self)),
            Section("False alarms", ALARMS, _threshold_table(self), lambda: alarm_chart(self)),
            Section("Recommended", self.sentence()),
        ]

    def some(self) -> tuple[float, ...]:
        """The setting's own threshold, the recommended one, and others spread between."""
        own = {self.recommended()[0].threshold, self.about["threshold"]}
        rest = [t for t in self.thresholds if t not in own]
        room = max(COLUMNS - len(own), 1)
        spread = {rest[i] for i in np.linspace(0, len(rest) - 1, room).astype(int)} if rest else ()
        return tuple(sorted({*own, *spread}))

    def sentence(self) -> str:
        best, near = self.recommended()
        low, high = share(best.found, best.copies)["interval"] or (0.0, 1.0)
        told = [
            f"Threshold {best.threshold:g}: {best.recall:.1%} of the copies are found "
            f"({low:.1%} to {high:.1%}), {best.alarms:,} false alarms, {best.trapped:,} of "
            f"{best.traps:,} traps pass; F1 {best.f1:.3f}."
        ]
        if len(near) > 1:
            told.append(f"From {near[0]:g} to {near[-1]:g} F1 is less than {NEAR:g} lower.")
        if len(self.thresholds) == 1:
            told.append(f"{self.about['method']} has no threshold to choose.")
        told.append(
            "All edits count alike; name those that are duplicates to you to weigh them otherwise."
        )
        if not self.measures.complete:
            told.append("Not all pairs were kept, so recall may be higher.")
        return " ".join(told)


def _point(measures: Measures, threshold: float) -> Point:
    return Point(
        threshold=threshold,
        found=sum(cell.found(threshold) for cell in measures.cells),
        copies=sum(map(len, measures.cells)),
        alarms=int((measures.alarms >= threshold).sum()),
        alarmed=int((measures.alarmed >= threshold).sum()),
        trapped=sum(cell.found(threshold) for cell in measures.traps),
        traps=sum(map(len, measures.traps)),
        background=int((measures.background >= threshold).sum()),
    )


def share(part: int, whole: int) -> dict[str, Any]:
    interval = wilson(part, whole)
    return {"share": part / whole if whole else None, "interval": interval and list(interval)}


def _cell_data(cell: Cell, thresholds: Sequence[float]) -> dict[str, Any]:
    found = [(t, cell.found(t)) for t in thresholds]
    return {
        "edit": cell.edit,
        "rate": cell.rate,
        "kind": cell.kind,
        "copies": len(cell),
        "found": [{"threshold": t, "found": n, **share(n, len(cell))} for t, n in found],
    }


def _edit_table(measures: Measures, thresholds: Sequence[float]) -> Table:
    header = ["edit", "rate", "kind", "copies", *(f"≥ {t:g}" for t in thresholds)]
    rows: list[list[Shown]] = []
    for cell in measures.cells:
        recall = [cell.found(t) / len(cell) for t in thresholds]
        rows.append([cell.edit, f"{cell.rate:.0%}", cell.kind, len(cell), *recall])
    return Table(header, rows)


def _threshold_table(found: Findings) -> Table:
    best, _ = found.recommended()
    shares = [cell.rate for cell in found.measures.traps]
    framed = [f"traps of {rate:.0%} frame" for rate in shares]
    header = ["threshold", "recall", "95 %", "false alarms", *framed, "95 %", "background", "F1"]
    rows: list[list[Shown]] = []
    for point in found.points:
        passed = [cell.found(point.threshold) / len(cell) for cell in found.measures.traps]
        recall, traps = (
            share(n, of)["interval"]
            for n, of in ((point.found, point.copies), (point.trapped, point.traps))
        )
        alarms: list[Shown] = [point.alarms, *passed, _interval(traps), point.background]
        rows.append([f"{point.threshold:g}", point.recall, _interval(recall), *alarms, point.f1])
    marked = [i for i, p in enumerate(found.points) if p.threshold == best.threshold]
    return Table(header, rows, marked)


def _interval(interval: Sequence[float] | None) -> str:
    return f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else "–"
