"""A part of the collection, decided in one task by the batch engine, and the rows that it returns.

No document of a part meets a document outside of it, so the decisions of the batch engine for the
part are those for the whole collection. Evidence is in memory up to the limit of the plan and then
on disk, so a part may be larger than the memory of its task. A decided part returns rows of its
documents and pairs, and counts that are summed over all parts.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.clusters import components
from neardup.decisions.kinds import by_digests
from neardup.decisions.order import group_codes
from neardup.decisions.rule import decide_all, notes, rule_clusters, with_notes
from neardup.engines.batch.batch_run import decide_intake
from neardup.engines.batch.intake import empty_intake
from neardup.engines.spark.spark_columns import (
    DECIDED,
    DOCUMENT,
    EVIDENCE,
    STANDING,
    as_rows,
    unsigned,
)
from neardup.engines.spark.spark_signing import filled
from neardup.matching.candidates import leaders
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.methods.base import Prepared
from neardup.plan import Plan
from neardup.progress import Silent
from neardup.runs.run_tables import Intake, Outcome, all_pairs, decided_columns
from neardup.schema import Array, Ragged, offsets_of

# The kinds of rows in ``DECIDED``: a document; a pair, if all of them fit; one of those seen.
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
    """The counts of a part, which are summed over all parts. ``firsts`` are the first documents of
    its clusters. ``partial``: not all its pairs are listed; ``seen``: further pairs of leaders."""

    kept: int
    duplicates: int
    too_short: int
    pairs: int
    seen: int
    partial: int
    candidates: int
    refused: int
    capped: int
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
        capped=outcome.capped,
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
    firsts = np.concatenate([np.empty(0, np.int64), *(told.firsts for told in several)])
    sums = {n: sum(getattr(told, n) for told in several) for n in Told._fields if n != "firsts"}
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
        "reason": with_notes(said["reason"], notes(prepared.flags)),
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
    """For each document, the position of the first one of its cluster, which has the least."""
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


PART = pa.schema([*DOCUMENT, *STANDING, pa.field("meets", pa.bool_()), *EVIDENCE])
BLOCK = 4096  # documents whose evidence is moved at once


def decided_rows(batches: Iterator[pa.RecordBatch], plan: Plan) -> Iterator[pa.RecordBatch]:
    """The decisions as rows, from rows of documents and rows of evidence (without an id) in any
    order."""
    for part, outcome in parted(batches, plan):
        yield from rows(outcome, plan, part)


def parted(batches: Iterator[pa.RecordBatch], plan: Plan) -> Iterator[tuple[Part, Outcome]]:
    """Yields the documents that meet nobody, then the others, each part with its outcome."""
    gathered = _Gathered(plan)
    for batch in batches:
        gathered.add(batch)
    part = gathered.part()
    for meets in (False, True):
        chosen = part.where(part.meets == meets)
        if len(chosen.documents):
            outcome = chosen.outcome(plan) if meets else chosen.copies(plan)
            yield chosen, outcome
            outcome.intake.store.close()
    gathered.store.close()


class _Gathered:
    """The rows that have arrived so far, with evidence in the order of its arrival."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.documents: list[pa.RecordBatch] = []
        self.names: list[Array] = []
        self.keys: list[Ragged] = []
        self.probes: list[Array] = []
        self.store = EvidenceStore(plan.method.evidence_dtype, limit=plan.evidence_limit)

    def add(self, batch: pa.RecordBatch) -> None:
        of_evidence = batch.column("id").is_null()
        evidence = batch.filter(of_evidence)
        if len(evidence):
            self.names.append(_names(evidence, self.plan))
            self.keys.append(as_rows(evidence.column("keys"), np.uint64))
            self.probes.append(evidence.column("probes").to_numpy())
            rows = as_rows(evidence.column("evidence"), self.plan.method.evidence_dtype)
            self.store.append(rows)
        documents = batch.filter(batch.column("id").is_valid())
        if len(documents):
            self.documents.append(documents.drop_columns(EVIDENCE.names))

    def part(self) -> Part:
        schema = pa.schema([f for f in PART if f.name not in EVIDENCE.names])
        # Batches do not agree on which columns may be null.
        parts = [pa.RecordBatch.from_arrays(b.columns, schema=schema) for b in self.documents]
        table = pa.Table.from_batches(parts, schema).sort_by("position").combine_chunks()
        names = np.concatenate([np.empty(0, _NAME), *self.names])
        known, slot = np.unique(names, return_index=True)
        return Part(
            table,
            known,
            slot,
            Ragged.concat(self.keys, np.uint64),
            np.concatenate([np.empty(0, np.int32), *self.probes]),
            self.store,
        )


_NAME = np.dtype([("a", np.uint64), ("b", np.uint64)])


def _names(rows: pa.RecordBatch | pa.Table, plan: Plan) -> Array:
    """The name of each evidence: its digest, or its node if the method confirms copies."""
    own = plan.method.confirms_copies
    names = np.empty(len(rows), _NAME)
    names["a"] = unsigned(rows.column("node" if own else "digest_a"))
    names["b"] = 0 if own else unsigned(rows.column("digest_b"))
    return names


