"""What sort of duplicates pairs are: their texts are read again by tasks, and aligned there.

As in ``runs/kind_pass.py``: digests tell equal texts, equal texts are one text, and a pair of texts
is aligned once however many documents have them. It changes no decision.
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
    """What was decided, with the kinds that the plan asks for."""
    if run.plan.kinds == "none":
        return decided
    low, high = _low_high()
    pairs = decided.where(_asked(run.plan.kinds)).select(low, high).distinct()
    found = pairs.toArrow()
    if not len(found):
        return decided
    run.progress.stage("kinds", len(found), unit="pairs")
    wanted = np.unique(np.concatenate([unsigned(found["low"]), unsigned(found["high"])]))
    texts = run.stages.keep("texts", texts_of(run, wanted))
    kinds = run.stages.keep("kinds", _aligned(run.spark.createDataFrame(found), texts))
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
    there = run.spark.sparkContext.broadcast(wanted)
    texts = run.input.mapped(_looking(there), TEXTS)
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
        for one in taken:
            digests: Array = wanted.value  # type: ignore[attr-defined]
            numbers, rows = wanted_rows(text_keys(one.batch), digests)
            texts = one.batch.records.column("text").take(pa.array(rows)).cast(pa.string())
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
        found = aligned_kinds(texts, np.arange(count), np.arange(count, 2 * count))
        columns = [
            batch.column("low"),
            batch.column("high"),
            pa.array(found.kind),
            pa.array(found.direction, mask=found.direction < 0),
            pa.array(found.confidence),
        ]
        names = [part.split()[0] for part in ALIGNED.split(", ")]
        yield pa.RecordBatch.from_arrays(columns, names=names)


def _joined(decided: DataFrame, kinds: DataFrame) -> DataFrame:
    """A kind turns with its texts."""
    low, high = _low_high()
    rows = decided.withColumns({"low": low, "high": high}).join(kinds, ["low", "high"], "left")
    open_ = sql.col("kind").isNull()
    turned = sql.col("text_digest") != sql.col("low")
    direction = sql.when(turned, (1 - sql.col("_direction")).cast("tinyint"))
    made = {
        "direction": sql.when(open_, direction.otherwise(sql.col("_direction"))),
        "confidence": sql.coalesce("confidence", "_confidence"),
        "kind": sql.coalesce("kind", "_kind"),
    }
    return rows.withColumns(made).select(*DECIDED.names)
