"""Classifies the duplicates of pairs: tasks read their texts again and align them.

As in ``runs/run_tables.py``, digests identify equal texts, equal texts count as one, and a pair of
texts is aligned once for all documents that have them. No decision changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.decisions.kinds import aligned_kinds
from neardup.engines.batch.references import reference_texts
from neardup.engines.spark.component_task import TAG_DOCUMENT, TAG_PAIR, TAG_SEEN
from neardup.engines.spark.spark_columns import DECIDED, signed, unsigned
from neardup.engines.spark.spark_signing import Taken
from neardup.runs.texts_again import Means, reread, text_keys, wanted_rows
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from neardup.engines.spark.spark_run import Run

TEXTS = "digest bigint, text string"
ALIGNED = "low bigint, high bigint, _kind tinyint, _direction tinyint, _confidence double"


def with_kinds(run: Run, decided: DataFrame) -> DataFrame:
    """The decided rows, with the kinds that the plan requires."""
    if run.plan.kinds == "none":
        return decided
    low, high = _low_high()
    pairs = decided.where(_asked(run.plan.kinds)).select(low, high).distinct()
    digests = pairs.toArrow()
    if not len(digests):
        return decided
    run.progress.stage("kinds", len(digests), unit="pairs")
    wanted = np.unique(np.concatenate([unsigned(digests["low"]), unsigned(digests["high"])]))
    texts = run.stages.keep("texts", texts_of(run, wanted))
    kinds = run.stages.keep("kinds", _aligned(run.spark.createDataFrame(digests), texts))
    return _joined(decided, kinds)


def _low_high() -> tuple[Column, Column]:
    both = ("text_digest", "other_digest")
    return sql.least(*both).alias("low"), sql.greatest(*both).alias("high")


def _asked(which: str) -> Column:
    tag, kind = sql.col("tag"), sql.col("kind")
    asked = (tag == TAG_DOCUMENT) & (sql.col("decision") == 1)
    if which == "all":
        asked = asked | tag.isin(TAG_PAIR, TAG_SEEN)
    return asked & kind.isNull()


def texts_of(run: Run, wanted: Array) -> DataFrame:
    """Each text once, by its digest."""
    shared = run.spark.sparkContext.broadcast(wanted)
    texts = run.input.mapped(_looking(shared), TEXTS)
    if references := reference_texts(run.plan):
        again = reread(wanted, references, text_keys, Means())
        numbers = np.flatnonzero(again.slot >= 0)
        strings = pa.array(again.strings(numbers), pa.string())
        table = pa.table({"digest": signed(wanted[numbers]), "text": strings})
        again.store.close()
        texts = texts.union(run.spark.createDataFrame(table, TEXTS))
    return texts.dropDuplicates(["digest"])


def _looking(wanted: object) -> Callable[[Iterator[Taken]], Iterator[pa.RecordBatch]]:
    def look(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
        for part in taken:
            digests: Array = wanted.value  # type: ignore[attr-defined]
            numbers, rows = wanted_rows(text_keys(part.batch), digests)
            texts = part.batch.records.column("text").take(pa.array(rows)).cast(pa.string())
            columns = [signed(digests[numbers]), texts]
            yield pa.RecordBatch.from_arrays(columns, names=["digest", "text"])

    return look


def _aligned(pairs: DataFrame, texts: DataFrame) -> DataFrame:
    one = texts.select(sql.col("digest").alias("low"), sql.col("text").alias("one"))
    other = texts.select(sql.col("digest").alias("high"), sql.col("text").alias("other"))
    return pairs.join(one, "low").join(other, "high").mapInArrow(_align, ALIGNED)


def _align(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        count = len(batch)
        both = [batch.column(name).cast(pa.large_string()) for name in ("one", "other")]
        texts = Ragged.of_strings(pa.concat_arrays(both))
        kinds = aligned_kinds(texts, np.arange(count), np.arange(count, 2 * count))
        columns = [
            batch.column("low"),
            batch.column("high"),
            pa.array(kinds.kind),
            pa.array(kinds.direction, mask=kinds.direction < 0),
            pa.array(kinds.confidence),
        ]
        names = [part.split()[0] for part in ALIGNED.split(", ")]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _joined(decided: DataFrame, kinds: DataFrame) -> DataFrame:
    """The kinds joined to pairs; the direction is reversed if the texts are in the opposite
    order."""
    low, high = _low_high()
    rows = decided.withColumns({"low": low, "high": high}).join(kinds, ["low", "high"], "left")
    open_ = sql.col("kind").isNull()
    turned = sql.col("text_digest") != sql.col("low")
    direction = sql.when(turned, (1 - sql.col("_direction")).cast("tinyint"))
    columns = {
        "direction": sql.when(open_, direction.otherwise(sql.col("_direction"))),
        "confidence": sql.coalesce("confidence", "_confidence"),
        "kind": sql.coalesce("kind", "_kind"),
    }
    return rows.withColumns(columns).select(*DECIDED.names)
