"""Self-test without labels: plants edited copies of documents in their collection and measures the
result.

``planted`` makes the copies, which are known duplicates. ``evaluate`` plants copies and decoys,
matches the collection once, and measures how many copies are found and how many decoys are wrongly
accepted at each threshold.

``Findings`` has one ``Point`` for each threshold, from the measures of the single matching pass:
recall by edit and rate, false alarms, decoys, and a recommended threshold. It shows them as tables,
as figures (``charts.py``) and as JSON.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.collection import Collection, collect
from neardup.engines.batch.batch_run import run
from neardup.engines.batch.table_pass import with_artefacts
from neardup.engines.execution import make_result
from neardup.errors import SettingsError
from neardup.evaluation import charts
from neardup.evaluation.evaluation import pasted_inputs
from neardup.evaluation.planted_measures import EditCell, Measures, bearable, measure
from neardup.evaluation.sections import Section
from neardup.evaluation.swept_settings import SWEEP, Setting, parse_thresholds, settings_of
from neardup.labels.intervals import wilson
from neardup.methods.base import Method
from neardup.methods.thresholds import Cut
from neardup.plan import Plan, resolve
from neardup.planting.decoys import FORM, TRAP, decoys, forms
from neardup.planting.edits import Edit, edits_named
from neardup.planting.plant import PER_EDIT, plant, planted, with_copies, worth
from neardup.progress import Progress, Silent, logged
from neardup.report.html_page import Cell, Table
from neardup.runs.result import Result
from neardup.settings import Settings, check_positive


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
        cells = [cell for cell in measures.cells if cell.kind == kind]
        copies = sum(map(len, cells))
        recall = [sum(cell.found(cut.threshold) for cell in cells) / copies for cut in cuts]
        rows.append([kind, copies, *recall])
    return Table(["kind", "copies", *map(column, cuts)], rows)


def cut_table(findings: Findings) -> Table:
    best, _ = findings.recommended()
    decoy_columns = [
        f"{_DECOYS.get(cell.edit, cell.edit)}, {cell.rate:.0%} frame"
        for cell in findings.measures.traps
    ]
    first = findings.cuts[0].parameter or "threshold"
    header = [first, "recall", "95 %", "false alarms", *decoy_columns, "95 %", "background", "F1"]
    rows: list[list[Cell]] = []
    for point in findings.points:
        accepted = [cell.found(point.cut.threshold) / len(cell) for cell in findings.measures.traps]
        recall, decoys = (
            share(n, of)["interval"]
            for n, of in ((point.found, point.copies), (point.trapped, point.traps))
        )
        alarms: list[Cell] = [point.alarms, *accepted, _interval(decoys), point.background]
        rows.append([_value(point.cut), point.recall, _interval(recall), *alarms, point.f1])
    marked = [i for i, p in enumerate(findings.points) if p.cut == best.cut]
    return Table(header, rows, marked)


def _value(cut: Cut) -> str:
    return "–" if cut.value is None else f"{cut.value:g}"


def _interval(interval: Sequence[float] | None) -> str:
    return f"{interval[0]:.3f}–{interval[1]:.3f}" if interval else "–"


NEAR = 0.01  # thresholds with an F1 this close to the best are equally good
COLUMNS = 7  # thresholds that a terminal has room for
_DECOYS = {TRAP: "decoys", FORM: "forms"}
WHAT = (
    "Recall is the share of copies that were paired with their original. A copy is an edited "
    "document of this collection; the rate says how much of it was changed, added or kept."
)
ALARMS = (
    "False alarms are pairs of a copy with a document that is neither its original, nor similar to "
    "its original, nor the source of an inserted passage. Decoys are pairs of documents from one "
    "template with different content, and forms are two fillings of one form: the share that was "
    "accepted is a false-alarm rate. Background is the number of pairs of the collection itself "
    "that a threshold reports; whether they are right is not known here."
)
KINDS = "Recall by the kind of the pair of a copy and its original, over all edits."


@dataclass(frozen=True)
class Point:
    """All counts at one threshold. ``precision`` and ``f1`` are those of a collection with as many
    decoys as copies, so that they do not depend on how many of each were planted."""

    cut: Cut
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
        """The share of accepted decoys plus the share of copies with a false alarm."""
        return self.trapped / max(self.traps, 1) + self.alarmed / max(self.copies, 1)

    @property
    def precision(self) -> float | None:
        reported = self.recall + self.wrong
        return self.recall / reported if reported else None

    @property
    def f1(self) -> float:
        return worth(self.recall, self.wrong)

    def data(self) -> dict[str, Any]:
        return {
            **{name: value for name, value in vars(self).items() if name != "cut"},
            **vars(self.cut),
            "recall": share(self.found, self.copies),
            "copies_with_false_alarms": share(self.alarmed, self.copies),
            "traps_passed": share(self.trapped, self.traps),
            "precision": self.precision,
            "f1": self.f1,
        }


@dataclass(frozen=True)
class About:
    """``inputs`` as a command takes them; ``raised``: costly low thresholds were left out."""

    edits: Sequence[Edit]
    per_edit: int
    seed: int
    inputs: str = "INPUT"
    raised: bool = False


@dataclass(frozen=True)
class Findings:
    """``setting`` is the method with the rising thresholds at which it was measured."""

    measures: Measures
    setting: Setting
    about: About

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return self.setting.cuts

    @cached_property
    def points(self) -> list[Point]:
        return [_point(self.measures, cut) for cut in self.cuts]

    def recommended(self) -> tuple[Point, list[Cut]]:
        """The threshold with the best F1, the highest of equal ones, and all equally good ones."""
        best = max(self.points, key=lambda point: (point.f1, point.cut.threshold))
        return best, [p.cut for p in self.points if p.f1 >= best.f1 - NEAR]

    def data(self) -> dict[str, Any]:
        best, near = self.recommended()
        return {
            "experiment": "planting",
            "method": self.setting.name,
            "per_edit": self.about.per_edit,
            "seed": self.about.seed,
            "raised": self.about.raised,
            "documents": self.measures.documents,
            "pairs": "complete" if self.measures.complete else "partial",
            "edits": [_cell_data(cell, self.cuts) for cell in self.measures.cells],
            "traps": [_cell_data(cell, self.cuts) for cell in self.measures.traps],
            "cuts": [point.data() for point in self.points],
            "recommended": {
                **vars(best.cut),
                "f1": best.f1,
                "as_good": [cut.threshold for cut in near],
                "command": self.command,
                "text": self.sentence(),
            },
        }

    @property
    def command(self) -> str:
        return self.setting.command(self.recommended()[0].cut, self.about.inputs)

    def lead(self) -> str:
        copies = sum(map(len, self.measures.cells))
        return (
            f"{self.setting.name}: {copies:,} edited copies of documents planted among "
            f"{self.measures.documents:,}, and {sum(map(len, self.measures.traps)):,} decoys."
        )

    def summary(self) -> list[Section]:
        """Sections for a terminal, with some of the thresholds."""
        return [
            Section("Planted", self.lead()),
            Section("Recall of edited copies", "", edit_table(self.measures, self.some())),
            Section("False alarms", "", cut_table(self)),
            Section("Recommended", self._advice()),
        ]

    def sections(self) -> list[Section]:
        recall, kinds = (make(self.measures, self.cuts) for make in (edit_table, kind_table))
        return [
            Section(
                "Recall of edited copies", self._what(), recall, partial(charts.recall_map, self)
            ),
            Section("Recall by kind", KINDS, kinds),
            Section("False alarms", ALARMS, cut_table(self), partial(charts.decoy_curves, self)),
            Section("Recommended", self._advice()),
        ]

    def _what(self) -> str:
        of = ", ".join(f"{edit.name}: {edit.of}" for edit in self.about.edits)
        return f"{WHAT}\n\nWhat a rate is a share of: {of}."

    def some(self) -> tuple[Cut, ...]:
        """The method's own threshold, the recommended one, and others spread between them."""
        own = {self.recommended()[0].cut}
        own |= {cut for cut in self.cuts if cut.threshold == self.setting.method.threshold}
        rest = [cut for cut in self.cuts if cut not in own]
        room = max(COLUMNS - len(own), 1)
        spread = {rest[i] for i in np.linspace(0, len(rest) - 1, room).astype(int)} if rest else ()
        return tuple(cut for cut in self.cuts if cut in {*own, *spread})

    def sentence(self) -> str:
        best, near = self.recommended()
        low, high = share(best.found, best.copies)["interval"] or (0.0, 1.0)
        at = f" at {best.cut.parameter} {best.cut.value:g}" if best.cut.parameter else ""
        sentences = [
            f"{self.setting.name}{at}: {best.recall:.1%} of the copies are found "
            f"({low:.1%} to {high:.1%}), {best.alarms:,} false alarms, {best.trapped:,} of "
            f"{best.traps:,} decoys are accepted; F1 {best.f1:.3f}."
        ]
        if others := [str(cut) for cut in near if cut != best.cut]:
            sentences.append(f"As good within {NEAR:g}: {', '.join(others)}.")
        if not best.traps:
            sentences.append("No decoy could be made, so no figure speaks against a low threshold.")
        if len(self.cuts) == 1:
            sentences.append("There is no other threshold to choose.")
        sentences.append(
            "All edits have the same weight: --edit selects those that make duplicates for you."
        )
        if self.about.raised:
            sentences.append(
                f"Thresholds below {self.cuts[0]} were left out, because too many unrelated "
                "documents would be compared; --thresholds includes them."
            )
        if not self.measures.complete:
            sentences.append("Some pairs were not kept, so recall may be higher.")
        return " ".join(sentences)

    def _advice(self) -> str:
        return f"{self.sentence()}\n\n$ {self.command}"


