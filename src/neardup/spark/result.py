"""What a run on Spark gives: DataFrames with the columns of a local result, counts, and what
``run.json`` says. Rows of documents come to the driver only when asked for. Numbers come before:
edges up to ``components.DRIVER_EDGES``, where each cluster begins, and two digests for each pair of
texts whose kind is asked for. To calibrate, scores, a row a node and a share of the features come
too (``calibrating.py``).
"""

from __future__ import annotations

import functools
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as sql

from neardup import schema
from neardup.artefacts.artefact import Artefacts
from neardup.errors import ConservationError
from neardup.outputs.result import Counts
from neardup.plan import Plan
from neardup.schema import DIRECTIONS, KINDS, Array
from neardup.spark import tables
from neardup.spark.columns import unsigned
from neardup.spark.kinds import with_kinds
from neardup.spark.tables import LAST
from neardup.spark.told import TAG_TOLD, Told, added_up

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.spark.run import Run
    from neardup.spark.sizes import Sizes


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
        """The rows of the DataFrame that came in whose documents are kept."""
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
        """The tables on this machine, as a local run has them."""
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
        """What a next run needs to build on this one, of a run on files."""
        from neardup.spark.signatures import write_signatures

        write_signatures(self._run, self._decided, path)
        self.release()

    def save(self, folder: str) -> str:
        """Writes decisions, duplicates and pairs as folders of Parquet, the kept rows too, and
        ``run.json`` last: a folder without it is a run that did not finish."""
        from neardup.spark.saving import save

        return save(self, folder)

    @property
    def resumed(self) -> list[str]:
        """The stages that were taken from the checkpoint."""
        return self._run.stages.resumed

    def release(self) -> None:
        """Gives back what Spark keeps of the run; the DataFrames would be computed again."""
        self._run.stages.release()

    def __repr__(self) -> str:
        settings = self.info["settings"]
        return f"<SparkResult of {settings['method']}: {self.counts.sentence()}>"


def _as_local(table: pa.Table, wanted: pa.Schema, named: dict[str, list[str]]) -> pa.Table:
    """With the types of a local table; names are numbered as there."""
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
    decisions = tables.decisions(
        decided,
        lost if sizes.rejected else None,
        run.input.files,
        run.input.sources,
        told.firsts,
    )
    pairs, listed, complete = tables.listed(decided, told, plan.pair_budget(sizes.documents))
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
        "flags": sizes.flags,
        **({} if run.shared is None else {"shared_ids": run.shared._asdict()}),
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
