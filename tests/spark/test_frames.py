"""DataFrames that are not as they should be, checkpoints, and machines without Spark."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.errors import ColumnError, InputError, MissingExtraError, SettingsError
from neardup.spark import parts
from neardup.spark.session import check_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore")  # of pyspark: pandas is newer than it knows
TEXT = "one two three four five six seven eight nine ten eleven twelve and then many more of them"


def test_rows_that_cannot_be_used_are_rejected_and_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = [("a", TEXT), ("b", None), (None, TEXT), ("c", TEXT), ("a", TEXT + " fourteen")]
    frame = spark.createDataFrame(rows, "id string, text string").coalesce(1)
    result = nd.spark.dedup(frame, method="shingles", words=2)
    told = {(r["id"], r["decision"], r["reason"]) for r in result.decisions.collect()}
    assert {(i, d) for i, d, _ in told} == {
        ("a", "kept"),
        ("a", "rejected"),
        ("b", "rejected"),
        (None, "rejected"),
        ("c", "duplicate"),
    }
    assert {"text is null", "id is null"} <= {reason for _, _, reason in told}
    assert result.counts.sentence() == "5 documents = 1 kept + 1 duplicate + 3 rejected"
    where = result.save(str(tmp_path / "out"))
    stored = pq.read_table(f"{where}/decisions.parquet")
    assert sorted(stored["decision"].to_pylist()) == sorted(d for _, d, _ in told)
    assert (tmp_path / "out" / "run.json").exists()
    result.release()


def test_a_lost_application_goes_on_from_its_last_stage(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [(str(i), f"{TEXT} {i // 3}") for i in range(30)]
    spark.createDataFrame(rows, "id string, text string").write.parquet(str(tmp_path / "in"))
    frame = spark.read.parquet(str(tmp_path / "in"))
    settings: dict[str, Any] = {"method": "shingles", "words": 2, "kinds": "none"}
    whole = nd.spark.dedup(frame, **settings)
    expected = sorted(map(tuple, whole.decisions.collect()), key=str)
    folder = str(tmp_path / "stages")
    with monkeypatch.context() as lost:
        lost.setattr("neardup.spark.run.Matched.parts", _lost)
        with pytest.raises(InterruptedError):
            nd.spark.dedup(frame, checkpoint=folder, **settings)
    again = nd.spark.dedup(frame, checkpoint=folder, **settings)
    assert {"signed", "edges"} <= set(again.resumed)
    assert sorted(map(tuple, again.decisions.collect()), key=str) == expected
    other = nd.spark.dedup(frame, checkpoint=folder, **{**settings, "threshold": 0.9})
    assert not other.resumed


def _lost(*_: Any) -> Any:
    raise InterruptedError


def test_frames_that_are_none(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", TEXT)], "name string, text string")
    with pytest.raises(ColumnError, match="no column 'id' of ids; it has 'name', 'text'"):
        nd.spark.dedup(frame)
    with pytest.raises(ColumnError, match="'when', which is to order the input"):
        nd.spark.dedup(frame, id="name", position="when")
    with pytest.raises(SettingsError, match="limit counts documents of files"):
        nd.spark.dedup(frame, id="name", limit=3, method="exact")
    with pytest.raises(InputError, match="Expected a DataFrame of Spark, got list"):
        nd.spark.dedup([{"id": "a", "text": TEXT}])
    assert (
        nd.spark.dedup(frame.where("name = 'b'"), id="name", method="exact").counts.documents == 0
    )


def test_without_pyspark_or_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(MissingExtraError, match=r"Spark needs Java 17 .*Hint: install"):
        check_java()
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for ask in (lambda: nd.spark.dedup, lambda: nd.dedup([TEXT], method="exact", engine="spark")):
        with pytest.raises(MissingExtraError, match=r"pip install 'neardup\[spark\]'"):
            ask()


def test_import_neardup_needs_no_spark() -> None:
    import subprocess

    code = "import neardup as nd, sys; nd.spark; print('pyspark' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
    assert parts.PART


def test_the_ten_lines_of_the_page(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).parents[2] / "docs" / "spark.md"
    [code] = re.findall(r"```py\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    rows = [(str(i), f"{TEXT} {i // 2}") for i in range(6)]
    monkeypatch.chdir(tmp_path)
    frame = spark.createDataFrame(rows, "id string, text string")
    frame.write.parquet(str(tmp_path / "docs.parquet"))
    code = code.replace('"docs.parquet"', repr(str(tmp_path / "docs.parquet")))
    code = code.replace('"kept.parquet"', repr(str(tmp_path / "kept.parquet")))
    found: dict[str, Any] = {}
    exec(code.replace('"out"', repr(str(tmp_path / "out"))), found)
    kept = spark.read.parquet(str(tmp_path / "kept.parquet")).count()
    assert kept == found["result"].counts.kept
    assert (tmp_path / "out" / "run.json").exists()
