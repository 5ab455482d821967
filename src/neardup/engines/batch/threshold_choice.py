"""The collection says where duplicates begin: candidates of a calibrated method, cut anew.

A valley of the scores is believed where the answer is steady around it and known answers do not
speak against it (``engines/batch/threshold_choice.py``). For methods that do not calibrate
themselves, known answers alone say where to cut, before anything is matched.

Pairs below the cut pass where they stand out and a reader would find the one text in the other
(``engines/batch/readable_pairs.py``): the collection says the first, the two texts alone the
second.

What comes out is an artefact. Where a run is given one it is taken as it is, so that engines, and
runs built on this one, decide alike.

What known answers say of a cut: copies with planted edits, and traps.

A few documents of the collection are copied with edits that leave a copy to any reader, and pairs
are made that share only a frame (``planting/``). A cut is worth the F1 that it has on as many of
the ones as of the others. Only these pairs are scored, so it costs no matching; long texts are
represented by their beginnings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native, schema
from neardup.artefacts.calibration import (
    LEAST_DOUBT,
    PLANTED,
    USUAL,
    VALLEY,
    Calibration,
    sorted_pairs,
)
from neardup.documents import Collection
from neardup.errors import InputError
from neardup.matching.background import (
    Valley,
    least_doubt,
    own_cuts,
    stability,
    standing_out,
    valley,
)
from neardup.matching.candidates import share_keys
from neardup.matching.evidence import EvidenceStore
from neardup.matching.rare import evidence_blocks
from neardup.matching.verify import Pairs
from neardup.methods.base import Method, RareEntries
from neardup.methods.thresholds import CUTS, Cut, Swept, swept
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.planting.plant import Planted

EDITS = (
    *("substitutions=0.05", "substitutions=0.1", "insertions=0.1", "deletions=0.1"),
    *("numbers=1", "excerpt-first=0.75", "paragraphs=0.25", "sentences=0.25"),
    *("ocr=0.01", "boilerplate=0.25", "layout=0.1"),
)
PER_EDIT, PER_SHARE = 10, 20  # copies of each edit, traps of each share of frame
LONGEST = 12_000  # characters of a document that are copied
NEAR = 0.02  # cuts whose worth is that near to the best are as good


@dataclass(frozen=True)
class KnownScores:
    """Of copies with their originals and of traps with their twins; 0 where a pair was refused or
    is below the lowest cut."""

    copies: Array
    traps: Array

    def found(self, threshold: float) -> float:
        return float(np.mean(self.copies >= threshold))

    def trapped(self, threshold: float) -> float:
        return float(np.mean(self.traps >= threshold))

    def worth(self, threshold: float) -> float:
        from neardup.planting.plant import worth

        return worth(self.found(threshold), self.trapped(threshold))


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
    if not len(framed):  # with one document: nothing would speak against any cut
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
        made = method.score(evidence, a, b)
        return np.where(made.passed, made.score, 0.0)

    return KnownScores(scores(np.arange(first, last), originals), scores(left, left + 1))


def _batch(tables: list[pa.Table], extra: tuple[str, ...]) -> pa.RecordBatch:
    parts = [table.select(["id", "text", *extra]) for table in tables]
    table = pa.concat_tables(parts, promote_options="permissive").combine_chunks()
    row = pa.array(np.arange(1, len(table) + 1), schema.documents().field("row").type)
    return table.add_column(0, "row", row).to_batches()[0]


def choose(method: Method) -> Swept:
    """All cuts to choose from; ``methods/thresholds.py`` has seen to it that there are some."""
    found = swept(method, CUTS)
    assert found is not None
    return found


def best_cut(cuts: tuple[Cut, ...], known: KnownScores) -> Cut:
    """The strictest of those that are as good as the best."""
    values = [known.worth(cut.threshold) for cut in cuts]
    return max(
        (cut for cut, value in zip(cuts, values, strict=True) if value >= max(values) - NEAR),
        key=lambda cut: cut.threshold,
    )


NAME = "calibration"
STEADY = 0.75  # stability that a valley has at least
LOSS = 0.05  # of what a cut is worth on known answers, that a valley may cost
FEWEST_SHARED = 5
LARGEST_GROUP = 64  # what more have is not rare, whatever the table says
FEWEST_DOCUMENTS = 500  # fewer show no background to stand out from
MOST_FEATURES = 32 << 20  # of more, one in so many stands for all


def _nobody(a: Array, b: Array) -> npt.NDArray[np.bool_]:
    return np.zeros(np.broadcast(a, b).shape, np.bool_)


@dataclass(frozen=True)
class Answers:
    """What a calibration may ask beside scores. ``known`` plants copies and traps; ``recognised``
    says of pairs of texts, by their digests, which a reader would take for one. Without the first
    no cut is moved; without the second nothing stands out."""

    known: Callable[[], KnownScores | None] = lambda: None
    recognised: Callable[[Array, Array], npt.NDArray[np.bool_]] = _nobody


NO_ANSWERS = Answers()


def with_calibration(plan: Plan, found: Calibration) -> Plan:
    """The plan with its threshold where the calibration puts it."""
    made = {**plan.artefacts, NAME: found}
    if not plan.planted_cut:
        method = plan.method.at_threshold(found.threshold)
        return replace(plan, method=method, artefacts=made)
    cuts = choose(plan.method).cuts
    cut = next((one for one in cuts if one.threshold == found.threshold), None)
    return replace(plan, method=cut.of(plan.method) if cut else plan.method, artefacts=made)


def is_unlike(plan: Plan) -> bool:
    """Whether the method was made for other collections: then this one is not asked."""
    return bool(plan.method.unlike(plan.artefacts))


def reaching(plan: Plan) -> Method:
    """The method as pairs are matched by: as far as the collection may move the cut."""
    method = plan.method
    if not method.calibrate:
        return method
    if NAME in plan.artefacts or is_unlike(plan):
        return method
    return method.at_threshold(method.reach)


def planted_cut(collection: Collection, plan: Plan, progress: Progress) -> Calibration:
    """Where known answers say; the method's usual threshold where none can be made."""
    wide, cuts = choose(plan.method)
    known = known_scores(collection, plan, wide, progress)
    if known is None:
        return Calibration(plan.method.threshold, USUAL)
    at = best_cut(cuts, known).threshold
    return Calibration(at, PLANTED, found=known.found(at), trapped=known.trapped(at))


