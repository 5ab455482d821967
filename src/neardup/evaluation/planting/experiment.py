"""``evaluate``: plant, match once, measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from neardup.api import make_result
from neardup.documents import Collection, collect
from neardup.errors import SettingsError
from neardup.evaluation.planting.edits import Edit, edits_named
from neardup.evaluation.planting.findings import Findings
from neardup.evaluation.planting.measured import measure
from neardup.evaluation.planting.plant import PER_EDIT, plant, with_copies
from neardup.evaluation.planting.traps import traps
from neardup.local.artefacts import with_artefacts
from neardup.local.run import run
from neardup.methods import registry
from neardup.outputs.result import Result
from neardup.plan import Plan, Settings, check_positive, resolve
from neardup.progress import Logged, Progress, Silent

THRESHOLDS = tuple(n / 20 for n in range(6, 20))  # 0.3 … 0.95


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
    """How much of edited copies of the own documents a setting finds, and what else it reports.

    Artefacts, such as idf tables, are counted from the collection without the copies.
    """
    check_positive("per_edit", per_edit)
    if settings.against:
        raise SettingsError(
            "Copies are planted in one collection, not against another.",
            hint="leave --against out, or give both as input.",
        )
    own = resolve(settings).method.threshold
    cuts = _thresholds(settings, own, thresholds)
    wanted = replace(settings, threshold=cuts[0]) if len(cuts) > 1 else settings
    plan = resolve(wanted, every_pair=True)
    told = Logged(progress or Silent())
    collection = collect(inputs, plan.encoding).limited(plan.limit)
    planted = plant(collection, plan.columns, edits_named(edits), per_edit, seed, progress=told)
    framed = traps(planted, per_edit)
    added = pa.concat_tables([planted.copies, framed], promote_options="permissive")
    result = _match(collection, with_copies(collection, plan.columns, added), plan, told)
    measures = measure(result, planted.copies, framed)
    about = {
        "method": plan.method.name,
        "parameters": result.info["settings"]["parameters"],
        "threshold": own,
        "per_edit": per_edit,
        "seed": seed,
    }
    return Findings(measures, tuple(cuts), about)


def _thresholds(settings: Settings, own: float, given: Sequence[float] | None) -> list[float]:
    """From the lowest on, with the setting's own; only that where a method has none to choose."""
    method = settings.method
    cls = registry.method_class(method) if isinstance(method, str) else type(method)
    if "threshold" not in registry.parameter_names(cls):
        return [own]
    return sorted({*(THRESHOLDS if given is None else given), own})


def _match(collection: Collection, both: Collection, plan: Plan, told: Progress) -> Result:
    """The one pass. Where a copy doubled the count of a rare term, it would be less rare."""
    plan = with_artefacts(collection, plan, told)
    outcome = run(both, replace(plan, limit=both.limit), told)
    result = make_result(both, plan, outcome)
    outcome.intake.store.close()
    return result
