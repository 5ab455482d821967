"""What parts said, as the tables of a result: decisions and pairs with the names of a local run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup import schema
from neardup.decisions.kinds import Kinds
from neardup.schema import DIRECTIONS, KINDS, Array
from neardup.spark.columns import DECIDED, spark_type
from neardup.spark.told import TAG_DOCUMENT, TAG_PAIR, TAG_SEEN, Told

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DECISIONS = (
    "id string, file string, row bigint, source string, decision string, reason string, "
    "kept_id string, score double, kind string, direction string, confidence double, "
    "cluster bigint, ref boolean"
)
LAST = 2**62  # the place of rejected documents, which never meet anyone
PAIRS = "a string, b string, score double, kind string, direction string, confidence double"


def decisions(
    decided: DataFrame,
    lost: DataFrame | None,
    files: Sequence[str],
    sources: Sequence[str],
    firsts: Array,
) -> DataFrame:
    """Every document once: what parts said, and the ``lost`` ones. Clusters are numbered by their
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
    given = {
        "decision": sql.lit(2).cast("tinyint"),
        "reason": sql.col("rejected"),
        "place": sql.lit(LAST),
        **{name: sql.col(name) for name in ("position", "id", "file", "row")},
    }
    nothing = {n: sql.lit(None).cast(spark_type(DECIDED.field(n).type)) for n in _TOLD}
    return [given.get(name, nothing[name]).alias(name) for name in _TOLD]


def said(
    batch: pa.RecordBatch, files: list[str], sources: list[str], firsts: Array
) -> pa.RecordBatch:
    """Decisions with the names of a local run."""
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


def listed(decided: DataFrame, told: Told, budget: int) -> tuple[DataFrame, int, bool]:
    """All pairs where they fit, else each document with what it was set aside for."""
    tag = sql.col("tag")
    if not told.partial and told.pairs <= budget:
        chosen = decided.where(tag == TAG_PAIR)
        return chosen.mapInArrow(_pair_rows, _PAIR_ROWS), told.pairs, True
    chosen = decided.where((tag == TAG_DOCUMENT) & (sql.col("decision") == 1))
    if told.seen + told.pairs + told.duplicates <= budget:
        chosen = chosen.union(decided.where(tag.isin(TAG_PAIR, TAG_SEEN)))
    made = chosen.mapInArrow(_pair_rows, _PAIR_ROWS).dropDuplicates(["position", "other_position"])
    return made, made.count(), False


_PAIR_ROWS = f"{PAIRS}, position bigint, other_position bigint"


def _pair_rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield _pair_batch(batch)


def _pair_batch(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The earlier document first."""
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
