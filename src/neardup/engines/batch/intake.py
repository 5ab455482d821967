"""Pass 1 on one machine: turns documents into keys, evidence and the columns that decisions need.

Worker threads parse and prepare chunks without holding Python's lock. Results are taken in input
order (``documents/source.py``), so they depend on neither the number of threads nor the size of
chunks. The texts of a chunk are released as soon as it is prepared.

A method may weigh its evidence when all documents are counted (``take_in_counting``): then the
tables are counted in the same reading, and the evidence is weighed where it is stored. Evidence,
digests and tables are those of two readings, bit by bit, and so are keys by which documents of the
collection can meet.
"""

from __future__ import annotations

import functools
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.artefact import Counter, StoredTable
from neardup.classes import dataclass
from neardup.documents.clashes import Ledger, tell_apart
from neardup.documents.collection import Collection
from neardup.documents.columns import Chunk, DocumentBatch, Rejected
from neardup.documents.inputs import SOURCE, with_names
from neardup.documents.source import chunk_results
from neardup.engines.batch.journal import Journal, Taken
from neardup.engines.batch.memory import be_frugal
from neardup.errors import ColumnError, RejectedError
from neardup.matching.evidence import EvidenceStore
from neardup.matching.key_store import KeyStore
from neardup.matching.weighted_evidence import WeightedEvidenceStore
from neardup.methods.base import Prepared
from neardup.methods.preparation import no_keys, text_digests
from neardup.plan import Plan
from neardup.progress import Progress
from neardup.runs.run_tables import Intake
from neardup.schema import Array, Growing, Ragged
from neardup.wording import repeated, where


def evidence_store(plan: Plan, folder: Path | None, *, weighed: bool) -> EvidenceStore:
    """Room for evidence as the plan makes it: already weighed, or not before all is counted."""
    if plan.method.reads_features and not weighed:
        return WeightedEvidenceStore(limit=plan.evidence_limit, folder=folder)
    return EvidenceStore(plan.method.evidence_dtype, limit=plan.evidence_limit, folder=folder)


def take_in(
    collection: Collection,
    plan: Plan,
    progress: Progress,
    store: EvidenceStore,
    prepare_records: Callable[[pa.RecordBatch], Prepared] | None = None,
    journal: Journal | None = None,
) -> Intake:
    """Evidence goes into ``store``, after what is there already. ``prepare_records`` makes it, if
    it is not made by the method of the plan with its artefacts. A ``journal`` has what was taken in
    before, and gets what is taken in now."""
    limit = sys.maxsize >> 16 if plan.against else plan.room  # `_room` halves what is not there
    gathered = _Gathered(plan, store, collection, PreparedColumns(limit, store.folder))
    progress.stage("reading", plan.limit, unit="documents", total_bytes=collection.plain_size())
    make = prepare_records or functools.partial(prepare, plan=plan)
    work = functools.partial(_work, plan=plan, make=make)
    chunks = collection.chunks(plan.columns)
    if journal is None:
        results = chunk_results(chunks, work, plan.workers)
    else:
        results = journal.results(collection, chunks, work, plan.workers)
    for batch, prepared, lengths in results:
        gathered.add(batch, prepared, lengths)
        progress.advance(batch.records.num_rows + len(batch.rejected), batch.size)
        if plan.limit is not None and gathered.total >= plan.limit:
            break
    taken = gathered.finish(collection.source_names)
    if gathered.ids.clashed:
        taken = _told_apart(taken, collection.files, gathered.ids.unnamed)
    own = taken.extra.get(SOURCE)
    if own is not None and collection.inputs.offered:
        named = with_names(own, taken.file, taken.sources)
        taken = replace(taken, extra={**taken.extra, SOURCE: named})
    return taken


def _told_apart(intake: Intake, files: Sequence[str], unnamed: Mapping[str, set[int]]) -> Intake:
    """Documents with an id that several files have get distinct names."""
    names = tell_apart(intake.ids, intake.file, intake.files, files, intake.row, unnamed)
    if names is None:  # all ids are unique
        return intake
    rejected = names.clashes.renamed(intake.rejected)
    return replace(intake, ids=names.ids, rejected=rejected, shared=names.shared)


