"""Keys → nodes that meet → connected components.

Keys are grouped natively in buckets; a bucket has all entries of its keys. Keys are sent packed,
one row for each bucket and batch, so that Spark moves bytes instead of entries. A group of any size
is represented by one edge for each member instead of pairs, so a hot key costs no more than its
members.

A small number of edges is joined on the driver. More edges are joined by Spark, with alternating
large-star and small-star operations (Kiveris et al. 2014): every node ends at the smallest node of
its component, in a number of rounds that grows with the logarithm of the longest path. Each round
counts its edges and whether any moved; the last one is the round in which none did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.decisions.clusters import components
from neardup.engines.spark.spark_columns import as_rows, ddl, signed, unsigned
from neardup.errors import DataError
from neardup.matching.candidates import share_keys
from neardup.methods.meeting import SPREAD
from neardup.schema import Array, Ragged, offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DRIVER_EDGES = 4_000_000  # 16 bytes each
MOST_ROUNDS = 100


@dataclass
class Joined:
    """``table`` has ``node`` and ``component`` of nodes that meet others. ``rounds`` is the number
    of edges at the begin of each round; empty if the driver joined them."""

    table: DataFrame
    nodes: int
    components: int
    largest: int
    rounds: list[int] = field(default_factory=list)
    apart: dict[str, object] | None = None  # figures of the components that were divided

    def small(self) -> DataFrame:
        """The table, broadcast to every task if the driver could have made it."""
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
    """The components of ``count`` edges with the columns ``a`` and ``b``."""
    if count <= limit:
        return on_driver(spark, edges.toArrow())
    return _by_stars(edges)


def on_driver(spark: SparkSession, edges: pa.Table) -> Joined:
    a, b = edges["a"].to_numpy(), edges["b"].to_numpy()
    nodes, number = np.unique(np.concatenate([a, b]), return_inverse=True)
    number = number.reshape(-1)
    label = components(len(nodes), number[: len(a)], number[len(a) :])
    present = label >= 0
    sizes = np.bincount(label[present]) if present.any() else np.zeros(0, np.int64)
    schema = "node bigint, component bigint"
    arrow = pa.table({"node": nodes[present], "component": label[present].astype(np.int64)})
    table = spark.createDataFrame(arrow, schema)
    return Joined(table, int(present.sum()), len(sizes), int(sizes.max(initial=0)))


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
    totals = sizes.agg(sql.sum("count"), sql.count("*"), sql.max("count")).first()
    assert totals is not None
    return Joined(table, int(totals[0]), int(totals[1]), int(totals[2]), rounds)


def _undirected(edges: DataFrame) -> DataFrame:
    """Edges as (larger, smaller), without edges from a node to itself."""
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


# Keys of the documents of a batch that belong to a bucket; ``ids`` are digests of all ids.
PACKED_KEYS = pa.schema(
    [
        ("bucket", pa.int32()),
        ("nodes", pa.binary()),
        ("counts", pa.binary()),
        ("looks", pa.binary()),
        ("keys", pa.binary()),
        ("ids", pa.binary()),
    ]
)
# If ``b`` is missing, ``a`` is the digest of an id that occurred twice.
EDGES = pa.schema([("a", pa.int64()), ("b", pa.int64())])
BUCKET_BYTES = 64 << 20  # keys of a bucket, of which a task holds several copies


def edges(rows: DataFrame, buckets: int) -> DataFrame:
    """Edges between nodes of the signed rows that share a key, and ids that occur more than
    once."""
    packed = rows.select("node", "id", "rejected", "probes", "keys").mapInArrow(
        packer(buckets), ddl(PACKED_KEYS)
    )
    return packed.groupBy("bucket").applyInArrow(_met, ddl(EDGES))


def packer(buckets: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield packed_keys(batch, buckets)

    return pack


def packed_keys(batch: pa.RecordBatch, buckets: int) -> pa.RecordBatch:
    from neardup.engines.spark.spark_signing import id_digests

    with_keys = batch.filter(batch.column("keys").is_valid())
    nodes, keys = unsigned(with_keys.column("node")), as_rows(with_keys.column("keys"), np.uint64)
    probes = with_keys.column("probes").to_numpy()
    document = np.repeat(np.arange(len(nodes)), keys.lengths)
    inside = np.arange(len(document)) - np.repeat(keys.offsets[:-1], keys.lengths)
    looks = inside < probes[document]
    bucket = bucket_of(keys.values, buckets)
    order = np.argsort(bucket, kind="stable")
    ends = np.searchsorted(bucket[order], np.arange(buckets + 1))
    named = id_digests(batch.filter(batch.column("rejected").is_null()).column("id"))
    of_ids = bucket_of(named, buckets)
    by_ids = np.argsort(of_ids, kind="stable")
    id_ends = np.searchsorted(of_ids[by_ids], np.arange(buckets + 1))
    rows: dict[str, list[bytes]] = {name: [] for name in PACKED_KEYS.names[1:]}
    for number in range(buckets):
        chosen = order[ends[number] : ends[number + 1]]
        some, counts = np.unique(document[chosen], return_counts=True)
        looking = np.add.reduceat(looks[chosen], offsets_of(counts)[:-1]) if len(some) else some
        rows["nodes"].append(nodes[some].tobytes())
        rows["counts"].append(counts.astype(np.int32).tobytes())
        rows["looks"].append(np.asarray(looking).astype(np.int32).tobytes())
        rows["keys"].append(keys.values[chosen].tobytes())
        rows["ids"].append(named[by_ids[id_ends[number] : id_ends[number + 1]]].tobytes())
    columns = [pa.array(np.arange(buckets, dtype=np.int32))]
    columns += [pa.array(values, pa.binary()) for values in rows.values()]
    return pa.RecordBatch.from_arrays(columns, schema=PACKED_KEYS)


def bucket_of(keys: Array, buckets: int) -> Array:
    spread = (keys * SPREAD) >> np.uint64(40)
    return (spread % np.uint64(buckets)).astype(np.int32)


def _met(table: pa.Table) -> pa.Table:
    nodes, keys, looks = unpacked_keys(table)
    a, b = joining(nodes, keys, looks)
    return edge_rows(a, b, all_values(table, "ids", np.uint64))


def edge_rows(a: Array, b: Array, ids: Array) -> pa.Table:
    """Edges, and the digests of ``ids`` that occur more than once."""
    twice, counts = np.unique(ids, return_counts=True)
    twice = twice[counts > 1]
    first = np.concatenate([a, twice])
    missing = np.arange(len(first)) >= len(a)
    second = np.concatenate([b, np.zeros(len(twice), np.uint64)])
    return pa.table([signed(first), pa.array(second.view(np.int64), mask=missing)], schema=EDGES)


def unpacked_keys(table: pa.Table) -> tuple[Array, Ragged, Array]:
    """Nodes with their keys and the number of keys that search. A node that several tasks have sent
    is repeated, which does not change the components."""
    ends = offsets_of(all_values(table, "counts", np.int32))
    keys = Ragged(all_values(table, "keys", np.uint64), ends)
    return all_values(table, "nodes", np.uint64), keys, all_values(table, "looks", np.int32)


def all_values(table: pa.Table, name: str, dtype: type[np.generic]) -> Array:
    parts = [as_rows(chunk, dtype).values for chunk in table.column(name).chunks]
    return np.concatenate([np.empty(0, dtype), *parts])


def joining(nodes: Array, keys: Ragged, looks: Array) -> tuple[Array, Array]:
    """The fewest edges that connect all nodes that share a key."""
    return spanning(nodes, *stars(share_keys(keys, looks).members))


def stars(groups: Ragged) -> tuple[Array, Array]:
    """Pairs of the first member of each group with all its members."""
    heads = np.repeat(groups.values[groups.offsets[:-1]], groups.lengths)
    return heads, groups.values


def spanning(nodes: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """The fewest edges between nodes that connect the same nodes as ``a`` and ``b``."""
    cluster = components(len(nodes), a, b)
    inside = np.flatnonzero(cluster >= 0)
    _, first = np.unique(cluster[inside], return_index=True)
    root = inside[first][cluster[inside]]
    others = root != inside
    return nodes[root[others]], nodes[inside[others]]
