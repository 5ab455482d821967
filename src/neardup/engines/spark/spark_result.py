"""The result of a run on Spark: DataFrames as in a local result, counts, and ``run.json``.

The rows that parts return become decisions and pairs here. Rows of documents come to the driver
only on request. Before that, the driver receives only numbers: edges up to
``components.DRIVER_EDGES``, the begin of each cluster, and two digests for each pair of texts whose
kind is needed. Calibration also needs scores, one row for each node and a share of the features
(``calibration_jobs.py``).
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sql

from neardup import schema
from neardup.artefacts.artefact import Artefacts
from neardup.decisions.kinds import Kinds
from neardup.engines.spark.component_task import (
    TAG_DOCUMENT,
    TAG_PAIR,
    TAG_SEEN,
    TAG_TOLD,
    Told,
    added_up,
)
from neardup.engines.spark.kind_tasks import with_kinds
from neardup.engines.spark.spark_columns import DECIDED, spark_type, unsigned
from neardup.errors import ConservationError
from neardup.plan import Plan
from neardup.runs.result import Counts
from neardup.schema import DIRECTIONS, KINDS, Array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from neardup.engines.spark.spark_columns import Sizes
    from neardup.engines.spark.spark_run import Run

DECISIONS = (
    "id string, file string, row bigint, source string, decision string, reason string, "
    "kept_id string, score double, kind string, direction string, confidence double, "
    "cluster bigint, ref boolean"
)
LAST = 2**62  # the place of rejected documents, which meet no other
PAIRS = "a string, b string, score double, kind string, direction string, confidence double"


def decision_rows(
    decided: DataFrame,
    lost: DataFrame | None,
    files: Sequence[str],
    sources: Sequence[str],
    firsts: Array,
) -> DataFrame:
    """Every document once: the rows of parts, and the ``lost`` ones. Clusters are numbered by their
    ``firsts``, which are sorted."""
    rows = decided.where(sql.col("tag") == TAG_DOCUMENT).select(*_TOLD)
    if lost is not None:
        rows = rows.union(lost.select(*_lost_columns()))
    names = list(files), list(sources)

    def say(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield said(batch, *names, firsts)

    more = "position bigint, place bigint, text_digest bigint"
    return rows.mapInArrow(say, f"{DECISIONS}, {more}")


_TOLD = (
    "position",
    "id",
    "other_position",
    "other",
    "score",
    "file",
    "row",
    "decision",
    "reason",
    "kind",
    "direction",
    "confidence",
    "first",
    "place",
    "text_digest",
)


def _lost_columns() -> list[Column]:
    columns = {
        "decision": sql.lit(2).cast("tinyint"),
        "reason": sql.col("rejected"),
        "place": sql.lit(LAST),
        **{name: sql.col(name) for name in ("position", "id", "file", "row")},
    }
    nothing = {n: sql.lit(None).cast(spark_type(DECIDED.field(n).type)) for n in _TOLD}
    return [columns.get(name, nothing[name]).alias(name) for name in _TOLD]


def said(
    batch: pa.RecordBatch, files: list[str], sources: list[str], firsts: Array
) -> pa.RecordBatch:
    """Decisions with the column names of a local run."""
    decision = batch.column("decision").to_numpy()
    file = pa.array(batch.column("file").to_numpy())
    first = batch.column("first")
    number = np.searchsorted(firsts, first.fill_null(0).to_numpy())
    words = pa.array([schema.KEPT, schema.DUPLICATE, schema.REJECTED])
    other = batch.column("other_position").fill_null(0).to_numpy()
    columns = [
        batch.column("id"),
        pa.array(files, pa.string()).take(file),
        batch.column("row"),
        pa.array(sources, pa.string()).take(file),
        words.take(pa.array(decision)),
        batch.column("reason"),
        batch.column("other"),
        batch.column("score"),
        *_kind_columns(batch),
        pa.array(number.astype(np.int64), mask=np.asarray(first.is_null())),
        pa.array(other < 0),
        batch.column("position"),
        batch.column("place"),
        batch.column("text_digest"),
    ]
    names = [*(part.split()[0] for part in DECISIONS.split(", ")), *_MORE]
    return pa.RecordBatch.from_arrays(columns, names=names)


_MORE = ("position", "place", "text_digest")


def _kind_columns(batch: pa.RecordBatch) -> list[pa.Array]:
    kind = pa.array(KINDS, pa.string()).take(batch.column("kind"))
    direction = pa.array(DIRECTIONS, pa.string()).take(batch.column("direction"))
    return [kind, direction, batch.column("confidence")]


def listed_pairs(decided: DataFrame, told: Told, budget: int) -> tuple[DataFrame, int, bool]:
    """All pairs if they fit, otherwise each duplicate with its kept document."""
    tag = sql.col("tag")
    if not told.partial and told.pairs <= budget:
        chosen = decided.where(tag == TAG_PAIR)
        return chosen.mapInArrow(_pair_rows, _PAIR_ROWS), told.pairs, True
    chosen = decided.where((tag == TAG_DOCUMENT) & (sql.col("decision") == 1))
    if told.seen + told.pairs + told.duplicates <= budget:
        chosen = chosen.union(decided.where(tag.isin(TAG_PAIR, TAG_SEEN)))
    pairs = chosen.mapInArrow(_pair_rows, _PAIR_ROWS).dropDuplicates(["position", "other_position"])
    return pairs, pairs.count(), False


_PAIR_ROWS = f"{PAIRS}, position bigint, other_position bigint"


def _pair_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield _pair_batch(batch)


def _pair_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Pairs with the earlier document first."""
    first, second = (batch.column(n).to_numpy() for n in ("position", "other_position"))
    turn = first > second
    a, b = batch.column("id"), batch.column("other")
    both = pa.concat_arrays([a, b])
    rows, count = np.arange(len(batch)), len(batch)
    kinds = _numbers(batch).turned(turn)
    columns = [
        both.take(pa.array(np.where(turn, rows + count, rows))),
        both.take(pa.array(np.where(turn, rows, rows + count))),
        batch.column("score"),
        *[column.cast(pa.string()) for column in list(kinds.columns().values())[:2]],
        kinds.columns()["confidence"],
        pa.array(np.minimum(first, second)),
        pa.array(np.maximum(first, second)),
    ]
    names = [part.split()[0] for part in _PAIR_ROWS.split(", ")]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _numbers(batch: pa.RecordBatch) -> Kinds:
    kind, direction = (
        batch.column(name).fill_null(-1).to_numpy().astype(np.int8)
        for name in ("kind", "direction")
    )
    return Kinds(kind, direction, batch.column("confidence").fill_null(0.0).to_numpy().copy())


