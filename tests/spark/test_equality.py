"""Local and Spark decide alike, whatever the partitions, their order and what fails on the way."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import neardup as nd
from test_real_data import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark: pandas is newer than it knows
Document = dict[str, Any]
ROW = ["file", "row", "source"]  # a DataFrame has no files


def real(data: Path, count: int = 400) -> list[Document]:
    found = rows(data / "press_de" / "docs.jsonl.zst")[:count]
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


@pytest.mark.parametrize("partitions", [1, 5])
@pytest.mark.parametrize("method", ["shingles", "simhash"])
def test_on_real_documents(spark: SparkSession, data: Path, method: str, partitions: int) -> None:
    """A set method and a signature method, on shuffled rows."""
    documents = real(data)
    frame = framed(spark, documents, partitions=partitions, seed=partitions)
    result = nd.spark.dedup(frame, position="at", method=method)
    check_equal(result, nd.dedup(documents, method=method))
    kept = {row["id"] for row in result.kept.select("id").collect()}
    assert len(kept) == result.counts.kept
    result.release()
