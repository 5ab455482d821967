"""Keys and evidence of the kept documents of a run, so that a later run can build on it.

``signatures.arrow`` in the run folder has one row per kept document, in input order, in batches of
bounded size. Its metadata has the signature (format version, digest of method and parameters) and
the ``within`` column; different signatures are never mixed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.streams import cause
from neardup.errors import InputError, SignatureError
from neardup.files import whole_file
from neardup.methods.base import Prepared, signature_of, signed_parameters
from neardup.plan import Plan
from neardup.runs.checksums import Checksums, damaged
from neardup.runs.run_folder import SIGNATURES
from neardup.runs.run_tables import Outcome
from neardup.schema import Array, Ragged, offsets_of, slices_of

BATCH_BYTES = 16 << 20
_DESCRIPTION = b"neardup"


def write_signatures(outcome: Outcome, plan: Plan, path: Path) -> None:
    """Write the kept documents of this run; references have a file of their own."""
    kept = np.flatnonzero(outcome.decided.kept)
    kept = kept[kept >= outcome.refs]
    store = outcome.intake.store
    blocks = slices_of(store.lengths[kept] * store.dtype.itemsize, BATCH_BYTES)
    write_rows((_batch(outcome, plan, kept[block]) for block in blocks), plan, path)


def signature_rows(
    ids: pa.Array, prepared: Prepared, within: pa.Array | None, plan: Plan
) -> pa.RecordBatch:
    """Rows of the file for prepared documents."""
    schema = _schema(plan)
    columns = {
        "id": ids,
        "keys": _list(prepared.keys),
        "probes": pa.array(prepared.probes),
        "evidence": _list(prepared.evidence),
        "digest_a": pa.array(prepared.digests[:, 0]),
        "digest_b": pa.array(prepared.digests[:, 1]),
        "text_digest": pa.array(prepared.text_digests),
        "normal_digest": pa.array(prepared.normal_digests),
        "flags": pa.array(prepared.flags),
        "within": pa.nulls(len(ids), pa.large_string()) if within is None else as_strings(within),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)


def write_rows(batches: Iterable[pa.RecordBatch], plan: Plan, path: Path) -> None:
    """Write batches of ``signature_rows``, in input order."""
    with (
        whole_file(path) as part,
        pa.OSFile(str(part), "wb") as sink,
        pa.ipc.new_stream(sink, _schema(plan)) as writer,
    ):
        for batch in batches:
            writer.write_batch(batch)


def read_signatures(path: Path, plan: Plan) -> Iterator[tuple[pa.Array, Prepared, pa.Array]]:
    """Ids, prepared documents and ``within`` values in batches; signatures must be the same."""
    try:
        source = pa.OSFile(str(path), "rb")
    except OSError as error:
        raise InputError(
            f"{path.parent} has no {SIGNATURES}, so nothing can be built on it.",
            hint="give its kept file instead, or make the run again with --signatures.",
        ) from error
    with source:
        Checksums(path.parent).check(path.name)
        yield from _stored_rows(source, plan, path)


def _stored_rows(
    source: pa.NativeFile, plan: Plan, path: Path
) -> Iterator[tuple[pa.Array, Prepared, pa.Array]]:
    try:
        with pa.ipc.open_stream(source) as reader:
            _check(reader.schema, plan, path)
            for batch in reader:
                yield batch.column("id"), _valid(batch, plan), batch.column("within")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, cause(error)) from error


def _valid(batch: pa.RecordBatch, plan: Plan) -> Prepared:
    """Prepared documents that native code may read: the file may come from anywhere."""
    batch.validate(full=True)
    if not batch.schema.equals(_schema(plan)):
        raise ValueError("its columns are not those of the method")
    needed = [batch.column(name) for name in batch.schema.names if name != "within"]
    inner = [column.flatten() for column in needed if pa.types.is_large_list(column.type)]
    if any(column.null_count for column in (*needed, *inner)):
        raise ValueError("values are missing")
    prepared = _prepared(batch)
    if np.any(prepared.probes < 0) or np.any(prepared.probes > prepared.keys.lengths):
        raise ValueError("a document searches with more keys than it has")
    return prepared


def _schema(plan: Plan) -> pa.Schema:
    evidence = pa.from_numpy_dtype(plan.method.evidence_dtype)
    fields = [
        ("id", pa.large_string()),
        ("keys", pa.large_list(pa.uint64())),
        ("probes", pa.int32()),
        ("evidence", pa.large_list(evidence)),
        ("digest_a", pa.uint64()),
        ("digest_b", pa.uint64()),
        ("text_digest", pa.uint64()),
        ("normal_digest", pa.uint64()),
        ("flags", pa.uint8()),
        ("within", pa.large_string()),
    ]
    return pa.schema(fields, metadata={_DESCRIPTION: json.dumps(_description(plan)).encode()})


def _description(plan: Plan) -> dict[str, Any]:
    return {
        "method": plan.method.name,
        "parameters": signed_parameters(plan.method),
        "signature": signature_of(plan.method, plan.digests),
        "within": plan.within,
    }


def _check(schema: pa.Schema, plan: Plan, path: Path) -> None:
    theirs = json.loads((schema.metadata or {}).get(_DESCRIPTION, b"{}"))
    if not isinstance(theirs, dict):
        raise ValueError("its description is no object")
    ours = json.loads(json.dumps(_description(plan)))
    if theirs == ours:
        return
    differ = [name for name in ours if name != "parameters" and theirs.get(name) != ours[name]]
    old = theirs.get("parameters", {})
    differ += [name for name, value in ours["parameters"].items() if old.get(name) != value]
    tables = theirs.get("signature", {}).get("artefacts", {})
    differ += [name for name, digest in plan.digests.items() if tables.get(name) != digest]
    listed = ", ".join(name for name in differ if name != "signature") or "the signature format"
    raise SignatureError(
        f"{path.parent} was made with other settings than this run; they differ in {listed}.",
        hint="use the same method, parameters and --within, or give its kept file instead.",
    )


def _batch(outcome: Outcome, plan: Plan, documents: Array) -> pa.RecordBatch:
    intake = outcome.intake
    within = intake.extra.get(plan.within or "")
    chosen = intake.rows(documents, intake.store.take(documents))
    groups = None if within is None else within.take(pa.array(documents))
    return signature_rows(intake.ids.take(pa.array(documents)), chosen, groups, plan)


def as_strings(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Values of any policy column as strings, so that two runs can compare them."""
    from neardup.decisions.order import plain

    return plain(column, "within").cast(pa.large_string())


def _list(ragged: Ragged) -> pa.LargeListArray:
    return pa.LargeListArray.from_arrays(pa.array(ragged.offsets), pa.array(ragged.values))


def _ragged(column: pa.LargeListArray) -> Ragged:
    lengths = column.value_lengths().to_numpy()
    return Ragged(column.flatten().to_numpy(), offsets_of(lengths))


def _prepared(batch: pa.RecordBatch) -> Prepared:
    def numbers(name: str) -> Array:
        return np.asarray(batch.column(name))

    return Prepared(
        keys=_ragged(batch.column("keys")),
        probes=numbers("probes"),
        evidence=_ragged(batch.column("evidence")),
        digests=np.stack([numbers("digest_a"), numbers("digest_b")], axis=1),
        text_digests=numbers("text_digest"),
        normal_digests=numbers("normal_digest"),
        flags=numbers("flags"),
    )
