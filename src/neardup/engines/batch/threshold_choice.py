"""The collection shows where duplicates begin: the calibration of a run is made here.

A method whose ``calibration`` is "consistency", as that of the default is, has its threshold where
the groups of the collection are most consistent (``chosen_threshold`` in
``matching/consistency.py``), and pairs that share little text are read. Another method that
calibrates itself moves its threshold to a gap in the scores, or to where the fewest pairs are in
doubt (``matching/background.py``). A gap is believed where the answer is steady around it and known
answers do not speak against it. Pairs below the threshold pass as exceptions where
they are far above the background of both documents and a reader would find the one text in the
other (``engines/batch/batch_run.py``). For other methods known answers choose the threshold,
before anything is matched. Some (``Method.groups_choose``) are matched once at the lowest threshold
before, and have the one at which the groups are most consistent, if the groups show one.

Known answers are a few documents of the collection, copied with edits that leave a copy to any
reader, and decoys: pairs that share only a frame (``planting/``). A threshold is worth the F1 that
it has on as many copies as decoys. Only these pairs are scored, so that costs no matching; long
texts are represented by their beginnings.

The result is an artefact. Where a run is given one it is taken as it is, so that engines, and runs
built on this one, decide alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import schema
from neardup.artefacts.calibration import (
    LEAST_DOUBT,
    PLANTED,
    USUAL,
    VALLEY,
    Calibration,
    sorted_pairs,
)
from neardup.classes import dataclass
from neardup.documents.collection import Collection
from neardup.errors import InputError
from neardup.matching import consistency
from neardup.matching.background import (
    ScoreGap,
    above_both,
    least_doubt,
    own_thresholds,
    score_gap,
    stability,
)
from neardup.matching.evidence import Pairs
from neardup.matching.scorer import Scorer
from neardup.methods.base import Comparisons, Method
from neardup.methods.meeting import SPREAD
from neardup.methods.thresholds import CUTS, Cut, Swept, swept
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array
from neardup.text import recognition

if TYPE_CHECKING:
    from neardup.planting.plant import Planted

EDITS = (
    *("substitutions=0.05", "substitutions=0.1", "insertions=0.1", "deletions=0.1"),
    *("numbers=1", "excerpt-first=0.75", "paragraphs=0.25", "sentences=0.25"),
    *("ocr=0.01", "boilerplate=0.25", "layout=0.1"),
)
PER_EDIT, PER_SHARE = 10, 20  # copies of each edit, decoys of each share of frame
LONGEST = 12_000  # characters of a document that are copied
NEAR = 0.02  # thresholds whose worth is that near to the best are as good


@dataclass(frozen=True)
class KnownScores:
    """Scores of copies with their originals and of decoys with their twins; 0 where a pair was
    refused or is below the lowest threshold."""

    copies: Array
    decoys: Array

    def found(self, threshold: float) -> float:
        """The share of the copies that pass."""
        return float(np.mean(self.copies >= threshold))

    def wrong(self, threshold: float) -> float:
        """The share of the decoys that pass."""
        return float(np.mean(self.decoys >= threshold))

    def worth(self, threshold: float) -> float:
        from neardup.planting.plant import worth

        return worth(self.found(threshold), self.wrong(threshold))


def known_scores(
    collection: Collection, plan: Plan, method: Method, progress: Progress
) -> KnownScores | None:
    """Scored by ``method`` with the artefacts of the plan; None where nothing can be planted."""
    from neardup.planting.decoys import decoys  # most small runs need none of it
    from neardup.planting.edits import edits_named
    from neardup.planting.plant import plant

    try:
        planted = plant(
            collection,
            plan.columns,
            edits_named(EDITS),
            PER_EDIT,
            longest=LONGEST,
            progress=progress,
        )
    except InputError:  # all documents are too short to be edited
        return None
    framed = decoys(planted, PER_SHARE)
    if not len(framed):  # with one document: nothing would speak against any threshold
        return None
    return _scored(planted, framed, plan, method)


def _scored(planted: Planted, framed: pa.Table, plan: Plan, method: Method) -> KnownScores:
    batch = _batch([planted.drawn, planted.copies, framed], method.columns)
    evidence = method.prepare(batch, plan.artefacts).evidence
    first, last = len(planted.drawn), len(planted.drawn) + len(planted.copies)
    place = {id: at for at, id in enumerate(planted.drawn["id"].to_pylist())}
    originals = np.array([place[id] for id in planted.copies["of"].to_pylist()], np.int64)
    left = np.arange(last, last + len(framed), 2)

    def scores(a: Array, b: Array) -> Array:
        found = method.score(evidence, a, b)
        return np.where(found.passed, found.score, 0.0)

    return KnownScores(scores(np.arange(first, last), originals), scores(left, left + 1))


def _batch(tables: list[pa.Table], extra: tuple[str, ...]) -> pa.RecordBatch:
    parts = [table.select(["id", "text", *extra]) for table in tables]
    table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    row = pa.array(np.arange(1, len(table) + 1), schema.documents().field("row").type)
    return table.add_column(0, "row", row).to_batches()[0]


def choose(method: Method) -> Swept:
    """All thresholds to choose from; ``check_cuts`` has made sure that there are some."""
    choices = swept(method, CUTS)
    assert choices is not None
    return choices


def best_cut(cuts: tuple[Cut, ...], known: KnownScores) -> Cut:
    """The strictest of those that are as good as the best."""
    values = [known.worth(cut.threshold) for cut in cuts]
    return max(
        (cut for cut, value in zip(cuts, values, strict=True) if value >= max(values) - NEAR),
        key=lambda cut: cut.threshold,
    )


NAME = "calibration"
STEADY = 0.75  # the least stability of a gap
LOSS = 0.05  # the most that a gap may cost of the worth on known answers


def _nobody(a: Array, b: Array, floor: int) -> npt.NDArray[np.bool_]:  # noqa: ARG001
    return np.zeros(np.broadcast(a, b).shape, np.bool_)


@dataclass(frozen=True)
class Answers:
    """What a calibration may ask beside scores. ``known`` plants copies and decoys; ``recognised``
    returns which pairs of texts, by their digests, a reader would take for one, because so many
    percent of the smaller are recognised in the larger. Without the first no gap moves the
    threshold; without the second there are no exceptions."""

    known: Callable[[], KnownScores | None] = lambda: None
    recognised: Callable[[Array, Array, int], npt.NDArray[np.bool_]] = _nobody


NO_ANSWERS = Answers()


def with_calibration(plan: Plan, calibration: Calibration) -> Plan:
    """The plan with its threshold where the calibration puts it."""
    artefacts, threshold = {**plan.artefacts, NAME: calibration}, calibration.threshold
    if not plan.planted_cut:
        return replace(plan, method=plan.method.at_threshold(threshold), artefacts=artefacts)
    choices = (choice for choice in choose(plan.method).cuts if choice.threshold == threshold)
    chosen = next(choices, None)
    method = chosen.of(plan.method) if chosen else plan.method
    return replace(plan, method=method, artefacts=artefacts)


def is_unlike(plan: Plan) -> bool:
    """Whether the method was made for different collections: then this one is not asked."""
    return bool(plan.method.unlike(plan.artefacts))


def reaching(plan: Plan) -> Method:
    """The method that pairs are matched by, at the lowest threshold that may be chosen."""
    method = plan.method
    if not method.calibrate:
        return method
    if NAME in plan.artefacts or is_unlike(plan):
        return method
    return method.at_threshold(method.reach)


def asks_consistency(method: Method) -> bool:
    """Whether a collection calibrates the method by the consistency of its groups."""
    return method.calibrate and method.calibration == consistency.RULE


def matching_plan(plan: Plan) -> Plan:
    """The plan that pairs are matched by before a calibration by consistency is made."""
    artefacts = {**plan.artefacts, NAME: consistency.MATCHING}
    return replace(plan, method=plan.method.at_threshold(consistency.LEAST), artefacts=artefacts)


def first_scorer(plan: Plan) -> Scorer:
    """What pairs are matched by: as far down as a calibration may ask for, or as the calibration of
    the plan decides."""
    if not asks_consistency(plan.method):
        return Scorer(reaching(plan))
    matching = plan if NAME in plan.artefacts else matching_plan(plan)
    return Scorer(matching.method, matching.artefacts)


def wide_plan(plan: Plan) -> Plan:
    """The plan that finds the pairs of all thresholds to choose from."""
    method = choose(plan.method).wide
    return replace(plan, method=method, planted_cut=False, every_pair=True, against=())


def consistent_cut(plan: Plan, pairs: Pairs, names: Array) -> Calibration | None:
    """The threshold at which the groups of the pairs of ``wide_plan`` are most consistent;
    ``names`` are the digests of the evidence of the documents. None where they show none."""
    order, number = _by_digest(names)
    thresholds = np.array([cut.threshold for cut in choose(plan.method).cuts])
    pairs = pairs.mapped(number).distinct()
    curve = consistency.consistency_curve(len(order), pairs, thresholds, thresholds[0])
    choice = consistency.chosen_cut(len(order), curve, plan.method.threshold)
    return Calibration(*choice, curve=curve) if choice else None


def planted_cut(collection: Collection, plan: Plan, progress: Progress) -> Calibration:
    """The threshold by known answers; the usual one of the method where none can be made."""
    wide, cuts = choose(plan.method)
    known = known_scores(collection, plan, wide, progress)
    if known is None:
        return Calibration(plan.method.threshold, USUAL)
    at = best_cut(cuts, known).threshold
    return Calibration(at, PLANTED, found=known.found(at), decoys=known.wrong(at))


def calibrated(
    pairs: Pairs,
    low: Pairs,
    may: Array,
    forms: Array,
    texts: Array,
    method: Method,
    answers: Answers,
    *,
    every_pair: bool,
) -> Calibration:
    """``pairs`` are those from the reach of the method on; of the ``low``-scoring ones, those that
    ``may`` can be exceptions, unless they are among the ``pairs`` that pass. ``forms`` are digests
    of the normal forms of the documents, ``texts`` digests of their texts. Where not ``every_pair``
    was made, scores have no distribution."""
    usual, limit = method.threshold, method.exception_limit
    scores = pairs.score if every_pair else pairs.score[:0]
    if method.reach < usual:
        at = least_doubt(scores, usual, method.reach)
        by = USUAL if at == usual else LEAST_DOUBT
        calibration = Calibration(at, by, stability=stability(pairs.score, at))
    else:
        calibration = _believed(score_gap(scores, usual), usual, pairs.score, answers.known)
    own = own_thresholds(len(forms), low, limit(usual))
    below = low.where(may & (low.score < limit(calibration.threshold)))
    passing = pairs.where(pairs.score >= calibration.threshold)
    exceptions = _without(above_both(below, own), passing, len(forms))
    if len(exceptions):
        same = answers.recognised(texts[exceptions.a], texts[exceptions.b], recognition.FLOOR)
        exceptions = exceptions.where(same)
    return _listing(calibration, exceptions, forms, own)


def _without(pairs: Pairs, others: Pairs, documents: int) -> Pairs:
    """The pairs that are not among the others: what passes anyway need not be read."""

    def names(some: Pairs) -> Array:
        return np.minimum(some.a, some.b) * documents + np.maximum(some.a, some.b)

    return pairs.where(~np.isin(names(pairs), names(others)))


def _listing(calibration: Calibration, exceptions: Pairs, forms: Array, own: Array) -> Calibration:
    """The calibration with these pairs as exceptions."""
    listed = np.unique(np.concatenate([exceptions.a, exceptions.b]))
    digests, first = np.unique(forms[listed], return_index=True)
    stored = np.nextafter(own[listed[first]].astype(np.float32), np.float32(1))
    rows = (np.searchsorted(digests, forms[side]) for side in (exceptions.a, exceptions.b))
    return replace(calibration, digests=digests, own_thresholds=stored, pairs=sorted_pairs(*rows))


def _believed(
    gap: ScoreGap, usual: float, scores: Array, known: Callable[[], KnownScores | None]
) -> Calibration:
    """Copies are planted only where there is a gap to confirm: otherwise nothing would move."""
    fixed = Calibration(usual, USUAL, stability=stability(scores, usual))
    if not gap.clear:
        return fixed
    at, steady, answers = gap.threshold, stability(scores, gap.threshold), known()
    if answers is None or steady is None:
        return replace(fixed, refused=at)
    if steady < STEADY or answers.worth(at) < answers.worth(usual) - LOSS:
        found, wrong = answers.found(usual), answers.wrong(usual)
        return replace(fixed, found=found, decoys=wrong, refused=at)
    found, wrong = answers.found(at), answers.wrong(at)
    return Calibration(at, VALLEY, stability=steady, found=found, decoys=wrong)


def calibrated_by_consistency(
    pairs: Pairs,
    names: Array,
    forms: Array,
    texts: Array,
    compare: Callable[[Array, Array], Comparisons],
    answers: Answers,
    documents: int | None = None,
) -> Calibration:
    """``pairs`` are all that met and score enough to be looked at. ``names`` are the digests of the
    evidence of the documents, which do not depend on the order of the input as ``forms`` and
    ``texts`` do, those of the first document with such evidence. ``compare`` reports which pairs
    are refused whatever they score, and which share little text. Documents without a pair may be
    left out; there are so many ``documents`` with them."""
    order, number = _by_digest(names)
    forms, texts, pairs = forms[order], texts[order], pairs.mapped(number).distinct()
    curve = consistency.consistency_curve(len(forms), pairs)
    threshold, by = consistency.chosen_threshold(documents or len(forms), curve)
    near = consistency.neighbourhoods(len(forms), pairs, threshold)
    passes = near.passes(pairs, threshold)
    passing = pairs.where(passes)
    compared = compare(order[passing.a], order[passing.b])
    doubted = ~compared.refused & (compared.thin | (passing.score < threshold))
    thin = passing.where(doubted)
    listed = drawn = _drawn(thin, names[order, 0])
    # The percentage of pieces that must be recognised of a pair whose texts are read.
    floor = consistency.FLOOR if threshold >= consistency.GENERAL else consistency.FLOOR_LOW
    if len(drawn):
        listed = drawn.where(answers.recognised(texts[drawn.a], texts[drawn.b], floor))
    accepted = len(listed) + int((~compared.refused & ~doubted).sum())
    below = pairs.where(~passes & (pairs.score >= consistency.NEARLY * threshold))
    some = _drawn(below, names[order, 0])
    refused = compare(order[some.a], order[some.b]).refused
    missed = len(thin) - len(listed) + len(below) * float((~refused).sum()) / max(len(some), 1)
    expected = consistency.expected_quality(accepted, missed, curve, threshold)
    made = Calibration(threshold, by, curve=curve, unread=len(thin) - len(drawn), expected=expected)
    return _with_own(made, listed, forms, near.own)


def _by_digest(names: Array) -> tuple[Array, Array]:
    """The documents in the order of their digests, which sums and ties follow, and the place of
    each document in it."""
    order = np.lexsort((names[:, 1], names[:, 0]))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return order, number


def _drawn(pairs: Pairs, names: Array) -> Pairs:
    """At most so many pairs as are read, drawn by their digests."""
    if len(pairs) <= consistency.MOST_READ:
        return pairs
    key = (names[pairs.a] * SPREAD ^ names[pairs.b]) * SPREAD
    chosen = np.sort(np.argsort(key, kind="stable")[: consistency.MOST_READ])
    return pairs.where(chosen)


def _with_own(calibration: Calibration, listed: Pairs, forms: Array, own: Array) -> Calibration:
    """The calibration with these pairs, and with the documents whose own threshold is above that
    for all pairs."""
    wanted = own > calibration.threshold
    wanted[listed.a] = wanted[listed.b] = True
    digests, row = np.unique(forms[wanted], return_inverse=True)
    # Documents of different groups may have one form: the lower threshold holds for all of them.
    thresholds = np.full(len(digests), np.inf, np.float32)
    np.minimum.at(thresholds, row, own[wanted])
    rows = (np.searchsorted(digests, forms[side]) for side in (listed.a, listed.b))
    pairs = sorted_pairs(*rows)
    return replace(calibration, digests=digests, own_thresholds=thresholds, pairs=pairs)
