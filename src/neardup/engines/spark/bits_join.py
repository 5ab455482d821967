"""Signed rows → edges between nodes that meet: by shared keys, or by near fingerprints.

The cheapest number of tables depends on the number of fingerprints (Manku et al. 2007), which is
unknown while documents are signed. Once they are counted, each fingerprint itself, which is the
whole evidence, is sent once for each table. A bucket has all fingerprints that agree under its
table and compares them natively. An accidental meeting costs one comparison and adds no edge, so no
component has to be divided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup import _native
from neardup.engines.spark import components
from neardup.engines.spark.spark_columns import Sizes, as_bytes, as_rows, ddl, unsigned
from neardup.engines.spark.spark_signing import filled, group_digests, id_digests, near_bits
from neardup.methods.base import TOO_SHORT
from neardup.methods.meeting import NearBits, mixed
from neardup.plan import FEWEST_PAIRS, USUAL_PAIRS
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.engines.spark.spark_run import Run

# ``words`` has for each node its number, the digest of its group if there are groups, and its
# fingerprint. Buckets after those of the last table hold digests of ``ids`` instead.
PACKED_PRINTS = pa.schema([("bucket", pa.int32()), ("words", pa.binary()), ("ids", pa.binary())])


@dataclass(frozen=True)
class Tables:
    """``each`` is the number of buckets of a table."""

    masks: Array
    distance: int
    each: int
    id_buckets: int
    grouped: bool

    @property
    def lanes(self) -> int:
        return int(self.masks.shape[1])

    @property
    def buckets(self) -> int:
        return len(self.masks) * self.each + self.id_buckets


def count(rows: DataFrame) -> int:
    """The approximate number of fingerprints."""
    long = sql.col("flags").bitwiseAND(TOO_SHORT) == 0
    signed = rows.where(long & sql.col("evidence").isNotNull())
    counted: Any = signed.agg(sql.approx_count_distinct("node")).first()
    return int(counted[0])


def tables_for(
    way: NearBits, prints: int, documents: int, *, cores: int, each: int | None, grouped: bool
) -> Tables:
    """The tables for so many fingerprints; ``each`` is chosen unless it is set."""
    masks = way.masks(prints, cores)
    words = 1 + grouped + masks.shape[1]
    fitting = -(-8 * words * prints // components.BUCKET_BYTES)
    chosen = each or max(fitting, -(-cores // len(masks)), 1)
    id_buckets = each or max(-(-8 * documents // components.BUCKET_BYTES), 1)
    return Tables(masks, way.distance, chosen, id_buckets, grouped)


def edges(rows: DataFrame, tables: Tables) -> DataFrame:
    """Edges between near nodes of the signed rows, and ids that occur more than once."""
    names = ("node", "id", "rejected", "flags", "within", "evidence")
    packed = rows.select(*names).mapInArrow(_packer(tables), ddl(PACKED_PRINTS))
    return packed.groupBy("bucket").applyInArrow(_meeter(tables), ddl(components.EDGES))


def _packer(tables: Tables) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from packed_prints(batch, tables)

    return pack


def packed_prints(batch: pa.RecordBatch, tables: Tables) -> Iterator[pa.RecordBatch]:
    words = _words(batch, tables)
    bucket = _buckets(words, tables)
    yield _packed("words", bucket, words[np.arange(len(bucket)) % max(len(words), 1)])
    ids = id_digests(batch.filter(batch.column("rejected").is_null()).column("id"))
    first = len(tables.masks) * tables.each
    yield _packed("ids", first + components.bucket_of(ids, tables.id_buckets), ids[:, None])


def _words(batch: pa.RecordBatch, tables: Tables) -> Array:
    """The words of nodes that bring a fingerprint. The evidence of a short document is none: only
    equal documents match it, and these are one node."""
    short = unsigned(batch.column("flags").cast(pa.int64())) & np.uint64(TOO_SHORT) != 0
    brings = np.asarray(batch.column("evidence").is_valid()) & ~short
    rows = batch.filter(pa.array(brings))
    prints = as_rows(rows.column("evidence"), np.uint64).values.reshape(-1, tables.lanes)
    groups = [group_digests(rows.column("within"))] if tables.grouped else []
    return np.column_stack([unsigned(rows.column("node")), *groups, prints])


def _buckets(words: Array, tables: Tables) -> Array:
    """The buckets of every node in the first table, then in the second, and so on."""
    prints = words[:, -tables.lanes :]
    group = words[:, 1] if tables.grouped else np.uint64(0)
    batches = [
        number * tables.each
        + components.bucket_of(mixed(prints & mask, number) ^ group, tables.each)
        for number, mask in enumerate(tables.masks)
    ]
    return np.concatenate(batches)


def _packed(name: str, bucket: Array, rows: Array) -> pa.RecordBatch:
    """``rows`` of 64-bit words, grouped by bucket."""
    order = np.argsort(bucket, kind="stable")
    numbers, begins = np.unique(bucket[order], return_index=True)
    ends = np.append(begins, len(order)) * rows.shape[1]
    values = Ragged(np.ascontiguousarray(rows[order]).reshape(-1), ends.astype(np.int64))
    columns = {"bucket": pa.array(numbers.astype(np.int32)), name: as_bytes(values)}
    return filled(columns, len(numbers), PACKED_PRINTS)


def _meeter(tables: Tables) -> Callable[[pa.Table], pa.Table]:
    def meet(table: pa.Table) -> pa.Table:
        return met(table, tables)

    return meet


def met(table: pa.Table, tables: Tables) -> pa.Table:
    """All rows of one bucket."""
    ids = components.all_values(table, "ids", np.uint64)
    number = table["bucket"][0].as_py() // tables.each
    if number >= len(tables.masks):
        return components.edge_rows(ids[:0], ids[:0], ids)
    width = 1 + tables.grouped + tables.lanes
    words = _once(components.all_values(table, "words", np.uint64).reshape(-1, width))
    a, b = components.spanning(words[:, 0], *_near(words, tables, number))
    return components.edge_rows(a, b, ids)


def _once(rows: Array) -> Array:
    """Each node once, although several tasks may have sent it."""
    rows = rows[np.lexsort(rows.T)]
    new = (rows[1:] != rows[:-1]).any(axis=1)
    return np.asarray(rows[np.concatenate([np.ones(min(len(rows), 1), np.bool_), new])])


def _near(words: Array, tables: Tables, number: int) -> tuple[Array, Array]:
    """Near pairs, by their places; if they are too many, stars of all that agree."""
    a, b, members, ends = _native.near_pairs(
        np.ascontiguousarray(words[:, -tables.lanes :]).reshape(-1),
        words[:, 1].astype(np.int64) if tables.grouped else np.empty(0, np.int64),
        tables.masks.reshape(-1),
        tables.lanes,
        tables.distance,
        number,
        max(USUAL_PAIRS * len(words), FEWEST_PAIRS),
    )
    heads, others = components.stars(Ragged(members, ends))
    return np.concatenate([a, heads]), np.concatenate([b, others])


def key_buckets(run: Run, sizes: Sizes) -> int:
    fitting = -(-sizes.key_bytes // components.BUCKET_BYTES)
    return run.tuning.buckets or max(run.parallel, fitting)


def joined(run: Run, rows: DataFrame, sizes: Sizes) -> tuple[components.Joined, bool]:
    """The nodes that meet, and whether an id occurred twice."""
    found_edges, buckets = _edges(run, rows, sizes)
    edges = run.stages.keep("edges", found_edges)
    if sizes.documents * buckets <= run.tuning.driver_edges:  # that many at most
        table = edges.toArrow()
        connected = table.filter(table["b"].is_valid())
        run.statistics["edges"] = len(connected)
        return components.on_driver(run.spark, connected), len(connected) < len(table)
    counted = {row["repeats"]: row["count"] for row in _by_null(edges)}
    run.statistics["edges"] = count = counted.get(False, 0)
    connected = edges.where("b is not null")
    found = components.join(run.spark, connected, count, limit=run.tuning.driver_edges)
    return found, bool(counted.get(True, 0))


def _edges(run: Run, rows: DataFrame, sizes: Sizes) -> tuple[DataFrame, int]:
    """Edges between nodes that meet, and the number of buckets that find them."""
    way = near_bits(run.plan)
    if way is None:
        buckets = key_buckets(run, sizes)
        return components.edges(rows, buckets), buckets
    tables = tables_for(
        way,
        run.tuning.prints or count(rows),
        sizes.documents,
        cores=run.parallel,
        each=run.tuning.buckets,
        grouped=run.plan.within is not None,
    )
    run.statistics["tables"] = len(tables.masks)
    return edges(rows, tables), tables.buckets


def _by_null(edges: DataFrame) -> list[Any]:
    return edges.groupBy(sql.col("b").isNull().alias("repeats")).count().collect()
