"""The Spark engine: one input and one plan → a result. Spark divides, the batch engine decides.

The steps are: count artefacts; calibrate if the method requires it; sign documents; join nodes that
meet; divide large components; assign positions and places; decide parts; classify duplicates;
return the result. Calibration runs all steps from signing to parts once before, with scores instead
of decisions. A step whose result is needed more than once is a stage that is kept
(``spark_columns.py``); an application that was lost continues from the last one.

References (``--against``) come before all input. If a reference is a run, only its signatures are
read; files are read and signed like input. Each reference is one task, and its rows have negative
file numbers, so that they are before all others.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup import _native
from neardup.artefacts.encoders import Encoder
from neardup.decisions.order import Undated
from neardup.documents.clashes import Ledger, Shared, labels_of
from neardup.documents.columns import DocumentBatch
from neardup.documents.inputs import SOURCE
from neardup.engines.batch.intake import strict_error
from neardup.engines.batch.references import (
    check_read,
    files_of,
    opened,
    reference_names,
    with_their_own,
)
from neardup.engines.spark import bits_join, components, positions
from neardup.engines.spark.calibration_jobs import calibrated, with_artefacts
from neardup.engines.spark.component_task import decided_rows
from neardup.engines.spark.large_components import Matched, taken_apart
from neardup.engines.spark.session import Carried, as_ours, carried, lent, spread
from neardup.engines.spark.spark_columns import (
    BROUGHT,
    DECIDED,
    DOCUMENT,
    EVIDENCE,
    FORMAT,
    STANDING,
    Stages,
    ddl,
    sizes_again,
    sizes_of,
)
from neardup.engines.spark.spark_frames import Input
from neardup.engines.spark.spark_signing import (
    Taken,
    evidence_rows,
    filled,
    groups_of,
    near_bits,
    prepared_rows,
    signed_rows,
    signed_schema,
)
from neardup.methods.base import Prepared
from neardup.methods.preparation import text_digests
from neardup.methods.thresholds import calibrates_itself
from neardup.plan import Plan
from neardup.progress import Progress, Silent, logged
from neardup.runs.run_folder import SIGNATURES
from neardup.runs.signatures import read_signatures
from neardup.runs.texts_again import REFERENCE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.engines.spark.spark_result import SparkResult

PART_DOCUMENTS = 20_000  # approximate, so that evidence needs a fraction of a task's memory
GIANT = 10_000  # pairs of a component with more nodes are verified separately
PART_BYTES = 64 << 20  # of evidence


@dataclass
class Tuning:
    """Limits that affect how the work is done, but never the result."""

    driver_edges: int = components.DRIVER_EDGES
    buckets: int | None = None  # of fingerprints: for each table
    prints: int | None = None  # the number of fingerprints for which tables are made
    parts: int | None = None
    giant: int = GIANT


@dataclass
class Run:
    """The state of a run."""

    spark: SparkSession
    input: Input
    plan: Plan
    progress: Progress
    stages: Stages
    tuning: Tuning = field(default_factory=Tuning)
    timings: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)
    shared: Shared | None = None  # ids that several files have
    undated: Undated | None = None  # dates that the order could not read

    def execute(self) -> SparkResult:
        from neardup.engines.spark.spark_result import make_result

        matched = self.matched()
        began = time.perf_counter()
        self.progress.stage("deciding", unit="documents")
        decided = self.stages.keep("decided", matched.parts(decided_rows, DECIDED))
        result = make_result(self, matched.documents, decided, matched.sizes)
        self._lap("deciding", began)
        result.info["timings"] = {name: round(took, 3) for name, took in self.timings.items()}
        self.progress.finish()
        return result

    def matched(self) -> Matched:
        """Signed documents with their places, and the nodes that meet."""
        began = time.perf_counter()
        here = carried(self.spark, self.plan)
        self.progress.stage("reading", unit="documents")
        again = self._makes_again()
        rows = self.stages.keep("signed", self._signed(here, evidence=not again))
        sizes = sizes_of(rows)
        self.progress.advance(sizes.documents)
        began = self._lap("reading", began)
        self.progress.stage("matching", unit="edges")
        joined, repeated = bits_join.joined(self, rows, sizes)
        count = self.tuning.parts or max(
            self.parallel,
            -(-sizes.documents // PART_DOCUMENTS),
            -(-sizes.evidence_bytes // PART_BYTES),
        )
        brought = self._again(here) if again else _brought(rows)
        if joined.largest > self.tuning.giant and near_bits(self.plan) is None:
            if again:
                meeting = brought.join(joined.small(), "node", "left_semi")
                brought = self.stages.keep("evidence", meeting)
            buckets = bits_join.key_buckets(self, sizes)
            joined = taken_apart(self, (rows, brought), joined, here, buckets, count)
        self.progress.advance(self.statistics["edges"])
        documents = self._standing(rows, repeated=repeated, lost=repeated or sizes.rejected > 0)
        if repeated:
            sizes = sizes_again(sizes, documents)
        self.statistics["components"] = joined.statistics()
        self.statistics["parts"] = count
        self._lap("matching", began)
        return Matched(rows, documents, brought, joined, here, sizes, count)

    def _makes_again(self) -> bool:
        """Whether evidence is made again instead of kept. It is much larger than all other data of
        a document, except for fingerprints. If the input can be read again, evidence is made a
        second time once it is known which documents meet. This is cheaper than keeping it, unless
        an encoder makes it."""
        plan = self.plan
        kept = calibrates_itself(type(plan.method)) or near_bits(plan) is not None
        kept = kept or Encoder.kind in plan.artefacts
        return self.input.reads_again and not plan.against and not kept

    def _again(self, here: Carried) -> DataFrame:
        """The evidence of all documents, made again. A join with the nodes that meet drops the rest
        before any data are moved, as long as these nodes are broadcast to every task."""

        def bring(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
            return evidence_rows(taken, here.plan())

        return self.input.mapped(bring, ddl(BROUGHT))

    def _signed(self, here: Carried, *, evidence: bool) -> DataFrame:
        def sign(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
            return signed_rows(taken, here.plan(), evidence=evidence)

        rows = self.input.mapped(sign, ddl(signed_schema(self.plan, self.input.more_order)))
        return with_references(self, rows, here)

    def _lap(self, name: str, began: float) -> float:
        now = time.perf_counter()
        self.timings[name] = now - began
        return now

    @property
    def parallel(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def _standing(self, rows: DataFrame, *, repeated: bool, lost: bool) -> DataFrame:
        """Documents with position and place, without keys and evidence."""
        plan = self.plan
        slim = rows.drop(*EVIDENCE.names, "size")
        own = slim.where("file >= 0") if plan.against else slim
        placed = self.input.positions(own, plan, self.stages.keep)
        if repeated:
            placed = self._with_own_names(placed)
        if plan.strict:
            self._check_strict(placed)
        accepted = placed.where("rejected is null")
        self.undated = positions.undated(accepted, plan.keep)
        accepted = positions.places(accepted, plan.keep, self.stages.keep)
        names = [*DOCUMENT.names, *STANDING.names]
        both = accepted.select(*names)
        if lost:
            rest = placed.where("rejected is not null").withColumn("place", sql.col("position"))
            both = both.union(rest.select(*names))
        if not plan.against:
            return both
        first = positions.file_positions(slim.where("file < 0"))
        if repeated:
            first, _ = positions.told_apart(first, reference_labels(plan), REFERENCE)
        first = first.withColumn("place", sql.col("position"))
        return first.select(*names).union(both)

    def _with_own_names(self, documents: DataFrame) -> DataFrame:
        """Documents without repetitions of an id in its file; ids that several files have are made
        distinct."""
        files = self.input.files
        documents, unnamed = positions.named_by_place(documents, files)
        made = positions.without_repeated(documents, files, self.input.paths)
        unique = self.stages.keep("ids", made)
        labels = labels_of(files)
        numbered = {number: labels[file] for number, file in enumerate(files)}
        named, shared = positions.told_apart(unique, numbered)
        self.shared = shared or unnamed
        if shared and unnamed:
            self.shared = shared._replace(unnamed=unnamed.unnamed)
        return self.stages.keep("names", named) if self.shared else unique

    def _check_strict(self, documents: DataFrame) -> None:
        from neardup.documents.columns import Rejected

        lost = documents.where("rejected is not null").orderBy("position").limit(1).collect()
        if lost:
            first = lost[0]
            file = self.input.files[first["file"]]
            paths = self.input.paths.get(first["file"])
            path = paths[first["row"] - 1] if paths else None
            raise strict_error(Rejected(file, first["row"], first["rejected"], first["id"], path))


def _brought(rows: DataFrame) -> DataFrame:
    return rows.where("evidence is not null").select(*BROUGHT.names)


def run(
    spark: SparkSession,
    input: Input,
    plan: Plan,
    *,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    tuning: Tuning | None = None,
) -> SparkResult:
    log = logged(progress or Silent())
    with as_ours(), lent(spark):
        return _run(spark, input, plan, checkpoint, log, tuning or Tuning())


def _run(
    spark: SparkSession,
    input: Input,
    plan: Plan,
    checkpoint: str | None,
    told: Progress,
    tuning: Tuning,
) -> SparkResult:
    input.check(plan)
    plan = with_artefacts(input, plan, told)
    about = {
        "format": FORMAT,
        "input": input.about(),
        "plan": plan.describe(),
        "every_pair": plan.every_pair,
    }
    stages = Stages(spark, checkpoint, about)
    run = Run(spark, input, plan, told, stages, tuning)
    return replace(run, plan=calibrated(run)).execute()


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