def empty_intake(store: EvidenceStore) -> Intake:
    return Intake(
        files=[],
        sources=[],
        file=np.empty(0, np.int32),
        row=np.empty(0, np.int64),
        position=np.empty(0, np.int64),
        ids=pa.array([], pa.large_string()),
        prepared=joined_prepared([]),
        lengths=np.empty(0, np.int64),
        extra={},
        store=store,
        rejected=[],
        rejected_position=np.empty(0, np.int64),
        total=0,
    )


def _work(chunk: Chunk, plan: Plan, make: Callable[[pa.RecordBatch], Prepared]) -> Taken:
    batch = chunk.read()
    # A method may tell identical copies in its own way; what is stored is the same for all.
    prepared = replace(make(batch.records), text_digests=text_digests(batch.records))
    if plan.keep.by_length:
        lengths = np.asarray(pc.utf8_length(batch.records.column("text"))).astype(np.int64)
    else:
        lengths = np.zeros(batch.records.num_rows, np.int64)
    slim = batch.records.drop_columns(["text"])
    return replace(batch, records=slim), prepared, lengths


def prepare(records: pa.RecordBatch, plan: Plan) -> Prepared:
    """The prepared batch, without keys if the engine makes them later from all documents."""
    if plan.method.meeting.batch_needs_keys:
        return plan.method.prepare(records, plan.artefacts)
    prepared = plan.method.prepare_evidence(records, plan.artefacts)
    keys, probes = no_keys(prepared.evidence)
    return replace(prepared, keys=keys, probes=probes)


KEY_GROUPS = 3  # keys in memory take as much again twice when they are grouped
SAMPLE_BYTES = 16 << 20  # after which the number of documents can be estimated