def _point(measures: Measures, cut: Cut) -> Point:
    threshold = cut.threshold
    return Point(
        cut=cut,
        found=sum(cell.found(threshold) for cell in measures.cells),
        copies=sum(map(len, measures.cells)),
        alarms=int((measures.alarms >= threshold).sum()),
        alarmed=int((measures.alarmed >= threshold).sum()),
        trapped=sum(cell.found(threshold) for cell in measures.traps),
        traps=sum(map(len, measures.traps)),
        background=int((measures.background >= threshold).sum()),
    )


def _cell_data(cell: EditCell, cuts: Sequence[Cut]) -> dict[str, Any]:
    counts = [(cut, cell.found(cut.threshold)) for cut in cuts]
    return {
        "edit": cell.edit,
        "rate": cell.rate,
        "kind": cell.kind,
        "copies": len(cell),
        "found": [
            {"threshold": cut.threshold, "found": n, **share(n, len(cell))} for cut, n in counts
        ],
    }


def evaluate(
    inputs: Any,
    settings: Settings,
    progress: Progress | None = None,
    *,
    edits: Sequence[str | Edit] | None = None,
    per_edit: int = PER_EDIT,
    seed: int = 0,
    thresholds: Sequence[float] | None = None,
) -> Findings:
    """Measure how many edited copies of documents a setting finds, and which wrong pairs it
    reports.

    Artefacts, such as idf tables, are counted from the collection without the copies.
    """
    check_positive("per_edit", per_edit)
    if settings.against:
        raise SettingsError(
            "Copies are planted in one collection, not against another.",
            hint="leave --against out, or give both as input.",
        )
    chosen = edits_named(edits)
    setting = _setting(resolve(settings).method, thresholds)
    plan = _plan(settings, setting)
    reporter = logged(progress or Silent())
    collection = collect(inputs, plan.encoding, plan.extraction).limited(plan.limit)
    planting = plant(collection, plan.columns, chosen, per_edit, seed, progress=reporter)
    lowest = setting.cuts[0]
    if thresholds is None:
        reporter.stage("weighing")
        setting = bearable(setting, settings, planting.drawn, planting.documents)
    decoy_rows = pa.concat_tables(
        [decoys(planting, per_edit), forms(planting, per_edit)], promote_options="permissive"
    )
    added = pa.concat_tables([planting.copies, decoy_rows], promote_options="permissive")
    both = with_copies(collection, plan.columns, added)
    result = _match(collection, both, _plan(settings, setting), reporter)
    measures = measure(result, planting.copies, decoy_rows)
    raised = lowest != setting.cuts[0]
    about = About(chosen, per_edit, seed, pasted_inputs(collection, settings), raised)
    return Findings(measures, setting, about)


def _plan(settings: Settings, setting: Setting) -> Plan:
    return resolve(replace(settings, method=setting.wide, set={}, threshold=None), every_pair=True)


def _setting(method: Method, thresholds: Sequence[float] | None) -> Setting:
    """The method with its thresholds, including its own."""
    wanted = parse_thresholds(SWEEP) if thresholds is None else thresholds
    (own,) = settings_of([method])[0].cuts
    swept = settings_of([method], thresholds=sorted({*wanted, method.threshold}))[0]
    if not own.auto and own.threshold < swept.cuts[0].threshold:  # as a large Hamming distance has
        return replace(swept, wide=method, cuts=(own, *swept.cuts))
    return swept


def _match(collection: Collection, both: Collection, plan: Plan, reporter: Progress) -> Result:
    """The one matching pass. Artefacts come from the collection alone: a copy that doubled the
    count of a rare term would make it less rare."""
    plan = with_artefacts(collection, plan, reporter)
    outcome, plan = run(both, replace(plan, limit=both.limit), reporter)
    result = make_result(both, plan, outcome)
    outcome.intake.store.close()
    return result


__all__ = ["evaluate", "planted"]
