"""References (``--against``) on Spark: before all input, kept, not decided among themselves.

If a reference is a run, only its signatures are read; files are read and signed like input. Each
reference is one task, and its rows have negative file numbers, so that they are before all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.documents.clashes import Ledger, labels_of
from neardup.documents.columns import DocumentBatch
from neardup.documents.inputs import SOURCE
from neardup.engines.batch.references import (
    check_read,
    files_of,
    opened,
    reference_names,
    with_their_own,
)
from neardup.engines.spark.session import Carried, spread
from neardup.engines.spark.spark_columns import ddl
from neardup.engines.spark.spark_signing import filled, groups_of, prepared_rows, signed_schema
from neardup.methods.base import Prepared
from neardup.methods.preparation import text_digests
from neardup.plan import Plan
from neardup.runs.run_folder import SIGNATURES
from neardup.runs.signatures import read_signatures
from neardup.runs.texts_again import REFERENCE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.engines.spark.spark_run import Run

FIRST_FILE = -(1 << 22)


def with_references(run: Run, rows: DataFrame, here: Carried) -> DataFrame:
    """The signed rows of the input and of its references."""
    paths = with_their_own(run.plan.against)
    if not paths:
        return rows
    offered = run.input.offered and run.plan.within != SOURCE
    more = run.input.more_order
    numbered = list(enumerate(paths, FIRST_FILE))

    def sign(given: Iterator[tuple[int, Path | str]]) -> Iterator[pa.RecordBatch]:
        for file, path in given:
            yield from _reference_rows(path, file, here.plan(), offered, more)

    return rows.union(spread(run.spark, numbered, sign, ddl(signed_schema(run.plan, more))))


def reference_labels(plan: Plan) -> dict[int, str]:
    """The labels that distinguish references, by the numbers of their rows."""
    names = reference_names(with_their_own(plan.against))
    labels = labels_of(names)
    return {number: labels[name] for number, name in enumerate(names, FIRST_FILE)}


def _reference_rows(
    path: Path | str, file: int, plan: Plan, offered: bool, more: int
) -> Iterator[pa.RecordBatch]:
    row, schema = 0, signed_schema(plan, more)
    seen = _native.IdSet()
    for ids, prepared, within in _prepared(path, plan, offered):
        columns = prepared_rows(prepared, ids, within, plan, seen, file)
        prefixed = [REFERENCE + id_ for id_ in ids.to_pylist()]
        columns["id"] = pa.array(prefixed, pa.string())
        columns["file"] = pa.array(np.full(len(ids), file, np.int32))
        columns["row"] = pa.array(np.arange(row, row + len(ids), dtype=np.int64))
        row += len(ids)
        yield filled(columns, len(ids), schema)


def _prepared(
    path: Path | str, plan: Plan, offered: bool
) -> Iterator[tuple[pa.Array, Prepared, pa.Array | None]]:
    if not files_of(path):
        for ids, prepared, within in read_signatures(Path(path) / SIGNATURES, plan):
            yield ids, prepared, within if plan.within else None
        return
    alone = replace(plan, extraction=replace(plan.extraction, workers=1))
    collection, _ = opened(path, alone, offered=offered).told_apart(plan.columns)
    known = Ledger()
    for chunk in collection.chunks(plan.columns):
        records = _once(chunk.read(), known)
        prepared = plan.method.prepare(records, plan.artefacts)
        signed = replace(prepared, text_digests=text_digests(records))
        yield records.column("id"), signed, groups_of(records, plan)
    check_read(collection)  # a file may have been removed meanwhile


def _once(batch: DocumentBatch, known: Ledger) -> pa.RecordBatch:
    """The rows without documents whose id occurred before in their file."""
    fresh = known.add(batch.records, batch.file) < 0
    return batch.records if fresh.all() else batch.records.filter(pa.array(fresh))
