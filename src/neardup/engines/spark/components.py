"""Keys → which nodes meet → connected components of them.

Keys are grouped natively in buckets; a bucket holds all entries of its keys. Keys travel packed, a
row a bucket and batch, so Spark moves bytes and not entries. A group of any size gives one edge a
member and no pairs: a hot key costs no more than its members.

Few edges are joined on the driver. More are joined by Spark, by alternating large-star and
small-star (Kiveris et al. 2014): every node ends at the smallest of its component, in a number of
rounds that grows with the logarithm of the longest path. Each round counts its edges and whether
any moved; it is done when none did.
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
# ``b`` is missing where ``a`` is the digest of an id that came twice.
EDGES = pa.schema([("a", pa.int64()), ("b", pa.int64())])
BUCKET_BYTES = 64 << 20  # of keys, which a task holds some times over


def edges(rows: DataFrame, buckets: int) -> DataFrame:
    """Of signed rows: edges between nodes that share a key, and ids that are not the only ones."""
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

    there = batch.filter(batch.column("keys").is_valid())
    nodes, keys = unsigned(there.column("node")), as_rows(there.column("keys"), np.uint64)
    probes = there.column("probes").to_numpy()
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
    """Edges, and which of the digests of ``ids`` came twice."""
    twice, counts = np.unique(ids, return_counts=True)
    twice = twice[counts > 1]
    first = np.concatenate([a, twice])
    missing = np.arange(len(first)) >= len(a)
    second = np.concatenate([b, np.zeros(len(twice), np.uint64)])
    return pa.table([signed(first), pa.array(second.view(np.int64), mask=missing)], schema=EDGES)


def unpacked_keys(table: pa.Table) -> tuple[Array, Ragged, Array]:
    """Nodes with their keys, and with how many of these they look. One that several tasks have
    seen comes several times, which joins no more."""
    ends = offsets_of(all_values(table, "counts", np.int32))
    keys = Ragged(all_values(table, "keys", np.uint64), ends)
    return all_values(table, "nodes", np.uint64), keys, all_values(table, "looks", np.int32)


def all_values(table: pa.Table, name: str, dtype: type[np.generic]) -> Array:
    parts = [as_rows(chunk, dtype).values for chunk in table.column(name).chunks]
    return np.concatenate([np.empty(0, dtype), *parts])


def joining(nodes: Array, keys: Ragged, looks: Array) -> tuple[Array, Array]:
    """As few edges as connect all that share a key."""
    return spanning(nodes, *stars(share_keys(keys, looks).members))


def stars(groups: Ragged) -> tuple[Array, Array]:
    """The first member of each group with all its members."""
    heads = np.repeat(groups.values[groups.offsets[:-1]], groups.lengths)
    return heads, groups.values


def spanning(nodes: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """As few edges between nodes as connect all that ``a`` and ``b``, numbers of nodes, do."""
    cluster = components(len(nodes), a, b)
    inside = np.flatnonzero(cluster >= 0)
    _, first = np.unique(cluster[inside], return_index=True)
    root = inside[first][cluster[inside]]
    others = root != inside
    return nodes[root[others]], nodes[inside[others]]
