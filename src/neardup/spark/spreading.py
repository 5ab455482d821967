"""Work that the driver lists, spread over tasks: pieces of files, references."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def spread(
    spark: SparkSession,
    items: Sequence[Any],
    work: Callable[[Iterator[Any]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """What ``work`` makes of the items, each in a task of its own. Spark's own rows are numbers:
    rows made of Python objects would pass through one more Python worker a task."""
    there = spark.sparkContext.broadcast([pickle.dumps(item) for item in items])

    def map_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (number for rows in batches for number in rows.column(0).to_pylist())
        return work(pickle.loads(there.value[number]) for number in numbers)

    return spark.range(0, len(items), 1, max(len(items), 1)).mapInArrow(map_numbers, schema)