def calibrated(
    pairs: Pairs,
    faint: Pairs,
    may: Array,
    digests: Array,
    texts: Array,
    method: Method,
    answers: Answers,
    *,
    every_pair: bool,
) -> Calibration:
    """``pairs`` are those from the reach of the method on; ``faint`` ones ``may`` stand out.
    ``digests`` are those of the documents' normal forms, ``texts`` those of their texts. Of some
    of the pairs no distribution is told."""
    usual, limit = method.threshold, method.exception_limit
    scores = pairs.score if every_pair else pairs.score[:0]
    if method.reach < usual:
        at = least_doubt(scores, usual, method.reach)
        by = USUAL if at == usual else LEAST_DOUBT
        cut = Calibration(at, by, stability=stability(pairs.score, at))
    else:
        cut = _believed(valley(scores, usual), usual, pairs.score, answers.known)
    cuts = own_cuts(len(digests), faint, limit(usual))
    out = standing_out(faint.where(may & (faint.score < limit(cut.threshold))), cuts)
    if len(out):
        out = out.where(answers.recognised(texts[out.a], texts[out.b]))
    listed = np.unique(np.concatenate([out.a, out.b]))
    named, first = np.unique(digests[listed], return_index=True)
    stored = np.nextafter(cuts[listed[first]].astype(np.float32), np.float32(1))
    rows = (np.searchsorted(named, digests[places]) for places in (out.a, out.b))
    return replace(cut, digests=named, cuts=stored, pairs=sorted_pairs(*rows))


