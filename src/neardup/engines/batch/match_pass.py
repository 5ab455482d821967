"""Matching on one machine: documents with unlike evidence → verified pairs → the rule.

Everything works on places in the order of the policy. How documents meet is declared by the method
(``matching/finder.py``), and whether a pair passes is decided by the scorer
(``matching/scorer.py``). A method that calibrates itself is matched as far down as the collection
may move its threshold; then the calibration is made, or taken as given, and applied. With a given
calibration by consistency, the pairs that meet are decided by it at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neardup.artefacts.calibration import UNLIKE, Calibration
from neardup.decisions.rule import Verdict, decide
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.threshold_choice import Answers
from neardup.matching import consistency
from neardup.matching.background import background_pairs, low_scoring_pairs
from neardup.matching.candidates import Candidates, Leaders, Verify
from neardup.matching.evidence import Pairs, Verifier
from neardup.matching.finder import candidates
from neardup.matching.scorer import ROUNDING, Scorer
from neardup.methods.base import Comparisons
from neardup.plan import Plan
from neardup.runs.outcome import Intake
from neardup.schema import Array


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
    leaders = Leaders(
        order,
        codes,
        intake.prepared,
        intake.store,
        plan.usual_pairs(len(order)),
        plan.pair_budget(len(order)),
        plan.workers,
    )
    found = candidates(plan.method.meeting, leaders, verify)
    if threshold_choice.asks_consistency(plan.method):
        if Calibration.kind not in plan.artefacts:  # else these are already the pairs that pass
            found, plan = _consistent(found, plan, leaders, verifier, refs, answers)
    elif plan.method.calibrate:
        found, plan = _calibrated(found, intake, plan, leaders, verifier, refs, answers)
    most = leaders.most_compared
    verdict = decide(len(order), found.pairs, found.hot, found.verify, followed[order], refs, most)
    verdict.capped[found.capped] = True
    return verdict, not len(found.hot), plan


def _calibrated(
    found: Candidates,
    intake: Intake,
    plan: Plan,
    leaders: Leaders,
    verifier: Verifier,
    refs: int,
    answers: Answers,
) -> tuple[Candidates, Plan]:
    """The candidates that pass by the calibration of the plan, which is made here where it has
    none, and exceptions below the threshold."""
    forms, places = intake.prepared.normal_digests, leaders.long
    if Calibration.kind not in plan.artefacts:
        plan = threshold_choice.with_calibration(plan, _calibration(found, plan, leaders, answers))
    scorer = Scorer(plan.method, plan.artefacts)

    def verify(a: Array, b: Array) -> Pairs:
        pairs = found.verify(a, b)
        return pairs.where(scorer.reached(pairs.score))

    passing = found.pairs.where(scorer.reached(found.pairs.score))
    if scorer.exceptions is not None:
        # As with a calibration that was given: a document that is not listed has no exceptions.
        listed = places[scorer.exceptions.has(forms[leaders.order[places]])]
        low, _ = low_scoring_pairs(listed, leaders, plan.method)
        one, other = (forms[leaders.order[side]] for side in (low.a, low.b))
        low = low.where(scorer.exceptions.lists(one, other))
        again = _in_order(verifier.scoring(scorer.scores, forms), leaders.order, refs)
        exceptions = again(low.a, low.b)
        passing = Pairs.concat([passing, exceptions])
        if scorer.reached(exceptions.score).any():  # it shared too few keys to have met before
            passing = passing.distinct()
    return replace(found, pairs=passing, verify=verify), plan


def _consistent(
    found: Candidates,
    plan: Plan,
    leaders: Leaders,
    verifier: Verifier,
    refs: int,
    answers: Answers,
) -> tuple[Candidates, Plan]:
    """The candidates that pass by the consistency of their groups. Documents of groups that are too
    large to be compared in full take no part in the choice of the threshold."""
    prepared, order = leaders.prepared, leaders.order
    forms, method = prepared.normal_digests, plan.method

    def compare(a: Array, b: Array) -> Comparisons:
        return verifier.compared(method, order[a], order[b])

    partial = np.zeros(len(order), np.bool_)
    partial[found.hot.members.values] = True
    calibration = threshold_choice.calibrated_by_consistency(
        found.pairs.where(~partial[found.pairs.a] & ~partial[found.pairs.b]),
        prepared.digests[order],
        forms[order],
        prepared.text_digests[order],
        compare,
        answers,
    )
    plan = threshold_choice.with_calibration(plan, calibration)
    scores = Scorer(plan.method, plan.artefacts).scores
    again = verifier.scoring(scores, forms)
    # Pairs that are far below the threshold are not scored again.
    least = consistency.LEAST if len(calibration.pairs) else calibration.threshold - ROUNDING
    some = found.pairs.where(found.pairs.score >= least)
    pairs = _in_order(again, order, refs)(some.a, some.b)
    verifier.refused = again.refused
    verifier.decide_by(scores, forms)
    return replace(found, pairs=pairs), plan


def _calibration(found: Candidates, plan: Plan, leaders: Leaders, answers: Answers) -> Calibration:
    if threshold_choice.is_unlike(plan):
        return Calibration(plan.method.threshold, UNLIKE)
    low, may = background_pairs(leaders, plan.method)
    prepared, order = leaders.prepared, leaders.order
    return threshold_choice.calibrated(
        found.pairs,
        low,
        may,
        prepared.normal_digests[order],
        prepared.text_digests[order],
        plan.method,
        answers,
        every_pair=not len(found.hot),
    )


def _in_order(verifier: Verifier, order: Array, refs: int) -> Verify:
    """Places are turned into documents for scoring only."""

    def verify(a: Array, b: Array) -> Pairs:
        if refs:
            decided = (a >= refs) | (b >= refs)
            a, b = a[decided], b[decided]
        scored = verifier.scores(order[a], order[b])
        return Pairs(a[scored.passed], b[scored.passed], scored.score[scored.passed])

    return verify
