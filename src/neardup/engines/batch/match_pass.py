"""Pass 2 on one machine: keys → verified pairs → the rule, for documents with unlike evidence.

Works on places in ``order``: leaders, first to last by the policy. Pairs of small groups are
verified at once; hot groups are looked at more closely (``matching/rare.py``) and then walked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from neardup.artefacts.calibration import UNLIKE, Calibration
from neardup.decisions.rule import Verdict, decide
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.threshold_choice import Answers
from neardup.matching.background import standing_out
from neardup.matching.candidates import (
    Groups,
    distinct,
    pairs_sharing,
    pairs_within,
    share_keys,
    that_share_a_key,
    that_share_keys,
)
from neardup.matching.near_bits import near_pairs
from neardup.matching.paths import path_pairs
from neardup.matching.rare import rare_groups, refine
from neardup.matching.verify import Pairs, Verifier
from neardup.methods.base import (
    BitsMethod,
    CalibratedMethod,
    OverlapMethod,
    PathMethod,
    Scores,
    least_shared,
)
from neardup.plan import Plan
from neardup.runs.outcome import Intake
from neardup.schema import Array, Ragged

SMALL_GROUP = 128  # more documents that share a key are near copies, or the table is of others

Verify = Callable[[Array, Array], Pairs]


@dataclass(frozen=True)
class Candidates:
    """Verified pairs of small groups, groups still to be walked, and how to verify those."""

    pairs: Pairs
    hot: Groups
    verify: Verify


def match(
    intake: Intake,
    plan: Plan,
    order: Array,
    within: Array | None,
    followed: Array,
    verifier: Verifier,
    refs: int,
    answers: Answers,
) -> tuple[Verdict, bool, Plan]:
    """The verdict on leaders, whether all their pairs were seen, and the plan as calibrated. The
    first ``refs`` places are references: they never meet each other. ``answers`` are there for a
    calibration."""
    codes = None if within is None else within[order]
    verify = _in_order(verifier, order, refs)
    found = _finder(plan)(intake, plan, order, codes, verify)
    if isinstance(plan.method, CalibratedMethod) and plan.method.calibrate:
        found, plan = _calibrated(found, intake, plan, order, codes, verifier, refs, answers)
    verdict = decide(len(order), found.pairs, found.hot, found.verify, followed[order], refs)
    return verdict, not len(found.hot), plan


def _calibrated(
    found: Candidates,
    intake: Intake,
    plan: Plan,
    order: Array,
    codes: Array | None,
    verifier: Verifier,
    refs: int,
    answers: Answers,
) -> tuple[Candidates, Plan]:
    method, cut = plan.method, plan.artefacts.get(threshold_choice.NAME)
    assert isinstance(method, CalibratedMethod)
    digests = intake.prepared.normal_digests[order]
    places = np.flatnonzero(~intake.prepared.too_short[order])
    if not isinstance(cut, Calibration) and threshold_choice.is_unlike(plan):
        cut = Calibration(method.threshold, UNLIKE)
        plan = threshold_choice.with_calibration(plan, cut)
    if not isinstance(cut, Calibration):
        faint, may = threshold_choice.background_pairs(places, order, codes, method, intake.store)
        texts, every = intake.prepared.text_digests[order], not len(found.hot)
        cut = threshold_choice.calibrated(
            found.pairs, faint, may, digests, texts, method, answers, every_pair=every
        )
        plan = threshold_choice.with_calibration(plan, cut)
    level = cut.threshold
    # From here on as with a calibration that was given: who is not listed cannot stand out.
    listed = places[np.isin(digests[places], cut.digests)]
    faint, _ = threshold_choice.faint_pairs(listed, order, codes, method, intake.store)
    faint = faint.where(cut.lists(digests[faint.a], digests[faint.b]))
    verify = _in_order(verifier.scoring(method.faint_score), order, refs)
    out = standing_out(verify(faint.a, faint.b), cut.cuts_of(digests))
    score = verifier.scoring(_whole(method)).scores(order[out.a], order[out.b]).score
    stands_out = Pairs(out.a, out.b, score)

    def above(a: Array, b: Array) -> Pairs:
        pairs = found.verify(a, b)
        return pairs.where(pairs.score >= level)

    passing, below = found.pairs.where(found.pairs.score >= level), score < level
    both = Pairs.concat([passing, stands_out.where(below)])
    if not below.all():  # they reach the cut, and may share too few keys to have met
        both = Pairs.concat([both, stands_out.where(~below)]).distinct()
    return Candidates(both, found.hot, above), plan


def _whole(method: CalibratedMethod) -> Callable[[Ragged, Array, Array], Scores]:
    def score(evidence: Ragged, a: Array, b: Array) -> Scores:
        return Scores(np.ones(len(a), np.bool_), method.whole_score(evidence, a, b))

    return score


def _finder(plan: Plan) -> Callable[..., Candidates]:
    if plan.by_paths:
        return _by_paths
    if least_shared(plan.method) > 1:
        return _by_several_keys
    if not plan.keys_from_evidence:
        return _by_keys
    return _by_bits if isinstance(plan.method, BitsMethod) else _by_rare_features


def _by_rare_features(
    intake: Intake, plan: Plan, order: Array, codes: Array | None, verify: Verify
) -> Candidates:
    # What stands for a short document is a digest, not features: its equals are collapsed
    # already, and anything else that shares a number with it does so by accident.
    long = np.flatnonzero(~intake.prepared.too_short[order])
    assert isinstance(plan.method, OverlapMethod)  # keys_from_evidence says so
    found = rare_groups(long, order, codes, plan.method, intake.store)
    assert found is not None  # it may make as many pairs as there are
    groups = distinct(found)
    a, b, hot = pairs_within(groups, plan.pair_budget(len(order)))
    return Candidates(verify(a, b), hot, verify)


def _by_bits(
    intake: Intake, plan: Plan, order: Array, codes: Array | None, verify: Verify
) -> Candidates:
    assert isinstance(plan.method, BitsMethod)
    long = np.flatnonzero(~intake.prepared.too_short[order])
    budget = plan.pair_budget(len(order))
    a, b, crowds = near_pairs(long, order, codes, plan.method, intake.store, budget)
    return Candidates(verify(a, b), distinct(crowds), verify)


def _by_paths(
    intake: Intake, plan: Plan, order: Array, codes: Array | None, verify: Verify
) -> Candidates:
    assert isinstance(plan.method, PathMethod)
    long = np.flatnonzero(~intake.prepared.too_short[order])
    a, b, crowds = path_pairs(long, order, codes, plan.method, intake.store, plan.workers)
    found = [verify(a, b)]
    c, d, hot = pairs_within(distinct(crowds), plan.usual_pairs(len(order)))
    found.append(verify(c, d))
    if len(hot):
        hot = refine(hot, order, codes, plan.method, intake.store, verify)
        e, f, hot = pairs_within(hot, plan.pair_budget(len(order)) - len(c))
        found.append(verify(e, f))
    return Candidates(Pairs.concat(found).distinct(), hot, verify)


def _by_keys(
    intake: Intake, plan: Plan, order: Array, codes: Array | None, verify: Verify
) -> Candidates:
    keys, probes = intake.prepared.keys.take(order), intake.prepared.probes[order]
    groups = distinct(share_keys(keys, probes, codes))
    a, b, hot = pairs_within(groups, plan.usual_pairs(len(order)))
    cold = verify(a, b)
    if not len(hot):
        return Candidates(cold, hot, verify)

    # Rare features may bring together what shares no key; engines must not differ in that.
    def verify_sharing(a: Array, b: Array) -> Pairs:
        return verify(*that_share_a_key(keys, probes, a, b))

    hot = refine(hot, order, codes, plan.method, intake.store, verify)
    a, b, hot = pairs_within(hot, plan.pair_budget(len(order)) - len(a))
    cold = Pairs.concat([cold, verify_sharing(a, b)]).distinct()
    return Candidates(cold, hot, verify_sharing)


def _by_several_keys(
    intake: Intake, plan: Plan, order: Array, codes: Array | None, verify: Verify
) -> Candidates:
    keys, probes = intake.prepared.keys.take(order), intake.prepared.probes[order]
    least = least_shared(plan.method)
    groups = share_keys(keys, probes, codes)
    small = groups.members.lengths <= SMALL_GROUP
    a, b = pairs_sharing(groups.where(small), len(order), least)

    def verify_sharing(a: Array, b: Array) -> Pairs:
        return verify(*that_share_keys(keys, least, a, b))

    c, d, hot = pairs_within(distinct(groups.where(~small)), plan.pair_budget(len(order)))
    found = Pairs.concat([verify(a, b), verify_sharing(c, d)]).distinct()
    return Candidates(found, hot, verify_sharing)


def _in_order(verifier: Verifier, order: Array, refs: int) -> Verify:
    """Places are turned into documents for scoring only."""

    def verify(a: Array, b: Array) -> Pairs:
        if refs:
            decided = (a >= refs) | (b >= refs)
            a, b = a[decided], b[decided]
        scored = verifier.scores(order[a], order[b])
        return Pairs(a[scored.passed], b[scored.passed], scored.score[scored.passed])

    return verify