class Collected(NamedTuple):
    decisions: pa.Table
    pairs: pa.Table
    rank: Array
    text_digests: Array


class SparkResult:
    """``decisions``, ``pairs``, ``duplicates``, ``clusters`` and ``kept`` are DataFrames."""

    def __init__(
        self, decisions: DataFrame, pairs: DataFrame, counts: Counts, info: dict[str, Any], run: Run
    ) -> None:
        self._decided = decisions
        self.pairs = pairs.drop("position", "other_position")
        self._pairs = pairs
        self.counts = counts
        self.info = info
        self._run = run

    @property
    def spark(self) -> SparkSession:
        return self._run.spark

    @property
    def plan(self) -> Plan:
        return self._run.plan

    @property
    def artefacts(self) -> Artefacts:
        return self._run.plan.artefacts

    @functools.cached_property
    def decisions(self) -> DataFrame:
        """Every document once."""
        return self._decided.drop("position", "place", "text_digest")

    @functools.cached_property
    def duplicates(self) -> DataFrame:
        aside = self.decisions.where(sql.col("decision") == schema.DUPLICATE)
        return aside.withColumn("method", sql.lit(self.info["settings"]["method"]))

    @functools.cached_property
    def kept(self) -> DataFrame:
        """The rows of the input DataFrame whose documents are kept."""
        frame, name = self._run.input.frame, self._run.plan.columns.id_name  # type: ignore[attr-defined]
        ids = self._decided.where(sql.col("decision") == schema.KEPT).select(
            sql.col("id").alias("_id")
        )
        own: DataFrame = frame.withColumn("_id", sql.col(name).cast("string"))
        return own.join(ids, "_id", "left_semi").drop("_id")

    @functools.cached_property
    def clusters(self) -> DataFrame:
        """Clusters of two or more, numbered by their first document."""
        inside = self._decided.where("cluster is not null")
        kept = sql.col("decision") == schema.KEPT
        named = sql.when(kept, sql.col("id")).otherwise(sql.col("kept_id"))
        order = sql.when(kept, sql.col("position")).otherwise(sql.lit(2**62) + sql.col("position"))
        score = sql.when(kept, sql.lit(float("inf"))).otherwise(sql.coalesce("score", sql.lit(0.0)))
        members = sql.sort_array(sql.collect_list(sql.struct("position", "id")))
        return inside.groupBy("cluster").agg(
            sql.min_by(named, order).alias("kept_id"),
            sql.count("*").alias("size"),
            sql.min(score).alias("weakest"),
            sql.transform(members, lambda one: one["id"]).alias("members"),
        )

    def collected(self) -> Collected:
        """The tables on this machine, as in a local run."""
        decisions = self._decided.toArrow().sort_by("position")
        both = [("position", "ascending"), ("other_position", "ascending")]
        pairs = self._pairs.toArrow().sort_by(both)
        place, count = decisions["place"].to_numpy(), len(decisions)
        rank = np.empty(count, np.int64)
        rank[np.argsort(place, kind="stable")] = np.arange(count)
        if np.array_equal(np.sort(place[place < LAST]), place[place < LAST]):
            rank = np.arange(count)
        files = list(self._run.input.files)
        named = {
            "file": files,
            "source": list(dict.fromkeys(self._run.input.sources)),
            "decision": [schema.KEPT, schema.DUPLICATE, schema.REJECTED],
        }
        return Collected(
            _as_local(decisions, schema.DECISIONS, named),
            _as_local(pairs, schema.PAIRS, {}),
            rank,
            unsigned(decisions["text_digest"]),
        )

    def write_signatures(self, path: Path) -> None:
        """Writes the signatures that a next run needs to build on this one; for runs on files."""
        from neardup.engines.spark.spark_files import write_signatures

        write_signatures(self._run, self._decided, path)
        self.release()

    def save(self, folder: str) -> str:
        """Writes decisions, duplicates and pairs as folders of Parquet, the kept rows too, and
        ``run.json`` last: a folder without it is a run that did not finish."""
        from neardup.engines.spark.spark_files import save

        return save(self, folder)

    @property
    def resumed(self) -> list[str]:
        """The stages that were read from the checkpoint."""
        return self._run.stages.resumed

    def release(self) -> None:
        """Frees what Spark keeps of the run; the DataFrames would be computed again."""
        self._run.stages.release()

    def __repr__(self) -> str:
        settings = self.info["settings"]
        return f"<SparkResult of {settings['method']}: {self.counts.sentence()}>"


