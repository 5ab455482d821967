"""Who meets whom, of signed rows: by keys in buckets, or fingerprints by their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sql

from neardup.methods.method import BitsMethod
from neardup.spark import components, meeting, near_bits
from neardup.spark.signing import by_bits
from neardup.spark.sizes import Sizes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from neardup.spark.run import Run


def key_buckets(run: Run, sizes: Sizes) -> int:
    fitting = -(-sizes.key_bytes // meeting.BUCKET_BYTES)
    return run.tuning.buckets or max(run.parallel, fitting)


def joined(run: Run, rows: DataFrame, sizes: Sizes) -> tuple[components.Joined, bool]:
    """Which nodes meet, and whether an id came twice."""
    made, buckets = _edges(run, rows, sizes)
    edges = run.stages.keep("edges", made)
    if sizes.documents * buckets <= run.tuning.driver_edges:  # that many at most
        table = edges.toArrow()
        there = table.filter(table["b"].is_valid())
        run.statistics["edges"] = len(there)
        return components.on_driver(run.spark, there), len(there) < len(table)
    counted = {row["repeats"]: row["count"] for row in _by_null(edges)}
    run.statistics["edges"] = count = counted.get(False, 0)
    there = edges.where("b is not null")
    found = components.join(run.spark, there, count, limit=run.tuning.driver_edges)
    return found, bool(counted.get(True, 0))


def _edges(run: Run, rows: DataFrame, sizes: Sizes) -> tuple[DataFrame, int]:
    """Who meets whom, and by how many buckets that is found."""
    method = run.plan.method
    if not by_bits(run.plan):
        buckets = key_buckets(run, sizes)
        return meeting.edges(rows, buckets), buckets
    assert isinstance(method, BitsMethod)
    tables = near_bits.tables_for(
        method,
        run.tuning.prints or near_bits.count(rows),
        sizes.documents,
        cores=run.parallel,
        each=run.tuning.buckets,
        grouped=run.plan.within is not None,
    )
    run.statistics["tables"] = len(tables.masks)
    return near_bits.edges(rows, tables), tables.buckets


def _by_null(edges: DataFrame) -> list[Any]:
    return edges.groupBy(sql.col("b").isNull().alias("repeats")).count().collect()
