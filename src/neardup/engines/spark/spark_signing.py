"""Documents → rows with keys and evidence, by ``prepare`` of the method, inside tasks.

Keys depend on the document alone, so no task needs another; fingerprints get their keys when all
documents are signed (``bits_join.py``). Documents with equal evidence are one *node*: the digest of
the evidence, mixed with the group of ``within``. The first of them in a task provides keys and
evidence for all. If a method confirms copies, each document is a node, with the digest as an
additional key. If two nodes have the same 64-bit number by accident, they meet, which costs a
comparison and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.documents.columns import DocumentBatch, Rejected, generated_ids
from neardup.engines.spark import positions
from neardup.engines.spark.spark_columns import (
    BROUGHT,
    DOCUMENT,
    EVIDENCE,
    SIZE,
    as_bytes,
    signed,
)
from neardup.matching.scorer import Scorer
from neardup.methods.base import Prepared
from neardup.methods.meeting import SPREAD, NearBits
from neardup.methods.preparation import no_keys, text_digests
from neardup.plan import Plan
from neardup.runs.signatures import as_strings
from neardup.schema import Array, Ragged, offsets_of

_NO_GROUP = "\0"  # a value that no column can hold, for documents without one


def signed_schema(plan: Plan, more: int = 0) -> pa.Schema:
    """``more`` is the number of order columns beside those of the policy."""
    order = positions.fields(len(plan.keep.criteria) + more)
    return pa.schema([*DOCUMENT, *order, *EVIDENCE, SIZE])


Work = Callable[[Iterator["Taken"]], Iterator[pa.RecordBatch]]


@dataclass(frozen=True)
class Taken:
    """A batch of documents of file number ``file``; ``order`` columns come after those of the
    policy."""

    file: int
    batch: DocumentBatch
    order: Sequence[positions.SortedValues] = ()


def signed_rows(
    taken: Iterator[Taken], plan: Plan, *, evidence: bool = True
) -> Iterator[pa.RecordBatch]:
    """Signed rows, without ``evidence`` if it will be made again."""
    seen = _native.IdSet()
    for part in taken:
        rows = _accepted(part, plan, seen)
        if not evidence:
            at = rows.schema.get_field_index("evidence")
            rows = rows.set_column(at, "evidence", pa.nulls(len(rows), pa.binary()))
        yield rows
        if part.batch.rejected:
            yield rejected_rows(
                part.batch.rejected, part.file, signed_schema(plan, len(part.order))
            )


def _accepted(taken: Taken, plan: Plan, seen: _native.IdSet) -> pa.RecordBatch:
    records = taken.batch.records
    prepared = plan.method.prepare(records, plan.artefacts)
    prepared = replace(prepared, text_digests=text_digests(records))
    columns = {
        **prepared_rows(
            prepared,
            records.column("id"),
            groups_of(records, plan),
            plan,
            seen,
            taken.file,
            names=_distinct(taken.batch),
        ),
        "file": pa.array(np.full(len(records), taken.file, np.int32)),
        "row": records.column("row"),
        **_order_columns(taken, plan),
    }
    return filled(columns, len(records), signed_schema(plan, len(taken.order)))


def evidence_rows(taken: Iterator[Taken], plan: Plan) -> Iterator[pa.RecordBatch]:
    """Keys and evidence, once for each node of a task."""
    seen = _native.IdSet()
    for part in taken:
        records = part.batch.records
        prepared = plan.method.prepare(records, plan.artefacts)
        ids, groups = records.column("id"), groups_of(records, plan)
        names = _distinct(part.batch)
        rows = prepared_rows(prepared, ids, groups, plan, seen, part.file, names=names)
        brings = rows["evidence"].is_valid()
        columns = {name: rows[name].filter(brings) for name in BROUGHT.names}
        yield filled(columns, len(columns["node"]), BROUGHT)


def _distinct(batch: DocumentBatch) -> pa.Array:
    """The ids, marked where a document has none and is named by its place: another document of the
    file may have that as its id."""
    ids, rows = batch.records.column("id"), batch.records.column("row")
    marked = pc.binary_join_element_wise(ids, pa.scalar("", ids.type), pa.scalar("\0", ids.type))
    return pc.if_else(pc.equal(ids, generated_ids(batch.file, rows)), marked, ids)


def prepared_rows(
    prepared: Prepared,
    ids: pa.Array,
    within: pa.Array | None,
    plan: Plan,
    seen: _native.IdSet,
    file: int,
    names: pa.Array | None = None,
) -> dict[str, pa.Array]:
    """The columns of prepared documents; ``seen`` has the nodes that the task has sent already.
    ``names`` are unique in the file, by default the ids."""
    keys, probes = all_keys(prepared, plan)
    nodes = np.ascontiguousarray(prepared.digests[:, 0])
    if plan.method.confirms_copies:
        keys, probes = _with_key(keys, probes, nodes)
        # An id is unique in its file, but documents of other files may have it too.
        nodes = id_digests(ids if names is None else names) ^ (
            np.array([file], np.int64).view(np.uint64) * SPREAD
        )
    if within is not None:
        codes = group_digests(within)
        nodes = nodes ^ codes
        keys = Ragged(keys.values ^ np.repeat(codes, keys.lengths), keys.offsets)
    known = seen.add(nodes) >= 0
    itemsize = prepared.evidence.values.dtype.itemsize
    columns = {
        "id": ids.cast(pa.string()),
        "node": signed(nodes),
        "digest_a": signed(prepared.digests[:, 0]),
        "digest_b": signed(prepared.digests[:, 1]),
        "text_digest": signed(prepared.text_digests),
        "normal_digest": signed(prepared.normal_digests),
        "flags": pa.array(prepared.flags.astype(np.int32)),
        "probes": pa.array(probes.astype(np.int32)),
        # A copy with a different normal form may have keys of exceptions that the first lacks.
        "keys": as_bytes(keys, known if scorer_of(plan).exceptions is None else None),
        "evidence": as_bytes(prepared.evidence, known),
        "size": pa.array(np.where(known, 0, prepared.evidence.lengths) * itemsize),
    }
    return columns if within is None else {**columns, "within": within.cast(pa.string())}


def groups_of(records: pa.RecordBatch, plan: Plan) -> pa.Array | None:
    return None if plan.within is None else as_strings(records.column(plan.within))


def _order_columns(taken: Taken, plan: Plan) -> dict[str, pa.Array]:
    records = taken.batch.records
    lengths = np.zeros(len(records), np.int64)
    if plan.keep.by_length:
        lengths = np.asarray(pc.utf8_length(records.column("text"))).astype(np.int64)
    there = {name: records.column(name) for name in plan.keep.columns}
    criteria = [positions.criterion_column(one, lengths, there) for one in plan.keep.criteria]
    columns: dict[str, pa.Array] = {}
    for number, (value, string) in enumerate([*criteria, *taken.order]):
        columns |= {f"n{number}": value, f"s{number}": string}
    return columns


def near_bits(plan: Plan) -> NearBits | None:
    """The way fingerprints meet, if they are sent instead of keys (``bits_join.py``)."""
    return None if plan.method.confirms_copies else plan.method.meeting.bits


def all_keys(prepared: Prepared, plan: Plan) -> tuple[Ragged, Array]:
    """The keys of the method, and for documents in a listed pair also those of their exceptions."""
    if near_bits(plan):
        return no_keys(prepared.evidence)
    scorer = scorer_of(plan)
    if scorer.exceptions is None:
        return prepared.keys, prepared.probes
    listed = scorer.exceptions.has(prepared.normal_digests) & ~prepared.too_short
    if not listed.any():
        return prepared.keys, prepared.probes
    chosen = np.flatnonzero(listed)
    first = scorer.exception_keys(prepared.evidence.take(chosen))
    return _joined(first, chosen, prepared.keys, prepared.probes)


def scorer_of(plan: Plan) -> Scorer:
    return Scorer(plan.method, plan.artefacts)


def _joined(first: Ragged, chosen: Array, keys: Ragged, probes: Array) -> tuple[Ragged, Array]:
    """The ``first`` keys of the ``chosen`` documents before the others, because they search."""
    empty = np.zeros(len(keys), np.int64)
    empty[chosen] = first.lengths
    both = Ragged.concat([Ragged(first.values, offsets_of(empty)), keys], np.uint64)
    turns = np.arange(2 * len(keys)).reshape(2, -1).T.reshape(-1)
    mixed = both.take(turns)
    return Ragged(mixed.values, mixed.offsets[::2].copy()), probes + empty.astype(np.int32)


def _with_key(keys: Ragged, probes: Array, more: Array) -> tuple[Ragged, Array]:
    everyone = np.arange(len(keys))
    single = Ragged(np.ascontiguousarray(more), np.arange(len(keys) + 1, dtype=np.int64))
    return _joined(single, everyone, keys, probes)


def group_digests(within: pa.Array) -> Array:
    return id_digests(within.fill_null(_NO_GROUP)) * SPREAD


def id_digests(strings: pa.Array) -> Array:
    rows = Ragged.of_strings(strings.cast(pa.large_string()))
    return np.asarray(_native.bytes_digests(rows.values, rows.offsets, 5))


def rejected_rows(rejected: Sequence[Rejected], file: int, schema: pa.Schema) -> pa.RecordBatch:
    columns = {
        "file": pa.array(np.full(len(rejected), file, np.int32)),
        "row": pa.array([document.row for document in rejected], pa.int64()),
        "id": pa.array([document.id for document in rejected], pa.string()),
        "rejected": pa.array([document.reason for document in rejected], pa.string()),
    }
    return filled(columns, len(rejected), schema)


def filled(columns: dict[str, pa.Array], count: int, schema: pa.Schema) -> pa.RecordBatch:
    """The columns of a schema; those that are missing are null."""
    arrays = [columns.get(f.name, pa.nulls(count, f.type)) for f in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
