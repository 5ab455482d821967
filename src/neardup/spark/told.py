"""What a part says when it is decided: rows of its documents and pairs, and what parts add up."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.kinds import by_digests
from neardup.matching.verify import Pairs
from neardup.outputs.outcome import Outcome
from neardup.outputs.tables import all_pairs, decided_columns, flag_notes, with_notes
from neardup.plan import Plan
from neardup.schema import Array
from neardup.spark.columns import DECIDED
from neardup.spark.signing import filled

if TYPE_CHECKING:
    from neardup.spark.parts import Part

# What a row of ``DECIDED`` is: a document; a pair of all, where they fit; one of those seen.
TAG_DOCUMENT, TAG_PAIR, TAG_SEEN, TAG_TOLD = 0, 1, 2, 3


def rows(outcome: Outcome, plan: Plan, part: Part) -> Iterator[pa.RecordBatch]:
    yield _documents(outcome, plan, part)
    position = part.documents["position"].to_numpy()
    budget = plan.pair_budget(outcome.intake.total)
    every, complete = all_pairs(outcome, budget)
    leading = outcome.pairs.distinct()
    same = complete and len(every) == len(leading)
    if complete:
        yield _pairs(every, outcome, position, TAG_PAIR)
    if not same:
        seen = (leading.a >= outcome.refs) | (leading.b >= outcome.refs)
        yield _pairs(leading.where(seen), outcome, position, TAG_SEEN)
    yield _told(outcome, position, len(every) if complete else 0, complete=complete, same=same)


class Told(NamedTuple):
    """What a part says of itself; parts add it up. ``firsts`` are the first documents of its
    clusters. ``partial``: not all its pairs are there; ``seen``: pairs beside those, of leaders."""

    kept: int
    duplicates: int
    too_short: int
    pairs: int
    seen: int
    partial: int
    candidates: int
    refused: int
    clusters: int
    firsts: Array


def _told(
    outcome: Outcome, position: Array, pairs: int, *, complete: bool, same: bool
) -> pa.RecordBatch:
    refs, short = outcome.refs, outcome.intake.prepared.too_short
    kept, cluster = outcome.decided.kept, outcome.cluster
    inside = np.flatnonzero(cluster >= 0)
    _, first = np.unique(cluster[inside], return_index=True)
    told = Told(
        kept=int(kept[refs:].sum()),
        duplicates=int((~kept[refs:]).sum()),
        too_short=int((kept & short)[refs:].sum()),
        pairs=pairs,
        seen=0 if same else len(outcome.pairs),
        partial=int(not complete),
        candidates=outcome.candidates,
        refused=outcome.refused,
        clusters=len(np.unique(cluster[refs:][cluster[refs:] >= 0])),
        firsts=position[inside[first]],
    )
    columns = {
        "tag": pa.array([TAG_TOLD], pa.int8()),
        "packed": pa.array([pickle.dumps(told)], pa.binary()),
    }
    return filled(columns, 1, DECIDED)


def added_up(parts: Iterable[Told]) -> Told:
    several = list(parts)
    firsts = np.concatenate([np.empty(0, np.int64), *(one.firsts for one in several)])
    sums = {n: sum(getattr(one, n) for one in several) for n in Told._fields if n != "firsts"}
    return Told(**sums, firsts=np.sort(firsts))


def _documents(outcome: Outcome, plan: Plan, part: Part) -> pa.RecordBatch:
    intake, decided = outcome.intake, outcome.decided
    prepared, table = intake.prepared, part.documents
    position = table["position"].to_numpy()
    kept = decided.kept_of < 0
    other = np.maximum(decided.kept_of, 0)
    everyone = np.arange(len(intake))
    kinds = by_digests(everyone, decided.kept_of, prepared.text_digests, prepared.normal_digests)
    said = decided_columns(
        intake.ids, decided.kept_of, decided.score, outcome.cluster, prepared.too_short, plan.method
    )
    columns = {
        "tag": pa.array(np.full(len(intake), TAG_DOCUMENT, np.int8)),
        "position": pa.array(position),
        "id": intake.ids,
        "other_position": pa.array(position[other], mask=kept),
        "other": said["kept_id"],
        "score": said["score"],
        "file": table["file"],
        "row": table["row"],
        "decision": pa.array((~kept).astype(np.int8)),
        "reason": with_notes(said["reason"], flag_notes(prepared.flags)),
        "kind": pa.array(kinds.kind, mask=kinds.kind < 0),
        "confidence": pa.array(kinds.confidence, mask=kinds.kind < 0),
        "first": pa.array(_firsts(outcome.cluster, position), mask=outcome.cluster < 0),
        "place": table["place"],
        "text_digest": table["text_digest"],
        "other_digest": pa.array(prepared.text_digests[other].view(np.int64), mask=kept),
    }
    made = filled(_plain(columns), len(intake), DECIDED)
    return made.slice(outcome.refs)


def _firsts(cluster: Array, position: Array) -> Array:
    """The position of the first document of each one's cluster; documents stand in that order."""
    numbers, first = np.unique(cluster, return_index=True)
    return position[first[np.searchsorted(numbers, cluster)]]


def _pairs(pairs: Pairs, outcome: Outcome, position: Array, tag: int) -> pa.RecordBatch:
    intake = outcome.intake
    digests = intake.prepared.text_digests, intake.prepared.normal_digests
    pairs = pairs.distinct()
    kinds = by_digests(pairs.a, pairs.b, *digests)
    columns = {
        "tag": pa.array(np.full(len(pairs), tag, np.int8)),
        "position": pa.array(position[pairs.a]),
        "id": intake.ids.take(pa.array(pairs.a)),
        "other_position": pa.array(position[pairs.b]),
        "other": intake.ids.take(pa.array(pairs.b)),
        "score": pa.array(pairs.score),
        "kind": pa.array(kinds.kind, mask=kinds.kind < 0),
        "confidence": pa.array(kinds.confidence, mask=kinds.kind < 0),
        "text_digest": pa.array(digests[0][pairs.a].view(np.int64)),
        "other_digest": pa.array(digests[0][pairs.b].view(np.int64)),
    }
    return filled(_plain(columns), len(pairs), DECIDED)


def _plain(columns: dict[str, pa.Array | pa.ChunkedArray]) -> dict[str, pa.Array]:
    return {
        name: (one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one).cast(
            DECIDED.field(name).type
        )
        for name, one in columns.items()
    }
