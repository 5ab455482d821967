"""Divides components that are too large for one task, and then assigns documents to tasks.

Weak keys (rare shingles) join most of a collection into one component, although few of its pairs
pass. This module makes the pairs of small groups from keys and sends each pair to the home of one
of its nodes; the evidence is sent to the homes that request it, and only pairs that may pass become
edges. Hot groups are not expanded: their members stay joined, and the batch engine decides them.
Superfluous edges would do no harm, so nothing here can change a decision. Fingerprints are not
handled here, because only near ones were joined (``bits_join.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.engines.spark import components
from neardup.engines.spark.component_task import PART
from neardup.engines.spark.session import Carried
from neardup.engines.spark.spark_columns import (
    BROUGHT,
    EVIDENCE,
    Sizes,
    as_rows,
    ddl,
    signed,
    spark_type,
    unsigned,
)
from neardup.engines.spark.spark_signing import filled, scorer_of
from neardup.matching.candidates import Groups, distinct, pairs_within, share_keys
from neardup.matching.evidence import EvidenceStore, Verifier
from neardup.matching.shared_keys import sharing_pairs, small_and_large
from neardup.plan import FEWEST_PAIRS, USUAL_PAIRS, Plan
from neardup.schema import Array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from neardup.engines.spark.spark_run import Run

# Packed pairs with the number of shared keys; a request for the evidence of a node; or an edge.
CANDIDATES = pa.schema(
    [
        ("home", pa.int32()),
        ("node", pa.int64()),
        ("a", pa.binary()),
        ("b", pa.binary()),
        ("shared", pa.binary()),
        ("edge_a", pa.int64()),
        ("edge_b", pa.int64()),
    ]
)
APART = 1 << 40  # numbers of components that result from a division begin here


def taken_apart(
    run: Run,
    tables: tuple[DataFrame, DataFrame],
    joined: components.Joined,
    here: Carried,
    buckets: int,
    homes: int,
) -> components.Joined:
    """The components; those above the limit are joined by verified pairs only. ``tables`` are the
    signed rows, and those with evidence."""
    rows, brought = tables
    sizes = joined.table.groupBy("component").count()
    large = sizes.where(sql.col("count") > run.tuning.giant).select("component")
    giants = joined.table.join(large, "component").select("node")
    small = joined.table.join(large, "component", "left_anti").select("node", "component")
    inside = rows.join(giants, "node").where("keys is not null")
    packed = inside.select("node", "id", "rejected", "probes", "keys").mapInArrow(
        components.packer(buckets), ddl(components.PACKED_KEYS)
    )
    made = packed.groupBy("bucket").applyInArrow(_pairing(here, homes), ddl(CANDIDATES))
    candidates = run.stages.keep("candidates", made)
    edges = _verified(candidates, brought, here, homes).union(
        candidates.where("edge_a is not null").select("edge_a", "edge_b").toDF("a", "b")
    )
    edges = run.stages.keep("verified", edges)
    again = components.join(run.spark, edges, edges.count(), limit=run.tuning.driver_edges)
    moved = again.table.select("node", (sql.col("component") + APART).alias("component"))
    return replace(
        joined,
        table=small.union(moved),
        largest=max(again.largest, min(joined.largest, run.tuning.giant)),
        components=joined.components + again.components,
        rounds=[*joined.rounds, *again.rounds],
        apart=again.statistics(),
    )


def _pairing(here: Carried, homes: int) -> Callable[[pa.Table], pa.Table]:
    def pair(table: pa.Table) -> pa.Table:
        nodes, keys, looks = components.unpacked_keys(table)
        least = here.plan().method.meeting.least_shared
        groups = share_keys(keys, looks)
        budget = max(USUAL_PAIRS * len(nodes), FEWEST_PAIRS)
        a, b, shared, hot = _candidates(groups, len(nodes), least, budget)
        batches = [
            *_packed_pairs(nodes[a], nodes[b], shared, homes),
            _edges(*(nodes[some] for some in components.stars(hot.members))),
        ]
        return pa.Table.from_batches(batches, CANDIDATES)

    return pair


def _candidates(
    groups: Groups, count: int, least: int, budget: int
) -> tuple[Array, Array, Array, Groups]:
    """Pairs with the number of keys of this bucket that they share, and the hot groups."""
    if least == 1:
        a, b, hot = pairs_within(distinct(groups), budget)
        return a, b, np.ones(len(a), np.int32), hot
    small, large = small_and_large(groups)
    a, b, shared, _ = sharing_pairs(small, count, 1)
    c, d, hot = pairs_within(large, budget)
    enough = np.full(len(c), least, np.int32)  # these pairs are checked later, with all keys
    return (
        np.concatenate([a, c]),
        np.concatenate([b, d]),
        np.concatenate([shared.astype(np.int32), enough]),
        hot,
    )


def _edges(a: Array, b: Array) -> pa.RecordBatch:
    both = np.unique(np.stack([a, b]), axis=1) if len(a) else np.empty((2, 0), np.uint64)
    both = both[:, both[0] != both[1]]
    columns = {"edge_a": signed(both[0]), "edge_b": signed(both[1])}
    return filled(columns, both.shape[1], CANDIDATES)


def _packed_pairs(a: Array, b: Array, shared: Array, homes: int) -> Iterator[pa.RecordBatch]:
    """Pairs by the home of their smaller node, which requests the evidence of both."""
    low, high = np.minimum(a, b), np.maximum(a, b)
    different = low != high
    low, high, shared = low[different], high[different], shared[different]
    home = components.bucket_of(low, homes)
    for number in range(homes):
        chosen = home == number
        if not chosen.any():
            continue
        asked = np.unique(np.concatenate([low[chosen], high[chosen]]))
        place = pa.array(np.full(len(asked), number, np.int32))
        yield filled({"home": place, "node": signed(asked)}, len(asked), CANDIDATES)
        packed = {
            "home": pa.array([number], pa.int32()),
            "a": pa.array([low[chosen].tobytes()], pa.binary()),
            "b": pa.array([high[chosen].tobytes()], pa.binary()),
            "shared": pa.array([shared[chosen].tobytes()], pa.binary()),
        }
        yield filled(packed, 1, CANDIDATES)


def _verified(candidates: DataFrame, brought: DataFrame, here: Carried, homes: int) -> DataFrame:
    asked = candidates.where("node is not null").select("home", "node").distinct()
    evidence = brought.select("node", "evidence").dropDuplicates(["node"])
    answered = asked.join(evidence, "node")
    nothing = sql.lit(None).cast("binary")
    empty = [nothing.alias(name) for name in ("a", "b", "shared")]
    both = (
        candidates.where("a is not null")
        .select("home", "node", "a", "b", "shared", nothing.alias("evidence"))
        .union(answered.select("home", "node", *empty, "evidence"))
    )

    def verify(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield _passing(batches, here.plan())

    return both.repartition(homes, "home").mapInArrow(verify, ddl(components.EDGES))


def _passing(batches: Iterator[pa.RecordBatch], plan: Plan) -> pa.RecordBatch:
    """The pairs of a home that pass."""
    store = EvidenceStore(plan.method.evidence_dtype, limit=plan.evidence_limit)
    names, a, b, shared = [], [], [], []
    for batch in batches:
        pairs = batch.filter(batch.column("a").is_valid())
        a.append(as_rows(pairs.column("a"), np.uint64).values)
        b.append(as_rows(pairs.column("b"), np.uint64).values)
        shared.append(as_rows(pairs.column("shared"), np.int32).values)
        brought = batch.filter(batch.column("evidence").is_valid())
        names.append(unsigned(brought.column("node")))
        store.append(as_rows(brought.column("evidence"), plan.method.evidence_dtype))
    first, second = _together(_all(a), _all(b), _all(shared), plan.method.meeting.least_shared)
    distinct, slot = np.unique(_all(names), return_index=True)
    at, to = (slot[np.searchsorted(distinct, some)] for some in (first, second))
    passed = Verifier(scorer_of(plan).possible, store).scores(at, to).passed
    store.close()
    edges = [signed(first[passed]), signed(second[passed])]
    return pa.RecordBatch.from_arrays(edges, schema=components.EDGES)


def _all(parts: list[Array]) -> Array:
    return np.concatenate([np.empty(0, np.uint64 if not parts else parts[0].dtype), *parts])


def _together(a: Array, b: Array, shared: Array, least: int) -> tuple[Array, Array]:
    """Each pair once, if its buckets together have enough shared keys."""
    if not len(a):
        return a, b
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    new = np.concatenate([[True], (a[1:] != a[:-1]) | (b[1:] != b[:-1])])
    starts = np.flatnonzero(new)
    enough = np.add.reduceat(shared[order], starts) >= least
    return a[starts][enough], b[starts][enough]


@dataclass(frozen=True)
class Matched:
    """``rows`` are the signed rows; ``documents`` have their places, without keys and evidence."""

    rows: DataFrame
    documents: DataFrame
    brought: DataFrame  # keys and evidence of at least the nodes that meet others
    joined: components.Joined
    here: Carried
    sizes: Sizes
    count: int  # of parts

    def parts(self, work: PartWork, schema: pa.Schema) -> DataFrame:
        """The results of ``work`` for each part, with this ``schema``."""
        here = self.here

        def decide(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return work(batches, here.plan())

        both = self._documents().union(self._evidence())
        parted = both.repartition(self.count, "part").drop("part")
        return parted.mapInArrow(decide, ddl(schema))

    def _documents(self) -> DataFrame:
        accepted = self.documents.where("rejected is null").join(
            self.joined.small(), "node", "left"
        )
        meets = sql.col("component").isNotNull().alias("meets")
        columns = {name: sql.col(name) for name in PART.names if name not in EVIDENCE.names}
        part = sql.coalesce("component", "node").alias("part")
        return accepted.select(part, *_filled({**columns, "meets": meets}))

    def _evidence(self) -> DataFrame:
        bringing = self.brought.join(self.joined.small(), "node", "inner")
        columns = {n: sql.col(n) for n in BROUGHT.names}
        return bringing.select(sql.col("component").alias("part"), *_filled(columns))


PartWork = Callable[[Iterator[pa.RecordBatch], Plan], Iterator[pa.RecordBatch]]


def _filled(given: dict[str, Column]) -> list[Column]:
    """The columns of a part; those that are missing are null."""
    return [
        given.get(column.name, sql.lit(None)).cast(spark_type(column.type)).alias(column.name)
        for column in PART
    ]