@dataclass
class _Gathered:
    plan: Plan
    store: EvidenceStore
    collection: Collection
    columns: PreparedColumns
    files: dict[str, int] = field(default_factory=dict)
    file: Growing = field(default_factory=lambda: Growing(np.int32))
    row: Growing = field(default_factory=lambda: Growing(np.int32))
    records: list[pa.RecordBatch] = field(default_factory=list)
    position: Growing = field(default_factory=lambda: Growing(np.int32))
    lengths: Growing = field(default_factory=lambda: Growing(np.int64))
    rejected: list[Rejected] = field(default_factory=list)
    rejected_position: list[Array] = field(default_factory=list)
    ids: Ledger = field(default_factory=Ledger)
    total: int = 0
    _read: int = 0

    def add(self, batch: DocumentBatch, prepared: Prepared, lengths: Array) -> None:
        good: Array = np.ones(batch.records.num_rows, np.bool_)
        if self.plan.limit is not None and self.total + len(batch) > self.plan.limit:
            batch, good = self._limited(batch, self.plan.limit)
        batch, new = self._without_known_ids(batch)
        good[good] = new
        positions, rejected_positions = self._positions(batch)
        if not good.all():
            chosen = np.flatnonzero(good)
            prepared = prepared.rows(chosen, prepared.evidence.take(chosen))
            lengths = lengths[good]
        if batch.rejected and self.plan.strict:
            raise strict_error(batch.rejected[0])
        self._bound(batch.size, prepared)
        self.store.append(prepared.evidence)
        self.columns.append(prepared)
        if self.plan.keep.by_length:
            self.lengths.append(lengths)
        self.row.append(batch.records.column("row").to_numpy())
        self.records.append(batch.records.drop_columns(["row"]))
        file = self.files.setdefault(batch.file, len(self.files))
        self.file.append(np.full(batch.records.num_rows, file, np.int32))
        self.position.append(positions)
        self.rejected += batch.rejected
        self.rejected_position.append(rejected_positions)
        self.total += len(positions) + len(rejected_positions)

    def _bound(self, size: int, prepared: Prepared) -> None:
        """Sends evidence, and then keys, to disk where columns and chunks in work need the room."""
        self._read += size
        documents, whole = len(self.row) + len(prepared.flags), self.collection.plain_size()
        self.plan.check_memory(documents)
        if whole and size < self._read >= SAMPLE_BYTES and self.plan.limit is None:
            self.plan.check_memory(int(documents * whole / self._read), about=True)
        keys = self.columns.keys
        chunk = 2 * size + 2 * prepared.evidence.values.nbytes + prepared.keys.values.nbytes
        spare = self.plan.spare(len(self.row)) - (self.plan.workers + 1) * chunk
        if whole and self._read >= SAMPLE_BYTES and self.store.size * whole > spare * self._read:
            self.store.bound(0)  # what does not fit is not held first and then written
        if spare < keys.held + self.store.held:
            be_frugal()
        if not self.plan.against:  # keys of references and of the input are joined
            keys.bound(max(spare // 2, spare - self.store.held) // KEY_GROUPS)
        self.store.bound(spare - keys.held)

    def _limited(self, batch: DocumentBatch, limit: int) -> tuple[DocumentBatch, Array]:
        """The batch without documents after the limit, whose ids must not affect the names of
        others."""
        positions, rejected_positions = self._positions(batch)
        fits = positions < limit
        pairs = zip(batch.rejected, rejected_positions.tolist(), strict=True)
        rejected = [lost for lost, position in pairs if position < limit]
        records = batch.records.filter(pa.array(fits))
        return replace(batch, records=records, rejected=rejected), fits

    def _without_known_ids(self, batch: DocumentBatch) -> tuple[DocumentBatch, Array]:
        known = self.ids.add(batch.records, batch.file)
        rows = batch.records.column("row").to_numpy()
        good: Array = known < 0
        if good.all():
            return batch, good
        repeated = [
            self._repeated(batch.file, int(rows[i]), batch.records.column("id")[i].as_py(), first)
            for i, first in zip(np.flatnonzero(~good).tolist(), known[~good].tolist(), strict=True)
        ]
        rejected = sorted([*batch.rejected, *repeated], key=lambda r: r.row)
        records = batch.records.filter(pa.array(good))
        return replace(batch, records=records, rejected=rejected), good

    def _repeated(self, file: str, row: int, name: str, first: int) -> Rejected:
        """The rejection of a repeated id; ``first`` is its first use, counted over all ids."""
        (other, used), path_of = self.ids.place(first), self.collection.path_of
        reason = repeated(name, where(other, used, path_of(other, used)))
        return Rejected(file, row, reason, name, path_of(file, row))

    def _positions(self, batch: DocumentBatch) -> tuple[Array, Array]:
        positions = batch.positions()
        others = np.setdiff1d(np.arange(len(batch)), positions)
        return self.total + positions, self.total + others

    def finish(self, sources: dict[str, str]) -> Intake:
        records = _table(self.records) if self.records else None
        count = len(self.row)
        lengths = self.lengths.values if len(self.lengths) else np.broadcast_to(np.int64(0), count)
        return Intake(
            files=list(self.files),
            sources=[sources[file] for file in self.files],
            file=self.file.values,
            row=self.row.values,
            position=self.position.values,
            ids=_ids(records),
            lengths=lengths,
            extra={n: records.column(n) for n in self.plan.columns.extra} if records else {},
            store=self.store,
            rejected=self.rejected,
            rejected_position=_join(self.rejected_position, np.int64),
            total=self.total,
            **self.columns.fields(),
        )


def strict_error(rejected: Rejected) -> RejectedError:
    return RejectedError(
        f"{rejected.where}: {rejected.reason}.",
        hint="without --strict such documents are set apart in rejected.jsonl and the run goes on.",
    )


def _table(batches: list[pa.RecordBatch]) -> pa.Table:
    """Batches as one table. If files have different types in a column, the wider type is used."""
    parts = [pa.Table.from_batches([batch]) for batch in batches]
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise ColumnError(
            f"The files have a column in types that cannot be compared: {error}.",
            hint="give the column that a policy reads the same type in all files.",
        ) from error


_NOTHING = Ragged(np.empty(0, np.uint64), np.zeros(1, np.int64))


def _join(parts: list[Array], dtype: type[np.generic]) -> Array:
    return np.concatenate([np.empty(0, dtype), *parts])


def _ids(records: pa.Table | None) -> pa.Array:
    """The ids as one array, which is copied only if they are in several chunks."""
    if records is None:
        return pa.array([], pa.large_string())
    column = records.column("id")
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


class PreparedColumns:
    """Keys and digests of documents as they come; their evidence is in a store. ``keys`` go to a
    file where memory is short."""

    def __init__(self, limit: int, folder: Path | None) -> None:
        self.keys = KeyStore(limit=limit, folder=folder)
        self._digests = Growing(np.uint64, 2)
        self._text_digests = Growing(np.uint64)
        self._normal_digests = Growing(np.uint64)
        self._flags = Growing(np.uint8)

    def append(self, prepared: Prepared) -> None:
        self.keys.append(prepared.keys, prepared.probes)
        self._digests.append(prepared.digests)
        self._text_digests.append(prepared.text_digests)
        self._normal_digests.append(prepared.normal_digests)
        self._flags.append(prepared.flags)

    def fields(self) -> dict[str, Any]:
        """What an intake has of them."""
        prepared = Prepared(
            keys=_NOTHING,
            probes=self.keys.probes,
            evidence=_NOTHING,
            digests=self._digests.values,
            text_digests=self._text_digests.values,
            normal_digests=self._normal_digests.values,
            flags=self._flags.values,
        )
        return _keyed(prepared, self.keys)


def joined_prepared(parts: Sequence[Prepared]) -> Prepared:
    """Keys and digests of all parts as one; the evidence is in the store."""
    return Prepared(
        keys=Ragged.concat([p.keys for p in parts], np.uint64),
        probes=_join([p.probes for p in parts], np.int32),
        evidence=_NOTHING,
        digests=np.concatenate([np.empty((0, 2), np.uint64), *(p.digests for p in parts)]),
        text_digests=_join([p.text_digests for p in parts], np.uint64),
        normal_digests=_join([p.normal_digests for p in parts], np.uint64),
        flags=_join([p.flags for p in parts], np.uint8),
    )


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
    counting = _Counting(counters, 2 * plan.workers)

    def read(records: pa.RecordBatch) -> Prepared:
        unweighed = plan.method.read_unweighed(records)
        counting.add(unweighed.counted)
        return unweighed.prepared

    intake = take_in(collection, plan, progress, store, read)
    counting.finish()
    counted = {name: counter.finish() for name, counter in counters.items()}
    plan = replace(plan, artefacts={**plan.artefacts, **counted})
    intake = _weighed(intake, plan)
    if intake.keys is not None:  # memory is short, and only the run folder needs the tables again
        for table in counted.values():
            if isinstance(table, StoredTable) and table.digest:  # made of all of it
                table.lay_aside(store.folder)
    if plan.workers > 1:  # a table keeps its digest, which is made while documents are matched
        Thread(target=lambda: [table.digest for table in counted.values()], daemon=True).start()
    return intake, plan


class _Counting:
    """Parts are counted by one thread at a time. Another one leaves its part to it and goes on,
    unless ``most`` parts wait: the memory of a large table takes a while to come. The order does
    not matter, because counts are sums."""

    def __init__(self, counters: Mapping[str, Counter], most: int) -> None:
        self._counters, self._most = counters, most
        self._waiting = deque[Mapping[str, Any]]()
        self._lock = Lock()

    def add(self, part: Mapping[str, Any]) -> None:
        self._waiting.append(part)
        if self._lock.acquire(blocking=len(self._waiting) > self._most):
            try:
                self._count()
            finally:
                self._lock.release()

    def finish(self) -> None:
        with self._lock:
            self._count()

    def _count(self) -> None:
        while self._waiting:
            part = self._waiting.popleft()
            for name, counter in self._counters.items():
                counter.add(part[name])


def _weighed(intake: Intake, plan: Plan) -> Intake:
    keys = KeyStore(limit=plan.room, folder=intake.store.folder)
    parts: dict[int, Prepared] = {}  # by the first document; an empty block changes nothing

    def weigh(first: int, evidence: Ragged) -> Array:
        rows = intake.rows(np.arange(first, first + len(evidence)), evidence)
        weighed = plan.method.weigh(rows, plan.artefacts, closed=not plan.signatures)
        if len(evidence):
            parts[first] = replace(weighed, evidence=_NOTHING)
        return weighed.evidence.values

    digests, spare = intake.prepared.digests, plan.spare(len(intake))
    for first, last in intake.store.rewrite(weigh, plan.workers):
        if first < last:
            part = parts.pop(first)
            keys.bound((spare - intake.store.held) // KEY_GROUPS)
            keys.append(part.keys, part.probes)
            digests[first:last] = part.digests
    return replace(intake, **_keyed(replace(intake.prepared, digests=digests), keys))


def _keyed(prepared: Prepared, keys: KeyStore) -> dict[str, Any]:
    """Fields of an intake: prepared documents with their keys, or beside them in a file."""
    whole = keys.whole
    if whole is None:
        none = np.broadcast_to(np.int64(0), len(keys) + 1)
        values = Ragged(np.empty(0, np.uint64), none)
        return {"prepared": replace(prepared, keys=values, probes=keys.probes), "keys": keys}
    return {"prepared": replace(prepared, keys=whole, probes=keys.probes), "keys": None}