def _as_local(table: pa.Table, wanted: pa.Schema, named: dict[str, list[str]]) -> pa.Table:
    """The table with the types of a local one; names are numbered in the same way."""
    named = {"kind": list(KINDS), "direction": list(DIRECTIONS), **named}
    columns = []
    for one in wanted:
        column = table[one.name].combine_chunks()
        if pa.types.is_dictionary(one.type):
            values = pa.array(named[one.name], one.type.value_type)
            numbers = pc.index_in(column.cast(one.type.value_type), values)
            column = pa.DictionaryArray.from_arrays(numbers.cast(one.type.index_type), values)
        columns.append(column.cast(one.type))
    return pa.table(columns, schema=wanted)


def make_result(run: Run, documents: DataFrame, decided: DataFrame, sizes: Sizes) -> SparkResult:
    plan = run.plan
    told = _told(decided)
    decided = with_kinds(run, decided)
    lost = documents.where("rejected is not null")
    decisions = decision_rows(
        decided,
        lost if sizes.rejected else None,
        run.input.files,
        run.input.sources,
        told.firsts,
    )
    pairs, listed, complete = listed_pairs(decided, told, plan.pair_budget(sizes.documents))
    counts = Counts(
        documents=told.kept + told.duplicates + sizes.rejected,
        kept=told.kept,
        duplicates=told.duplicates,
        rejected=sizes.rejected,
        too_short=told.too_short,
        clusters=told.clusters,
        pairs=listed,
    )
    _check_conservation(counts, sizes.documents)
    info = {
        "engine": "spark",
        "settings": plan.describe(),
        "artefacts": {name: one.describe() for name, one in plan.artefacts.items()},
        "against": [str(path) for path in plan.against],
        "pairs": "complete" if complete else "partial",
        "candidates": told.candidates,
        "refused": told.refused,
        "capped": told.capped,
        "flags": sizes.flags,
        **({} if run.shared is None else {"shared_ids": run.shared._asdict()}),
        **({} if run.undated is None else {"undated": run.undated._asdict()}),
        "statistics": run.statistics,
        "timings": {},  # when all is done
        "counts": vars(counts),
    }
    return SparkResult(decisions, pairs, counts, info, run)


def _told(decided: DataFrame) -> Told:
    rows = decided.where(sql.col("tag") == TAG_TOLD).select("packed").collect()
    return added_up(pickle.loads(bytes(row["packed"])) for row in rows)


def _check_conservation(counts: Counts, read: int) -> None:
    if read != counts.documents:
        raise ConservationError(
            f"{read} documents were read, but {counts.sentence()}.",
            hint="this is a bug in neardup; nothing was written. Please report it.",
        )