def _believed(
    seen: Valley, usual: float, scores: Array, known: Callable[[], KnownScores | None]
) -> Calibration:
    """Copies are planted only where there is a valley to confirm: otherwise nothing would move."""
    fixed = Calibration(usual, USUAL, stability=stability(scores, usual))
    if not seen.clear:
        return fixed
    at, steady, answers = seen.threshold, stability(scores, seen.threshold), known()
    if answers is None or steady is None:
        return replace(fixed, refused=at)
    if steady < STEADY or answers.worth(at) < answers.worth(usual) - LOSS:
        return replace(
            fixed, found=answers.found(usual), trapped=answers.trapped(usual), refused=at
        )
    found, trapped = answers.found(at), answers.trapped(at)
    return Calibration(at, VALLEY, stability=steady, found=found, trapped=trapped)


def background_pairs(
    places: Array,
    order: Array,
    within: Array | None,
    method: Method,
    store: EvidenceStore,
) -> tuple[Pairs, Array]:
    """``faint_pairs`` of all documents, where they are enough to be a background."""
    enough = places if len(places) >= FEWEST_DOCUMENTS else places[:0]
    return faint_pairs(enough, order, within, method, store)


def faint_pairs(
    places: Array,
    order: Array,
    within: Array | None,
    method: Method,
    store: EvidenceStore,
) -> tuple[Pairs, Array]:
    """Pairs, in places, that share rare features, with the score that these alone would give; and
    which of the pairs may be found so. Of none, where no document may."""
    if not _anyone_may(places, order, method, store):
        return Pairs.none(), np.empty(0, np.bool_)
    found, every = _faint_entries(places, order, method, store)
    return pairs_of_entries(found, every, places, None if within is None else within[places])


def pairs_of_entries(
    found: RareEntries, every: int, places: Array, codes: Array | None
) -> tuple[Pairs, Array]:
    """Of the documents at ``places``, one entry each."""
    entries, weights = found.entries, found.weights
    groups = share_keys(entries, entries.lengths.astype(np.int32), codes)
    members = groups.where(groups.members.lengths <= LARGEST_GROUP).members
    least = max(2, -(-FEWEST_SHARED // every))
    a, b, shared = _native.sharing_pairs(members.values, members.offsets, len(places), least)
    usual = (entries.values & np.uint64(0xFFFFFFFF)).sum() / max(len(entries.values), 1)
    weight = shared * (usual * every)
    score = weight / np.maximum(weights[a] + weights[b] - weight, weight)
    return Pairs(places[a], places[b], score), found.may[a] | found.may[b]


def _anyone_may(places: Array, order: Array, method: Method, store: EvidenceStore) -> bool:
    """In most collections no one: then nothing more is gathered."""
    blocks = evidence_blocks(places, order, store)
    return any(method.may_be_exceptions(evidence).any() for evidence, _ in blocks)


def one_in(features: int) -> int:
    """Of so many features, one in how many stands for all."""
    return 1 + features // MOST_FEATURES


def _faint_entries(
    places: Array, order: Array, method: Method, store: EvidenceStore
) -> tuple[RareEntries, int]:
    every = one_in(int(store.lengths[order[places]].sum()))
    parts, at = [], [np.empty(0, np.int64)]
    for evidence, where in evidence_blocks(places, order, store):
        parts.append(method.rare_entries(evidence, every))
        at.append(where)
    back = np.argsort(np.concatenate(at), kind="stable")
    entries = Ragged.concat([part.entries for part in parts], np.uint64)
    weights = np.concatenate([np.empty(0, np.int64), *(part.weights for part in parts)])
    may = np.concatenate([np.empty(0, np.bool_), *(part.may for part in parts)])
    return RareEntries(entries.take(back), weights[back], may[back]), every
