"""The Spark engine: one input, one plan → a result. Spark parts, the local engine decides.

documents signed → positions and places → nodes that share a key joined → parts decided → result.
The three dear stages are kept (``stages.py``), so a lost application goes on from the last one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.local.intake import strict_error
from neardup.plan import Plan
from neardup.progress import Logged, Progress, Silent
from neardup.spark import components, meeting, standing
from neardup.spark.carried import Carried, carried
from neardup.spark.columns import DECIDED, DOCUMENT, EVIDENCE, STANDING, ddl
from neardup.spark.counting import with_artefacts
from neardup.spark.parts import PART, decided_rows
from neardup.spark.signing import Taken, Work, signed_rows, signed_schema
from neardup.spark.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession

    from neardup.spark.result import SparkResult

PART_DOCUMENTS = 20_000  # about, so that a task's evidence fits its memory many times over
PART_BYTES = 64 << 20  # of evidence


class Input(Protocol):
    """Documents that tasks can read."""

    @property
    def files(self) -> Sequence[str]: ...

    @property
    def sources(self) -> Sequence[str]: ...

    def about(self) -> dict[str, Any]: ...

    def check(self, plan: Plan) -> None: ...

    @property
    def more_order(self) -> int:
        """How many columns of order it has beside those of the policy."""
        ...

    def mapped(self, work: Work, schema: str) -> DataFrame:
        """What ``work`` makes of the documents, task by task."""
        ...

    def positions(self, documents: DataFrame, plan: Plan, keep: standing.Keep) -> DataFrame: ...


@dataclass
class Sizes:
    """Of the signed rows."""

    documents: int
    key_bytes: int
    evidence_bytes: int


@dataclass
class Tuning:
    """Limits that change how the work is done, and never the answer."""

    driver_edges: int = components.DRIVER_EDGES
    buckets: int | None = None
    parts: int | None = None


@dataclass
class Run:
    """A run under way."""

    spark: SparkSession
    input: Input
    plan: Plan
    progress: Progress
    stages: Stages
    tuning: Tuning = field(default_factory=Tuning)
    timings: dict[str, float] = field(default_factory=dict)
    statistics: dict[str, Any] = field(default_factory=dict)

    def execute(self) -> SparkResult:
        from neardup.spark.result import make_result

        began = time.perf_counter()
        here = carried(self.spark, self.plan)
        self.progress.stage("reading", unit="documents")
        rows = self.stages.keep("signed", self._signed(here))
        sizes = self._sizes(rows)
        self.progress.advance(sizes.documents)
        began = self._lap("reading", began)
        self.progress.stage("matching", unit="edges")
        edges, repeated = self._edges(rows, sizes)
        documents = self._standing(rows, repeated=repeated)
        joined = components.join(
            self.spark, edges, self.statistics["edges"], limit=self.tuning.driver_edges
        )
        self.statistics["components"] = joined.statistics()
        began = self._lap("matching", began)
        self.progress.stage("deciding", unit="documents")
        decided = self.stages.keep("decided", self._decided(rows, documents, joined, here, sizes))
        result = make_result(self, documents, decided)
        self._lap("deciding", began)
        self.progress.finish()
        return result

    def _signed(self, here: Carried) -> DataFrame:
        def sign(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
            return signed_rows(taken, here.plan())

        return self.input.mapped(sign, ddl(signed_schema(self.plan, self.input.more_order)))

    def _lap(self, name: str, began: float) -> float:
        now = time.perf_counter()
        self.timings[name] = now - began
        return now

    def _sizes(self, rows: DataFrame) -> Sizes:
        found: Any = rows.agg(
            sql.count("*"), sql.sum(sql.length("keys")), sql.sum(sql.length("evidence"))
        ).first()
        return Sizes(*(int(value or 0) for value in found))

    @property
    def _parallel(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def _edges(self, rows: DataFrame, sizes: Sizes) -> tuple[DataFrame, bool]:
        """Which nodes meet, and whether an id came twice."""
        buckets = self.tuning.buckets or max(
            self._parallel, -(-sizes.key_bytes // meeting.BUCKET_BYTES)
        )
        edges = self.stages.keep("edges", meeting.edges(rows, buckets))
        counted = {row["b is null"]: row["count"] for row in _by_null(edges)}
        self.statistics["edges"] = counted.get(False, 0)
        return edges.where("b is not null"), bool(counted.get(True, 0))

    def _standing(self, rows: DataFrame, *, repeated: bool) -> DataFrame:
        """Documents without keys and evidence, with position and place."""
        plan = self.plan
        slim = rows.drop(*EVIDENCE.names)
        placed = self.input.positions(slim, plan, self.stages.keep)
        if repeated:
            placed = self.stages.keep("ids", _without_repeated(placed, self.input.files))
        if plan.strict:
            self._check_strict(placed)
        there = placed.where("rejected is null")
        there = standing.places(there, plan.keep, self.stages.keep)
        names = [*DOCUMENT.names, *STANDING.names]
        lost = placed.where("rejected is not null").withColumn("place", sql.col("position"))
        return there.select(*names).union(lost.select(*names))

    def _check_strict(self, documents: DataFrame) -> None:
        from neardup.documents.columns import Rejected

        lost = documents.where("rejected is not null").orderBy("position").limit(1).collect()
        if lost:
            one = lost[0]
            file = self.input.files[one["file"]]
            raise strict_error(Rejected(file, one["row"], one["rejected"], one["id"]))

    def _decided(
        self,
        rows: DataFrame,
        documents: DataFrame,
        joined: components.Joined,
        here: Carried,
        sizes: Sizes,
    ) -> DataFrame:
        table = joined.table
        if not joined.rounds:  # as small as what the driver can hold
            table = sql.broadcast(table)
        there = documents.where("rejected is null").join(table, "node", "left")
        bringing = rows.where("evidence is not null").join(table, "node", "inner")
        names = PART.names
        missing = {f.name: _null(f.type) for f in PART}
        documents_part = there.select(
            sql.coalesce("component", "node").alias("part"),
            *[
                sql.col("component").isNotNull().alias(name)
                if name == "meets"
                else missing[name].alias(name)
                if name in EVIDENCE.names
                else sql.col(name)
                for name in names
            ],
        )
        shown = {"node", "digest_a", "digest_b", *EVIDENCE.names}
        evidence_part = bringing.select(
            sql.col("component").alias("part"),
            *[sql.col(n) if n in shown else missing[n].alias(n) for n in names],
        )
        both = documents_part.union(evidence_part)
        count = self.tuning.parts or max(
            self._parallel,
            -(-sizes.documents // PART_DOCUMENTS),
            -(-sizes.evidence_bytes // PART_BYTES),
        )
        self.statistics["parts"] = count

        def decide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return decided_rows(batches, here.plan())

        return both.repartition(count, "part").drop("part").mapInArrow(decide, ddl(DECIDED))


def _by_null(edges: DataFrame) -> list[Any]:
    return edges.groupBy(sql.col("b").isNull().alias("b is null")).count().collect()


def _null(type_: pa.DataType) -> Any:
    from neardup.spark.columns import spark_type

    return sql.lit(None).cast(spark_type(type_))


def _without_repeated(documents: DataFrame, files: Sequence[str]) -> DataFrame:
    """The first document with an id has it; all others are rejected."""
    there = documents.where("rejected is null")
    first = (
        there.groupBy("id")
        .agg(
            sql.count("*").alias("_times"),
            sql.min("position").alias("_first"),
            sql.min_by("file", "position").alias("_file"),
            sql.min_by("row", "position").alias("_row"),
        )
        .where("_times > 1")
    )
    names = sql.create_map(*[sql.lit(x) for item in enumerate(files) for x in item])
    quoted = sql.udf(repr, "string")("id")
    reason = sql.concat(
        sql.lit("id "),
        quoted,
        sql.lit(" was already used in "),
        names[sql.col("_file")],
        sql.lit(", row "),
        sql.col("_row").cast("string"),
    )
    late = sql.col("rejected").isNull() & (sql.col("position") > sql.col("_first"))
    joined = documents.join(first, "id", "left")
    marked = joined.withColumn("rejected", sql.when(late, reason).otherwise(sql.col("rejected")))
    return marked.select(*documents.columns)


def run(
    spark: SparkSession,
    input: Input,
    plan: Plan,
    *,
    checkpoint: str | None = None,
    progress: Progress | None = None,
    tuning: Tuning | None = None,
) -> SparkResult:
    told = Logged(progress or Silent())
    input.check(plan)
    plan = with_artefacts(input, plan, told)
    about = {"input": input.about(), "plan": plan.describe(), "every_pair": plan.every_pair}
    stages = Stages(spark, checkpoint, about)
    return Run(spark, input, plan, told, stages, tuning or Tuning()).execute()
