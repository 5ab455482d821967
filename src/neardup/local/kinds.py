"""Pass 3 on one machine: what sort of duplicates the pairs are. It changes no decision."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from neardup.documents import Collection, Columns
from neardup.local.reference import reference_texts
from neardup.outputs.kinds import PairKinds, pair_kinds
from neardup.outputs.outcome import Outcome
from neardup.outputs.reread import Means
from neardup.outputs.tables import all_pairs
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array


def find_kinds(
    collection: Collection,
    plan: Plan,
    outcome: Outcome,
    progress: Progress,
    folder: Path | None = None,
) -> PairKinds | None:
    """Of the pairs that the plan asks for; None where it asks for none."""
    if plan.kinds == "none":
        return None
    began = time.perf_counter()
    a, b = _asked(plan, outcome)
    means = Means(plan.workers, plan.texts_limit, folder, progress)
    own = (collection, Columns(text=plan.columns.text, id=plan.columns.id))
    found = pair_kinds(outcome, a, b, [own, *reference_texts(plan)], means)
    progress.finish()
    outcome.timings["kinds"] = time.perf_counter() - began
    return found


def _asked(plan: Plan, outcome: Outcome) -> tuple[Array, Array]:
    aside = np.flatnonzero(outcome.decided.kept_of >= 0)
    kept = outcome.decided.kept_of[aside]
    if plan.kinds == "decided":
        return aside, kept
    pairs, _ = all_pairs(outcome, plan.pair_budget(outcome.intake.total))
    return np.concatenate([aside, pairs.a]), np.concatenate([kept, pairs.b])
