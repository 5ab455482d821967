"""Local and Spark decide alike, whatever the partitions, their order and what fails on the way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import neardup as nd
from neardup.plan import resolve, settings_of
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


def test_a_task_that_is_lost_and_tried_again(
    spark: SparkSession, data: Path, tmp_path: Path
) -> None:
    """As with a machine that is lost when half of its work is done."""
    documents, marker = real(data, 200), tmp_path / "failed"

    def fail_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, batch in enumerate(batches):
            yield batch
            if number == 0 and not marker.exists():
                marker.touch()
                raise OSError("the task is lost")

    frame = framed(spark, documents)
    frame = frame.mapInArrow(fail_once, frame.schema)
    result = nd.spark.dedup(frame, position="at", method="simhash", kinds="none")
    assert marker.exists()
    check_equal(result, nd.dedup(documents, method="simhash", kinds="none"))
    result.release()


def ran(spark: SparkSession, documents: list[Document], tuning: Any, **settings: Any) -> Any:
    from neardup.spark.frames import FrameInput
    from neardup.spark.run import run

    plan = resolve(settings_of({"kinds": "none", **settings}))
    given = FrameInput(framed(spark, documents), plan.columns, "at")
    return run(spark, given, plan, tuning=tuning)


def test_components_by_stars_and_giants_taken_apart(spark: SparkSession, data: Path) -> None:
    """With limits so low that every path of a large collection is taken."""
    from neardup.spark.run import Tuning

    documents = real(data)
    low = Tuning(driver_edges=5, buckets=3, parts=3, giant=4)
    result = ran(spark, documents, low, method="shingles", threshold=0.5)
    said = result.info["statistics"]["components"]
    assert said["rounds"]
    assert said["apart"]
    check_equal(result, nd.dedup(documents, method="shingles", threshold=0.5, kinds="none"))
    result.release()


def test_the_usual_method_calibrates_as_on_one_machine(spark: SparkSession, data: Path) -> None:
    """Counted, calibrated and taken apart by Spark; in groups, and the longest kept."""
    from neardup.spark.run import Tuning

    documents = real(data, 700)
    settings = {"keep": "outlet:asc; longest", "within": "outlet"}
    result = ran(spark, documents, Tuning(giant=50), **settings)
    local = nd.dedup(documents, kinds="none", **settings)
    check_equal(result, local)
    assert result.info["artefacts"] == local.info["artefacts"]
    result.release()
