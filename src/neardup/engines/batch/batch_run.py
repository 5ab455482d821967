"""The batch engine: one collection, one machine, one plan → an outcome.

Documents are taken in and put in the order of the policy. Documents with equal evidence are
collapsed, the others are matched, the rule decides, and copies follow their leaders. At the end the
texts of pairs are aligned to find the kinds of duplicates, which changes no decision.

Matching works on places in the order of the policy. How documents meet is declared by the method
(``matching/candidates.py``), and whether a pair passes is decided by the scorer
(``matching/scorer.py``). A method that calibrates itself is matched as far down as the collection
may move its threshold; then the calibration is made, or taken as given, and applied. With a given
calibration by consistency, the pairs that meet are decided by it at once.

Pairs that share little of their texts, or that may pass below the threshold, are read again: would
a reader recognise them as the same text? A text that cannot be read again passes with no other.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from neardup.artefacts.calibration import UNLIKE, Calibration
from neardup.classes import dataclass
from neardup.decisions.clusters import average_clusters, components
from neardup.decisions.kinds import by_digests
from neardup.decisions.order import check_preferred, group_codes
from neardup.decisions.rule import Decided, Verdict, decide, decide_all, rule_clusters
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns
from neardup.documents.inputs import SOURCE
from neardup.engines.batch import threshold_choice
from neardup.engines.batch.intake import evidence_store, take_in, take_in_counting
from neardup.engines.batch.journal import Journal
from neardup.engines.batch.memory import be_frugal, keep_freed, relieve
from neardup.engines.batch.references import joined, reference_texts, take_references
from neardup.engines.batch.threshold_choice import NO_ANSWERS, Answers, first_scorer, known_scores
from neardup.matching import consistency
from neardup.matching.background import background_pairs, low_scoring_pairs
from neardup.matching.candidates import Candidates, Leaders, Verify, candidates, leaders
from neardup.matching.evidence import Pairs, Verifier
from neardup.matching.scorer import ROUNDING, Scorer
from neardup.methods.base import Comparisons
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.runs.run_tables import (
    BLOCK_BYTES,
    Intake,
    Outcome,
    PairKinds,
    all_pairs,
    kinds_of_texts,
)
from neardup.runs.texts_again import Means, Rows, TextsAgain, found_in, reread, text_keys
from neardup.schema import Array, blocks_of, slices_of
from neardup.settings import USUAL_MEMORY
from neardup.text import recognition

LEAST_CHUNK = 1 << 20  # bytes that are read at a time where memory is scarce


def run(
    collection: Collection,
    plan: Plan,
    progress: Progress,
    folder: Path | None = None,
    journal: Journal | None = None,
) -> tuple[Outcome, Plan]:
    """The plan comes back as it was in the end: calibrated, where its method asks for it."""
    clock = Clock()
    if plan.memory < USUAL_MEMORY:  # freed memory is given back at once
        be_frugal()
        collection.read_in(max(plan.memory // 256, LEAST_CHUNK))
    else:
        keep_freed()
    counted = plan.artefacts.keys() >= {need.name for need in plan.method.needs}
    store = evidence_store(plan, folder, weighed=counted)
    references = None
    if plan.against:
        references = take_references(plan, store, progress, offered=collection.inputs.offered)
    if counted:
        intake = take_in(collection, plan, progress, store, journal=journal)
    else:
        intake, plan = take_in_counting(collection, plan, progress, store)
    clock.lap("reading")
    relieve()
    if collection.inputs.offered:
        names = list(collection.source_names.values())
        check_preferred(plan.keep, intake.extra.get(SOURCE), names)
    values = [] if plan.keep.by_position else plan.keep.values(intake.lengths, intake.extra)
    rank = plan.keep.rank_of(values, len(intake))
    if values:
        intake = replace(intake, undated=plan.keep.undated(values, intake.extra))
    refs = len(references) if references else 0
    if references and refs:
        intake = joined([references, intake], plan)
        rank = np.concatenate([np.arange(refs), refs + rank])
    rank = rank.astype(np.int32)
    if journal and (known := journal.decided(intake, plan)):
        return known
    answers = Answers(
        functools.partial(known_scores, collection, plan, plan.method, progress),
        functools.partial(
            recognised_pairs,
            collection,
            plan,
            progress,
            rows=functools.partial(_rows_with, intake, refs),
        ),
    )
    outcome, plan = decide_intake(
        intake, plan, rank, progress, refs=refs, clock=clock, answers=answers
    )
    if journal:
        journal.keep_decided(outcome, plan)
    return outcome, plan


def decide_intake(
    intake: Intake,
    plan: Plan,
    rank: Array,
    progress: Progress,
    *,
    refs: int = 0,
    clock: Clock | None = None,
    answers: Answers = NO_ANSWERS,
) -> tuple[Outcome, Plan]:
    """Everything after documents were taken in and their order is known. Without ``answers``
    a calibration moves no threshold, and nothing passes below it."""
    clock = clock or Clock()
    column = intake.extra.get(plan.within or "")
    within = None if column is None else group_codes(column, str(plan.within))
    progress.stage("matching", unit="pairs")
    scorer = first_scorer(plan)
    verifier = Verifier(
        scorer.scores,
        intake.store,
        forms=intake.prepared.normal_digests if scorer.asks_forms else None,
        workers=plan.workers,
        progress=progress.advance,
        in_place=plan.method.scores_in_place,
    )
    leader = leaders(intake.prepared.digests, rank, within)
    if plan.method.confirms_copies:
        leader = _confirmed(leader, verifier)
    follower = leader != np.arange(len(leader), dtype=leader.dtype)
    followed = np.zeros(len(leader), bool)
    followed[leader[follower]] = True
    order = np.flatnonzero(~follower)
    if np.any(np.diff(rank[order]) < 0):
        order = order[np.argsort(rank[order], kind="stable")]
    leading_refs = int((order < refs).sum())  # they come first in the order
    verdict, complete, plan = match(
        intake, plan, order, within, followed, verifier, leading_refs, answers
    )
    clock.lap("matching")
    relieve()
    progress.stage("deciding")
    kept_of = np.full(len(leader), -1, np.int64)
    score = np.zeros(len(leader))
    aside = verdict.kept_of >= 0
    kept_of[order[aside]] = order[verdict.kept_of[aside]]
    score[order] = verdict.score
    pairs = verdict.pairs.mapped(order)
    decided = decide_all(leader, rank, kept_of, score, pairs)
    decided.kept_of[:refs] = -1  # not decided among themselves
    cluster = _clusters(plan, leader, decided, pairs)
    clock.lap("deciding")
    progress.finish()
    outcome = Outcome(
        intake=intake,
        rank=rank,
        leader=leader,
        decided=decided,
        cluster=cluster,
        pairs=pairs,
        pairs_complete=complete,
        candidates=verifier.scored,
        timings=clock.laps,
        refs=refs,
        refused=verifier.refused,
        capped=int(verdict.capped.sum()),
    )
    return outcome, plan


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
        plan.method.threshold,
        intake.keys,
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

    partial = np.zeros(len(order), np.bool_)
    partial[found.hot.members.values] = True
    pairs = found.pairs.where(~partial[found.pairs.a] & ~partial[found.pairs.b])
    places, pairs = pairs.alone(len(order))
    paired = order[places]

    def compare(a: Array, b: Array) -> Comparisons:
        return verifier.compared(method, paired[a], paired[b])

    calibration = threshold_choice.calibrated_by_consistency(
        pairs,
        prepared.digests[paired],
        forms[paired],
        prepared.text_digests[paired],
        compare,
        answers,
        len(order),
    )
    plan = threshold_choice.with_calibration(plan, calibration)
    scores = Scorer(plan.method, plan.artefacts).scores
    again = verifier.scoring(scores, forms)
    # Pairs that are far below the threshold are not scored again.
    least = consistency.LEAST if len(calibration.pairs) else calibration.threshold - ROUNDING
    some = found.pairs.where(found.pairs.score >= least)
    pairs = _in_order(again, order, refs)(some.a, some.b)
    # From now on, pairs of hot groups are decided by the calibration too.
    verifier.refused, verifier.score, verifier.forms = again.refused, scores, forms
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


def _confirmed(leader: Array, verifier: Verifier) -> Array:
    """A follower that is not what its digest says stands for itself."""
    follower = np.flatnonzero(leader != np.arange(len(leader)))
    passed = verifier.scores(follower, leader[follower]).passed
    confirmed = leader.copy()
    confirmed[follower[~passed]] = follower[~passed]
    return confirmed


def _clusters(plan: Plan, leader: Array, decided: Decided, pairs: Pairs) -> Array:
    if plan.clusters == "rule":
        return rule_clusters(decided.kept_of)
    if plan.clusters == "average":
        return average_clusters(leader, pairs, plan.method.threshold)
    everyone = np.arange(len(leader))
    aside = np.flatnonzero(decided.kept_of >= 0)
    a = np.concatenate([pairs.a, everyone, aside])
    b = np.concatenate([pairs.b, leader, decided.kept_of[aside]])
    return components(len(leader), a, b)


@dataclass
class Clock:
    last: float = field(default_factory=time.perf_counter)
    laps: dict[str, float] = field(default_factory=dict)

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self.laps[name] = now - self.last
        self.last = now


def find_kinds(
    collection: Collection,
    plan: Plan,
    outcome: Outcome,
    progress: Progress,
    folder: Path | None = None,
    room: Array | None = None,
) -> PairKinds | None:
    """The kinds of the pairs that the plan asks for; None where it asks for none. Texts are read
    again, into ``room`` where it is given, only for pairs whose kind does not follow from equal
    digests."""
    if plan.kinds == "none":
        return None
    began = time.perf_counter()
    a = np.flatnonzero(outcome.decided.kept_of >= 0)
    b = outcome.decided.kept_of[a]
    if plan.kinds != "decided":
        pairs, _ = all_pairs(outcome, plan.pair_budget(outcome.intake.total))
        a, b = np.concatenate([a, pairs.a]), np.concatenate([b, pairs.b])
    means = Means(plan.workers, plan.texts_limit(len(outcome.intake)), folder, progress, room)
    prepared = outcome.intake.prepared
    open_ = by_digests(a, b, prepared.text_digests, prepared.normal_digests).kind < 0
    digests = np.unique(prepared.text_digests[np.concatenate([a[open_], b[open_]])])
    text = _numbers(digests, prepared.text_digests)
    inputs = _texts_again(collection, plan)
    rows = functools.partial(_rows_with, outcome.intake, outcome.refs)
    found = kinds_of_texts(digests, text, a[open_], b[open_], inputs, text_keys, means, rows)
    progress.finish()
    outcome.timings["kinds"] = time.perf_counter() - began
    return found


def _numbers(digests: Array, of_documents: Array) -> npt.NDArray[np.int32]:
    """The place of each document's digest among ``digests``, which are sorted; −1 for others. Few
    documents are in pairs, so they are looked up in blocks, which take no memory of their own."""
    number = np.full(len(of_documents), -1, np.int32)
    for block in blocks_of(len(of_documents)):
        numbers, rows = found_in(digests, of_documents[block])
        number[block][rows] = numbers
    return number


def _texts_again(collection: Collection, plan: Plan) -> list[tuple[Collection, Columns]]:
    """The collections whose texts are read again: the input, and the references if there are
    any."""
    own = (collection, Columns(text=plan.columns.text, id=plan.columns.id))
    return [own, *reference_texts(plan)] if plan.against else [own]


def _rows_with(intake: Intake, refs: int, digests: Array) -> dict[str, Array]:
    """The rows of the input, by file, that have the texts with these digests, which are sorted."""
    text = intake.prepared.text_digests[refs:]
    blocks = [(block.start, *found_in(digests, text[block])) for block in blocks_of(len(text))]
    numbers = np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers, _ in blocks)])
    rows = np.concatenate([np.empty(0, np.int64), *(rows + start for start, _, rows in blocks)])
    first = rows[np.unique(numbers, return_index=True)[1]]
    file, row = intake.file[refs:][first], intake.row[refs:][first].astype(np.int64)
    order = np.lexsort((row, file))
    bounds = np.searchsorted(file[order], np.arange(1, len(intake.files)))
    return dict(zip(intake.files, np.split(row[order], bounds), strict=True))


def recognised_pairs(
    collection: Collection,
    plan: Plan,
    progress: Progress,
    a: Array,
    b: Array,
    floor: int,
    rows: Callable[[Array], Rows] | None = None,
) -> npt.NDArray[np.bool_]:
    """Which pairs of texts, given by their digests, share at least ``floor`` percent.
    ``rows`` returns where texts with some digests were read before."""
    wanted, numbers = np.unique(np.concatenate([a, b]), return_inverse=True)
    progress.stage("rereading", len(wanted), unit="texts")
    means = Means(plan.workers, plan.texts_limit(0), None, progress)
    inputs, places = _texts_again(collection, plan), rows(wanted) if rows else None
    again = reread(wanted, inputs, text_keys, means, places)
    progress.stage("comparing", len(a), unit="pairs")
    try:
        pairs = numbers[: len(a)], numbers[len(a) :]
        return _compared(again, *pairs, floor, plan.workers, progress)
    finally:
        again.store.close()


def _compared(
    again: TextsAgain, a: Array, b: Array, floor: int, workers: int, progress: Progress
) -> npt.NDArray[np.bool_]:
    """Block by block; what was not read again is recognised nowhere."""
    enough = np.zeros(len(a), np.bool_)
    readable = np.flatnonzero((again.slot[a] >= 0) & (again.slot[b] >= 0))
    # One after the other, pairs of the same text, so that a block has few texts.
    readable = readable[np.lexsort((a[readable], b[readable]))]

    def of_block(block: slice) -> tuple[Array, Array]:
        chosen = readable[block]
        texts, where = again.texts(np.concatenate([a[chosen], b[chosen]]))
        same = recognition.recognised_pairs(
            texts, where[: len(chosen)], where[len(chosen) :], floor
        )
        progress.advance(len(chosen))
        return chosen, same

    blocks = slices_of(again.lengths[a[readable]] + again.lengths[b[readable]], BLOCK_BYTES)
    with ThreadPoolExecutor(workers) as pool:
        for chosen, same in pool.map(of_block, blocks):
            enough[chosen] = same
    progress.advance(len(a) - len(readable))
    return enough