@dataclass(frozen=True)
class Part:
    """``documents`` are in the order of the input, references first. ``names`` are sorted; the
    evidence of each is at its ``slot`` of the store."""

    documents: pa.Table
    names: Array
    slot: Array
    keys: Ragged
    probes: Array
    store: EvidenceStore

    @property
    def meets(self) -> Array:
        return np.asarray(self.documents["meets"])

    def where(self, mask: Array) -> Part:
        return replace(self, documents=self.documents.filter(pa.array(mask)))

    @property
    def refs(self) -> int:
        return int((self.documents["position"].to_numpy() < 0).sum())

    def rank(self) -> Array:
        place = self.documents["place"].to_numpy()
        rank = np.empty(len(place), np.int64)
        rank[np.argsort(place, kind="stable")] = np.arange(len(place))
        return rank

    def outcome(self, plan: Plan) -> Outcome:
        rank = self.rank()
        made, _ = decide_intake(self.intake(plan, rank), plan, rank, Silent(), refs=self.refs)
        return made

    def copies(self, plan: Plan) -> Outcome:
        """Duplicates among documents that share no key with others: only those with equal
        evidence."""
        rank = self.rank()
        intake, everyone = self.intake(plan, rank), np.arange(len(rank))
        column = intake.extra.get(plan.within or "")
        codes = None if column is None else group_codes(column, str(plan.within))
        leader = leaders(intake.prepared.digests, rank, codes)
        nobody = np.full(len(rank), -1, np.int64)
        decided = decide_all(leader, rank, nobody, np.zeros(len(rank)), Pairs.none())
        decided.kept_of[: self.refs] = -1
        by_rule = plan.clusters == "rule"
        cluster = (
            rule_clusters(decided.kept_of) if by_rule else components(len(rank), everyone, leader)
        )
        return Outcome(
            intake=intake,
            rank=rank,
            leader=leader,
            decided=decided,
            cluster=cluster,
            pairs=Pairs.none(),
            pairs_complete=True,
            candidates=0,
            timings={},
            refs=self.refs,
        )

    def intake(self, plan: Plan, rank: Array) -> Intake:
        table, count = self.documents, len(self.documents)
        digests = np.stack([unsigned(table["digest_a"]), unsigned(table["digest_b"])], axis=1)
        extra = {plan.within: table["within"]} if plan.within else {}
        codes = group_codes(table["within"], plan.within) if plan.within else None
        slot = self._slots(plan, digests, rank, codes)
        keys, probes = self._keys(slot)
        prepared = Prepared(
            keys=keys,
            probes=probes,
            evidence=Ragged(np.empty(0, np.uint64), np.zeros(1, np.int64)),
            digests=digests,
            text_digests=unsigned(table["text_digest"]),
            normal_digests=unsigned(table["normal_digest"]),
            flags=table["flags"].to_numpy().astype(np.uint8),
        )
        return replace(
            empty_intake(self._in_order(slot, plan)),
            file=table["file"].to_numpy(),
            row=table["row"].to_numpy(),
            position=np.arange(count),
            ids=table["id"].combine_chunks().cast(pa.large_string()),
            prepared=prepared,
            lengths=np.zeros(count, np.int64),
            extra=extra,
            total=count,
        )

    def _slots(self, plan: Plan, digests: Array, rank: Array, codes: Array | None) -> Array:
        """The place of the evidence of each document; −1 for those that a different one
        represents."""
        if not len(self.names):
            return np.full(len(rank), -1)
        names = _names(self.documents, plan)
        at = np.minimum(np.searchsorted(self.names, names), len(self.names) - 1)
        slot = np.where(self.names[at] == names, self.slot[at], -1)
        if plan.method.confirms_copies:
            return slot
        leads = leaders(digests, rank, codes) == np.arange(len(rank))
        return np.where(leads, slot, -1)

    def _keys(self, slot: Array) -> tuple[Ragged, Array]:
        present = np.flatnonzero(slot >= 0)
        keys = self.keys.take(slot[present])
        lengths, probes = np.zeros(len(slot), np.int64), np.zeros(len(slot), np.int32)
        lengths[present], probes[present] = keys.lengths, self.probes[slot[present]]
        return Ragged(keys.values, offsets_of(lengths)), probes

    def _in_order(self, slot: Array, plan: Plan) -> EvidenceStore:
        """The evidence in the order of the documents."""
        store = EvidenceStore(plan.method.evidence_dtype, limit=plan.evidence_limit)
        for begin in range(0, len(slot), BLOCK):
            some = slot[begin : begin + BLOCK]
            present = some >= 0
            wanted, back = np.unique(some[present], return_inverse=True)
            rows = self.store.take(wanted).take(back.reshape(-1).astype(np.int64))
            lengths = np.zeros(len(some), np.int64)
            lengths[present] = rows.lengths
            store.append(Ragged(rows.values, offsets_of(lengths)))
        return store
