"""The Spark engine: one input, one plan → a result. Spark parts, the local engine decides.

documents signed → positions and places → nodes that share a key joined → parts decided → result.
The three dear stages are kept (``stages.py``), so a lost application goes on from the last one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.documents import Collection
from neardup.local.intake import strict_error
from neardup.methods.method import FLAGS, BitsMethod, CalibratedMethod
from neardup.plan import Plan
from neardup.progress import Logged, Progress, Silent
from neardup.spark import components, meeting, near_bits, standing
from neardup.spark.calibrating import SCORES, calibrated
from neardup.spark.carried import Carried, carried
from neardup.spark.columns import (
    BROUGHT,
    DECIDED,
    DOCUMENT,
    EVIDENCE,
    STANDING,
    ddl,
    spark_type,
    unsigned,
)
from neardup.spark.counting import with_artefacts
from neardup.spark.failing import as_ours
from neardup.spark.parts import PART, decided_rows
from neardup.spark.references import with_references
from neardup.spark.session import lent
from neardup.spark.signing import Taken, Work, by_bits, evidence_rows, signed_rows, signed_schema
from neardup.spark.stages import FORMAT, Stages
from neardup.spark.verifying import taken_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from neardup.spark.result import SparkResult

PART_DOCUMENTS = 20_000  # about, so that a task's evidence fits its memory many times over
GIANT = 10_000  # nodes of a component beyond which its pairs are verified apart
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
    def reads_again(self) -> bool:
        """Whether reading again gives the same documents, at the price of reading."""
        ...

    @property
    def offered(self) -> bool:
        """Whether the names of inputs are a column ``source``."""
        ...

    @property
    def more_order(self) -> int:
        """How many columns of order it has beside those of the policy."""
        ...

    def mapped(self, work: Work, schema: str) -> DataFrame:
        """What ``work`` makes of the documents, task by task."""
        ...

    def positions(self, documents: DataFrame, plan: Plan, keep: standing.Keep) -> DataFrame: ...

    def local(self) -> Collection:
        """The same documents for the driver, which draws a few to plant copies of."""
        ...


@dataclass
class Sizes:
    """Of the signed rows."""

    documents: int
    rejected: int
    key_bytes: int
    evidence_bytes: int
    flags: dict[str, int]


@dataclass
class Tuning:
    """Limits that change how the work is done, and never the answer."""

    driver_edges: int = components.DRIVER_EDGES
    buckets: int | None = None  # of fingerprints: for each table
    prints: int | None = None  # for how many fingerprints tables are made
    parts: int | None = None
    giant: int = GIANT


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

        matched = self.matched()
        began = time.perf_counter()
        self.progress.stage("deciding", unit="documents")
        decided = self.stages.keep("decided", matched.parts(decided_rows))
        result = make_result(self, matched.documents, decided, matched.sizes)
        self._lap("deciding", began)
        result.info["timings"] = {name: round(took, 3) for name, took in self.timings.items()}
        self.progress.finish()
        return result

    def matched(self) -> Matched:
        """Documents signed, in their places, and who meets whom."""
        began = time.perf_counter()
        here = carried(self.spark, self.plan)
        self.progress.stage("reading", unit="documents")
        again = self._makes_again()
        rows = self.stages.keep("signed", self._signed(here, evidence=not again))
        sizes = self._sizes(rows)
        self.progress.advance(sizes.documents)
        began = self._lap("reading", began)
        self.progress.stage("matching", unit="edges")
        joined, repeated = self._joined(rows, sizes)
        count = self.tuning.parts or max(
            self._parallel,
            -(-sizes.documents // PART_DOCUMENTS),
            -(-sizes.evidence_bytes // PART_BYTES),
        )
        brought = self._again(here, rows, joined) if again else _brought(rows)
        if joined.largest > self.tuning.giant and not by_bits(self.plan):
            brought = self.stages.keep("evidence", brought) if again else brought
            buckets = self._buckets(sizes)
            joined = taken_apart(self, (rows, brought), joined, here, buckets, count)
        self.progress.advance(self.statistics["edges"])
        documents = self._standing(rows, repeated=repeated, lost=repeated or sizes.rejected > 0)
        if repeated:
            sizes = self._sizes_again(sizes, documents)
        self.statistics["components"] = joined.statistics()
        self.statistics["parts"] = count
        self._lap("matching", began)
        return Matched(rows, documents, brought, joined, here, sizes, count)

    def _makes_again(self) -> bool:
        """Evidence is many times what else is known of a document, unless it is a fingerprint.
        Where the input can be read again, it is made again for those that meet others, which is
        cheaper than to keep it."""
        kept = isinstance(self.plan.method, CalibratedMethod) or by_bits(self.plan)
        return self.input.reads_again and not self.plan.against and not kept

    def _again(self, here: Carried, rows: DataFrame, joined: components.Joined) -> DataFrame:
        texts = rows.join(joined.small(), "node", "left_semi").select("text_digest")
        wanted = np.unique(unsigned(texts.toArrow()["text_digest"]))
        there = self.spark.sparkContext.broadcast(wanted)

        def bring(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
            return evidence_rows(taken, here.plan(), there.value)

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

    def _sizes(self, rows: DataFrame) -> Sizes:
        flags = [
            sql.count(sql.when((sql.col("file") >= 0) & (sql.col("flags").bitwiseAND(bit) != 0), 1))
            for bit in FLAGS
        ]
        own = sql.col("file") >= 0
        found: Any = rows.agg(
            sql.count(sql.when(own, 1)),
            sql.count("rejected"),
            sql.sum(sql.length("keys")),
            sql.sum("size"),
            *flags,
        ).first()
        counts = dict(zip(FLAGS.values(), found[4:], strict=True))
        flagged = {name: int(count) for name, count in counts.items() if count}
        documents, rejected, keys, evidence = (int(value or 0) for value in found[:4])
        return Sizes(documents, rejected, keys, evidence, flagged)

    def _sizes_again(self, sizes: Sizes, documents: DataFrame) -> Sizes:
        """When documents with an id that others have were rejected, too."""
        nothing = sql.lit(None).cast("binary")
        slim = documents.withColumns({"keys": nothing, "size": sql.lit(0)})
        accepted = self._sizes(slim.where("rejected is null and file >= 0"))
        return replace(sizes, rejected=sizes.documents - accepted.documents, flags=accepted.flags)

    @property
    def _parallel(self) -> int:
        return int(self.spark.sparkContext.defaultParallelism)

    def _buckets(self, sizes: Sizes) -> int:
        fitting = -(-sizes.key_bytes // meeting.BUCKET_BYTES)
        return self.tuning.buckets or max(self._parallel, fitting)

    def _joined(self, rows: DataFrame, sizes: Sizes) -> tuple[components.Joined, bool]:
        """Which nodes meet, and whether an id came twice."""
        made, buckets = self._edges(rows, sizes)
        edges = self.stages.keep("edges", made)
        if sizes.documents * buckets <= self.tuning.driver_edges:  # that many at most
            table = edges.toArrow()
            there = table.filter(table["b"].is_valid())
            self.statistics["edges"] = len(there)
            joined = components.on_driver(self.spark, there)
            return joined, len(there) < len(table)
        counted = {row["repeats"]: row["count"] for row in _by_null(edges)}
        self.statistics["edges"] = count = counted.get(False, 0)
        there = edges.where("b is not null")
        joined = components.join(self.spark, there, count, limit=self.tuning.driver_edges)
        return joined, bool(counted.get(True, 0))

    def _edges(self, rows: DataFrame, sizes: Sizes) -> tuple[DataFrame, int]:
        """Who meets whom, and by how many buckets that is found."""
        method = self.plan.method
        if not by_bits(self.plan):
            buckets = self._buckets(sizes)
            return meeting.edges(rows, buckets), buckets
        assert isinstance(method, BitsMethod)
        tables = near_bits.tables_for(
            method,
            self.tuning.prints or near_bits.count(rows),
            sizes.documents,
            cores=self._parallel,
            each=self.tuning.buckets,
            grouped=self.plan.within is not None,
        )
        self.statistics["tables"] = len(tables.masks)
        return near_bits.edges(rows, tables), tables.buckets

    def _standing(self, rows: DataFrame, *, repeated: bool, lost: bool) -> DataFrame:
        """Documents without keys and evidence, with position and place."""
        plan = self.plan
        slim = rows.drop(*EVIDENCE.names, "size")
        own = slim.where("file >= 0") if plan.against else slim
        placed = self.input.positions(own, plan, self.stages.keep)
        if repeated:
            placed = self.stages.keep("ids", _without_repeated(placed, self.input.files))
        if plan.strict:
            self._check_strict(placed)
        there = placed.where("rejected is null")
        there = standing.places(there, plan.keep, self.stages.keep)
        names = [*DOCUMENT.names, *STANDING.names]
        both = there.select(*names)
        if lost:
            rest = placed.where("rejected is not null").withColumn("place", sql.col("position"))
            both = both.union(rest.select(*names))
        if not plan.against:
            return both
        first = standing.file_positions(slim.where("file < 0"))
        first = first.withColumn("place", sql.col("position"))
        return first.select(*names).union(both)

    def _check_strict(self, documents: DataFrame) -> None:
        from neardup.documents.columns import Rejected

        lost = documents.where("rejected is not null").orderBy("position").limit(1).collect()
        if lost:
            one = lost[0]
            file = self.input.files[one["file"]]
            raise strict_error(Rejected(file, one["row"], one["rejected"], one["id"]))


@dataclass(frozen=True)
class Matched:
    """``rows`` as signed; ``documents`` in their places, without keys and evidence."""

    rows: DataFrame
    documents: DataFrame
    brought: DataFrame  # keys and evidence of nodes that meet others
    joined: components.Joined
    here: Carried
    sizes: Sizes
    count: int  # of parts

    def parts(self, work: PartWork) -> DataFrame:
        """What ``work`` makes of each part."""
        here = self.here

        def decide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return work(batches, here.plan())

        both = self._documents().union(self._evidence())
        parted = both.repartition(self.count, "part").drop("part")
        return parted.mapInArrow(decide, ddl(SCHEMAS[work.__name__]))

    def _documents(self) -> DataFrame:
        there = self.documents.where("rejected is null").join(self.joined.small(), "node", "left")
        meets = sql.col("component").isNotNull().alias("meets")
        given = {name: sql.col(name) for name in PART.names if name not in EVIDENCE.names}
        part = sql.coalesce("component", "node").alias("part")
        return there.select(part, *_filled({**given, "meets": meets}))

    def _evidence(self) -> DataFrame:
        bringing = self.brought.join(self.joined.small(), "node", "inner")
        given = {n: sql.col(n) for n in BROUGHT.names}
        return bringing.select(sql.col("component").alias("part"), *_filled(given))


PartWork = Callable[[Iterator[pa.RecordBatch], Plan], Iterator[pa.RecordBatch]]
SCHEMAS = {"decided_rows": DECIDED, "scored_rows": SCORES}


def _filled(given: dict[str, Column]) -> list[Column]:
    """The columns of a part; those not given are null."""
    return [
        given.get(one.name, sql.lit(None)).cast(spark_type(one.type)).alias(one.name)
        for one in PART
    ]


def _brought(rows: DataFrame) -> DataFrame:
    return rows.where("evidence is not null").select(*BROUGHT.names)


def _by_null(edges: DataFrame) -> list[Any]:
    return edges.groupBy(sql.col("b").isNull().alias("repeats")).count().collect()


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
    with as_ours(), lent(spark):
        return _run(spark, input, plan, checkpoint, told, tuning or Tuning())


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
    made = Run(spark, input, plan, told, stages, tuning)
    return replace(made, plan=calibrated(made)).execute()
