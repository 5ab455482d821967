"""The collection says where duplicates begin: candidates of a calibrated method, cut anew.

What comes out is an artefact. Where a run is given one it is taken as it is, so that engines, and
runs built on this one, decide alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.artefacts.calibration import Calibration, Scale
from neardup.matching.background import own_cuts, stability, standing_out, valley
from neardup.matching.candidates import share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.matching.rare import evidence_blocks
from neardup.matching.verify import Pairs
from neardup.methods.method import CalibratedMethod
from neardup.plan import Plan
from neardup.schema import Array, Ragged

NAME = "calibration"
FEWEST_DOCUMENTS = 200  # fewer have no background to stand out from
FEWEST_SHARED = 5
LARGEST_GROUP = 64  # what more have is not rare, whatever the table says
MOST_FEATURES = 256 << 20  # of more, one in so many stands for all


def with_calibration(plan: Plan, found: Calibration) -> Plan:
    """The plan with its threshold where the calibration puts it."""
    method = replace(plan.method, threshold=found.threshold)  # type: ignore[type-var]  # by contract
    return replace(plan, method=method, artefacts={**plan.artefacts, NAME: found})


class Faint(NamedTuple):
    """Pairs in places; their scores are rough, and those of one scale."""

    pairs: Pairs
    scale: Scale


def calibrated(
    pairs: Pairs, faint: Faint, digests: Array, usual: float, *, every_pair: bool
) -> Calibration:
    """``pairs`` passed the ``usual`` threshold; ``faint`` ones may stand out. ``digests`` are those
    of the documents' normal forms. Of some of the pairs no distribution is told."""
    cut = valley(pairs.score if every_pair else pairs.score[:0], usual)
    cuts = own_cuts(len(digests), faint.pairs, usual)
    if len(digests) < FEWEST_DOCUMENTS:
        cuts[:] = cut.threshold
    out = standing_out(faint.pairs.where(faint.pairs.score < cut.threshold), cuts)
    listed = np.unique(np.concatenate([out.a, out.b]))
    named, first = np.unique(digests[listed], return_index=True)
    stored = np.nextafter(cuts[listed[first]].astype(np.float32), np.float32(1))
    steady = stability(pairs.score, cut.threshold)
    return Calibration(cut.threshold, cut.clear, named, stored, steady, faint.scale)


def faint_pairs(
    places: Array,
    order: Array,
    within: Array | None,
    method: CalibratedMethod,
    store: EvidenceStore,
    scale: Scale | None = None,
) -> Faint:
    """Pairs, in places, that share rare features, with the score that these alone would give: a
    little less than their true one."""
    every = scale.every if scale else _every(places, order, store)
    entries, weights = _faint_entries(places, order, method, store, every)
    codes = None if within is None else within[places]
    groups = share_keys(entries, entries.lengths.astype(np.int32), codes)
    members = groups.where(groups.members.lengths <= LARGEST_GROUP).members
    least = max(2, -(-FEWEST_SHARED // every))
    a, b, shared = _native.sharing_pairs(members.values, members.offsets, len(places), least)
    scale = scale or Scale(every, _mean_weight(entries) * every)
    weight = shared * scale.weight
    score = weight / np.maximum(weights[a] + weights[b] - weight, weight)
    return Faint(Pairs(places[a], places[b], score), scale)


def _every(places: Array, order: Array, store: EvidenceStore) -> int:
    return 1 + int(store.lengths[order[places]].sum()) // MOST_FEATURES


def _mean_weight(entries: Ragged) -> float:
    total = (entries.values & np.uint64(0xFFFFFFFF)).sum()
    return float(total / max(len(entries.values), 1))


def _faint_entries(
    places: Array, order: Array, method: CalibratedMethod, store: EvidenceStore, every: int
) -> tuple[Ragged, Array]:
    entries, weights, at = [], [], []
    for evidence, where in evidence_blocks(places, order, store):
        some, heavy = method.faint_entries(evidence, every)
        entries.append(some)
        weights.append(heavy)
        at.append(where)
    if not at:
        return Ragged.concat([], np.uint64), np.empty(0, np.int64)
    back = np.argsort(np.concatenate(at), kind="stable")
    return Ragged.concat(entries, np.uint64).take(back), np.concatenate(weights)[back]
