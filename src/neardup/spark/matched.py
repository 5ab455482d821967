"""Documents in their places and who meets whom, as parts that tasks decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.plan import Plan
from neardup.spark import components
from neardup.spark.carried import Carried
from neardup.spark.columns import BROUGHT, EVIDENCE, ddl, spark_type
from neardup.spark.parts import PART
from neardup.spark.sizes import Sizes

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class Matched:
    """``rows`` as signed; ``documents`` in their places, without keys and evidence."""

    rows: DataFrame
    documents: DataFrame
    brought: DataFrame  # keys and evidence of at least the nodes that meet others
    joined: components.Joined
    here: Carried
    sizes: Sizes
    count: int  # of parts

    def parts(self, work: PartWork, schema: pa.Schema) -> DataFrame:
        """What ``work`` makes of each part, with that ``schema``."""
        here = self.here

        def decide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return work(batches, here.plan())

        both = self._documents().union(self._evidence())
        parted = both.repartition(self.count, "part").drop("part")
        return parted.mapInArrow(decide, ddl(schema))

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


def _filled(given: dict[str, Column]) -> list[Column]:
    """The columns of a part; those not given are null."""
    return [
        given.get(one.name, sql.lit(None)).cast(spark_type(one.type)).alias(one.name)
        for one in PART
    ]
