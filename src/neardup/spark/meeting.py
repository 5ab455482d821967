"""Keys → which nodes meet: keys in buckets, grouped natively, as few edges as join them.

A bucket holds all entries of its keys. Keys travel packed, a row a bucket and batch, so Spark moves
bytes and not entries. A group of any size gives one edge a member and no pairs: a hot key costs no
more than its members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup.decisions.clusters import components
from neardup.matching.candidates import share_keys
from neardup.schema import Array, Ragged, offsets_of
from neardup.spark.columns import SPREAD, as_rows, ddl, signed, unsigned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    from neardup.spark.signing import id_digests

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
