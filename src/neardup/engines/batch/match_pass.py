"""Pass 2 on one machine: keys → verified pairs → the rule, for documents with unlike evidence.

Works on places in ``order``: leaders, first to last by the policy. Pairs of small groups are
verified at once; hot groups are looked at more closely (``matching/rare.py``) and then walked.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from neardup.artefacts.calibration import UNLIKE, Calibration
from neardup.decisions.rule import Verdict, decide
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.threshold_choice import Answers
from neardup.matching.background import standing_out
from neardup.matching.candidates import Candidates, Leaders, Verify
from neardup.matching.finder import candidates
from neardup.matching.verify import Pairs, Verifier
from neardup.methods.base import Method, Scores
from neardup.plan import Plan
from neardup.runs.outcome import Intake
from neardup.schema import Array, Ragged


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
    if plan.method.calibrate:
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
    verify = _in_order(verifier.scoring(method.low_score), order, refs)
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


def _whole(method: Method) -> Callable[[Ragged, Array, Array], Scores]:
    def score(evidence: Ragged, a: Array, b: Array) -> Scores:
        return Scores(np.ones(len(a), np.bool_), method.whole_score(evidence, a, b))

    return score


def _in_order(verifier: Verifier, order: Array, refs: int) -> Verify:
    """Places are turned into documents for scoring only."""

    def verify(a: Array, b: Array) -> Pairs:
        if refs:
            decided = (a >= refs) | (b >= refs)
            a, b = a[decided], b[decided]
        scored = verifier.scores(order[a], order[b])
        return Pairs(a[scored.passed], b[scored.passed], scored.score[scored.passed])

    return verify
