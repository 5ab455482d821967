"""Passes 0 and 1 in one reading, for a method that weighs its evidence when all is counted.

Documents are taken in without weights while their features are counted. Then the tables are
finished, and the evidence is weighed block by block where it is stored. Keys, evidence, digests and
tables are those of two readings, bit by bit.
"""

from __future__ import annotations

from dataclasses import replace
from threading import Lock

import numpy as np
import pyarrow as pa

from neardup.documents import Collection
from neardup.engines.batch.intake import joined_prepared, rows_of, take_in
from neardup.matching.evidence import EvidenceStore
from neardup.methods.base import Prepared
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.runs.outcome import Intake
from neardup.schema import Array, Ragged


def counts_while_reading(plan: Plan) -> bool:
    """Whether nothing but the input has to be counted, and all of it."""
    method = plan.method
    given = any(need.file is not None for need in method.needs)
    elsewhere = bool(plan.against) or plan.planted_cut or plan.limit is not None
    return method.weighs_last and not given and not elsewhere


def take_in_counting(
    collection: Collection, plan: Plan, progress: Progress, store: EvidenceStore
) -> tuple[Intake, Plan]:
    """Evidence goes into ``store``; the plan comes back with the artefacts that were counted."""
    counters = {need.name: need.counter() for need in plan.method.needs}
    lock = Lock()

    def read(records: pa.RecordBatch) -> Prepared:
        unweighed = plan.method.read_unweighed(records)
        with lock:  # the order does not matter: counts are sums
            for name, counter in counters.items():
                counter.add(unweighed.counted[name])
        return unweighed.prepared

    intake = take_in(collection, plan, progress, store, read)
    counted = {name: counter.finish() for name, counter in counters.items()}
    plan = replace(plan, artefacts={**plan.artefacts, **counted})
    return _weighed(intake, plan), plan


def _weighed(intake: Intake, plan: Plan) -> Intake:
    # By the first document and the size: an empty block begins where the next one does.
    parts: dict[tuple[int, int], Prepared] = {}

    def weigh(first: int, evidence: Ragged) -> Array:
        rows = rows_of(intake.prepared, np.arange(first, first + len(evidence)), evidence)
        weighed = plan.method.weigh(rows, plan.artefacts)
        parts[first, len(evidence)] = replace(weighed, evidence=intake.prepared.evidence)
        return weighed.evidence.values

    intake.store.rewrite(weigh, plan.workers)
    in_order = [part for _, part in sorted(parts.items(), key=lambda item: item[0])]
    return replace(intake, prepared=joined_prepared(in_order))
