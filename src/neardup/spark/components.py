"""Connected components of the nodes that meet.

Few edges are joined on the driver. More are joined by Spark, by alternating large-star and
small-star (Kiveris et al. 2014): every node ends at the smallest of its component, in a number of
rounds that grows with the logarithm of the longest path. Each round counts its edges and whether
any moved; it is done when none did.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.decisions.clusters import components
from neardup.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DRIVER_EDGES = 4_000_000  # 16 bytes each
MOST_ROUNDS = 100


@dataclass
class Joined:
    """``table`` has ``node`` and ``component``, for nodes that meet others. ``rounds`` are the
    edges that each round began with; none where the driver did it."""

    table: DataFrame
    nodes: int
    components: int
    largest: int
    rounds: list[int] = field(default_factory=list)
    apart: dict[str, object] | None = None  # of those that were taken apart

    def small(self) -> DataFrame:
        """The table, sent whole to every task where the driver could have made it."""
        return sql.broadcast(self.table) if self.nodes <= DRIVER_EDGES else self.table

    def statistics(self) -> dict[str, object]:
        return {
            "nodes": self.nodes,
            "components": self.components,
            "largest": self.largest,
            "rounds": self.rounds,
            **({"apart": self.apart} if self.apart else {}),
        }


def join(spark: SparkSession, edges: DataFrame, count: int, *, limit: int = DRIVER_EDGES) -> Joined:
    """``edges`` with the columns ``a`` and ``b``, ``count`` of them."""
    if count <= limit:
        return on_driver(spark, edges.toArrow())
    return _by_stars(edges)


def on_driver(spark: SparkSession, edges: pa.Table) -> Joined:
    a, b = edges["a"].to_numpy(), edges["b"].to_numpy()
    nodes, number = np.unique(np.concatenate([a, b]), return_inverse=True)
    number = number.reshape(-1)
    label = components(len(nodes), number[: len(a)], number[len(a) :])
    there = label >= 0
    sizes = np.bincount(label[there]) if there.any() else np.zeros(0, np.int64)
    schema = "node bigint, component bigint"
    arrow = pa.table({"node": nodes[there], "component": label[there].astype(np.int64)})
    table = spark.createDataFrame(arrow, schema)
    return Joined(table, int(there.sum()), len(sizes), int(sizes.max(initial=0)))


def _by_stars(edges: DataFrame) -> Joined:
    rounds: list[int] = []
    current = _undirected(edges).distinct().localCheckpoint()
    before = None
    while True:
        rounds.append(current.count())
        current = _small_star(_large_star(current)).localCheckpoint()
        now = current.agg(
            sql.count("*"), sql.sum(sql.xxhash64("a", "b").cast("decimal(38,0)"))
        ).first()
        if now == before:
            break
        before = now
        if len(rounds) == MOST_ROUNDS:
            raise DataError(
                f"Components did not settle in {MOST_ROUNDS} rounds.",
                hint="this is a bug in neardup; nothing was written. Please report it.",
            )
    table = current.select(sql.col("a").alias("node"), sql.col("b").alias("component"))
    roots = table.select(sql.col("component").alias("node"), "component").distinct()
    table = table.union(roots).distinct().localCheckpoint()
    sizes = table.groupBy("component").count()
    found = sizes.agg(sql.sum("count"), sql.count("*"), sql.max("count")).first()
    assert found is not None
    return Joined(table, int(found[0]), int(found[1]), int(found[2]), rounds)


def _undirected(edges: DataFrame) -> DataFrame:
    """(larger, smaller); an edge of a node with itself joins nothing."""
    a, b = sql.greatest("a", "b").alias("a"), sql.least("a", "b").alias("b")
    return edges.select(a, b).where("a <> b")


def _large_star(edges: DataFrame) -> DataFrame:
    """Every larger neighbour of a node is connected to the smallest of its neighbours."""
    both = edges.union(edges.select(sql.col("b").alias("a"), sql.col("a").alias("b")))
    least = both.groupBy("a").agg(sql.least(sql.min("b"), sql.col("a")).alias("least"))
    return (
        both.join(least, "a")
        .where("b > a")
        .select(sql.col("b").alias("a"), sql.col("least").alias("b"))
        .distinct()
    )


def _small_star(edges: DataFrame) -> DataFrame:
    """A node and its smaller neighbours are connected to the smallest of these."""
    least = edges.groupBy("a").agg(sql.min("b").alias("least"))
    moved = edges.join(least, "a").select(sql.col("b").alias("a"), sql.col("least").alias("b"))
    return moved.where("a <> b").union(least.select("a", sql.col("least").alias("b"))).distinct()
