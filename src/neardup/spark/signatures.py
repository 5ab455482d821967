"""The signatures of a run on Spark: its kept documents are prepared once more, by tasks.

What was signed for Spark has keys with groups and cuts mixed in; the file has them as the method
makes them, so that any engine can build on it. Pieces of files come in the order of the input, and
are written by the driver, one after the other. The positions of all kept documents go through the
driver to every task, 8 bytes each, and their names where several files have an id: little beside
the tables, which the driver has of files anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from neardup import schema
from neardup.local.intake import prepare
from neardup.methods.preparing import text_digests
from neardup.outputs.signatures import signature_rows, write_rows
from neardup.spark.carried import Carried, carried
from neardup.spark.columns import are_among
from neardup.spark.signing import Taken
from neardup.spark.standing import FILE_BITS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.spark.run import Run


def write_signatures(run: Run, decisions: DataFrame, path: Path) -> None:
    columns = ["position", "id"] if run.shared else ["position"]
    told = decisions.where(f"decision = '{schema.KEPT}'").select(*columns).toArrow()
    told = told.sort_by("position").combine_chunks()
    names = told["id"].cast(pa.large_string()) if run.shared else None
    kept = run.spark.sparkContext.broadcast((told["position"].to_numpy(), names))
    rows = run.input.mapped(_signing(carried(run.spark, run.plan), kept), "signatures binary")
    batches = (_batch(bytes(row["signatures"])) for row in rows.toLocalIterator())
    write_rows(batches, run.plan, path)


def _signing(here: Carried, kept: Any) -> Callable[[Iterator[Taken]], Iterator[pa.RecordBatch]]:
    def sign(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
        plan = here.plan()
        for one in taken:
            position = (one.file << FILE_BITS) + one.batch.records.column("row").to_numpy()
            positions, names = kept.value
            among = are_among(position, positions)
            records = one.batch.records.filter(pa.array(among))
            ids = records.column("id")
            if names is not None:  # several files have some ids
                where = np.searchsorted(positions, position[among])
                ids = names.take(pa.array(where)).combine_chunks()
            made = replace(prepare(records, plan), text_digests=text_digests(records))
            within = records.column(plan.within) if plan.within else None
            rows = signature_rows(ids, made, within, plan)
            yield pa.RecordBatch.from_arrays(
                [pa.array([_packed(rows)], pa.binary())], names=["signatures"]
            )

    return sign


def _packed(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _batch(packed: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(packed).read_next_batch()
