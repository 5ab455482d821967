"""Self-test without labels: plants edited copies of documents in their collection and measures the
result.

``planted`` makes the copies, which are known duplicates. ``evaluate`` plants copies and decoys,
matches the collection once, and measures how many copies are found and how many decoys are wrongly
accepted at each threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from neardup.documents.collection import Collection, collect
from neardup.engines.batch.batch_run import run
from neardup.engines.batch.table_pass import with_artefacts
from neardup.engines.execution import make_result
from neardup.errors import SettingsError
from neardup.evaluation.evaluation import pasted_inputs
from neardup.evaluation.planted_findings import About, Findings
from neardup.evaluation.planted_measures import bearable, measure
from neardup.evaluation.swept_settings import SWEEP, Setting, parse_thresholds, settings_of
from neardup.methods.base import Method
from neardup.plan import Plan, resolve
from neardup.planting.decoys import decoys, forms
from neardup.planting.edits import Edit, edits_named
from neardup.planting.plant import PER_EDIT, plant, planted, with_copies
from neardup.progress import Progress, Silent, logged
from neardup.runs.result import Result
from neardup.settings import Settings, check_positive


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
