"""What tests of Spark compare: real documents as shuffled rows, and results to the bit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import neardup as nd
from test_real_data import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Document = dict[str, Any]
ROW = ["file", "row", "source"]  # a DataFrame has no files


def real(data: Path, count: int = 400) -> list[Document]:
    found = rows(data / "press_de" / "docs.jsonl.zst", count)
    return [
        {"id": one["id"], "text": one["text"], "at": at, "outlet": one.get("outlet") or "none"}
        for at, one in enumerate(found)
    ]


def framed(
    spark: SparkSession, documents: list[Document], *, partitions: int = 2, seed: int = 1
) -> DataFrame:
    shuffled = list(documents)
    random.Random(seed).shuffle(shuffled)
    return spark.createDataFrame(pa.Table.from_pylist(shuffled)).repartition(partitions)


def check_equal(result: Any, local: nd.Result) -> None:
    """Decisions, pairs and clusters, to the bit."""
    tables = result.collected()
    ours, theirs = tables.decisions.drop_columns(ROW), local.decisions.drop_columns(ROW)
    for mine, other in zip(ours.to_pylist(), theirs.to_pylist(), strict=True):
        assert mine == other
    assert tables.pairs.to_pylist() == local.pairs.to_pylist()
    assert tables.rank.tolist() == local.rank.tolist()
    clusters = result.clusters.orderBy("cluster").toArrow().to_pylist()
    assert clusters == local.clusters.to_pylist()
    expected = {**vars(local.counts)}
    assert vars(result.counts) == expected


def same(ours: nd.Result, theirs: nd.Result) -> None:
    for name in ("decisions", "pairs"):
        for mine, other in zip(
            getattr(ours, name).to_pylist(), getattr(theirs, name).to_pylist(), strict=True
        ):
            assert mine == other
    assert ours.decisions.schema == theirs.decisions.schema
    assert ours.rank.tolist() == theirs.rank.tolist()
    assert ours.text_digests is not None
    assert theirs.text_digests is not None
    assert ours.text_digests.tolist() == theirs.text_digests.tolist()
    assert ours.counts == theirs.counts
