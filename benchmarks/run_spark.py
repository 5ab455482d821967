"""Spark MLlib: MinHashLSH with five tables and its exact similarity join, on one local core. The
session is started before the clock.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
from pyspark.sql import SparkSession
from pyspark.sql.functions import col

from benchmarks import side
from benchmarks.runner import Pairs, Runner

TABLES = 5
FEATURES = 1 << 24  # wide enough that few shingles meet in one slot


def start() -> Any:
    settings = {
        "spark.driver.memory": "6g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "ERROR",
    }
    return SparkSession.builder.master("local[1]").config(map=settings).getOrCreate()


def pairs(texts: list[str]) -> Pairs:
    rows = pa.table({"id": range(len(texts)), "text": texts})
    frame = SESSION.createDataFrame(rows)
    for stage in (
        RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+"),
        NGram(n=side.WORDS, inputCol="words", outputCol="shingles"),
        HashingTF(numFeatures=FEATURES, binary=True, inputCol="shingles", outputCol="vector"),
    ):
        frame = stage.transform(frame)
    frame = frame.select("id", "vector").cache()
    model = MinHashLSH(inputCol="vector", outputCol="hashes", numHashTables=TABLES, seed=1)
    distance = 1 - side.THRESHOLD + 1e-9
    joined = model.fit(frame).approxSimilarityJoin(frame, frame, distance)
    found = joined.select(col("datasetA.id").alias("a"), col("datasetB.id").alias("b"))
    return [(row.a, row.b) for row in found.where("a < b").collect()]


def peak_mb() -> float:
    """Of this process and of the Java machine it drives."""
    java = Path(f"/proc/{SESSION.sparkContext._gateway.proc.pid}/status").read_text()
    return side.peak_mb() + int(java.split("VmHWM:")[1].split()[0]) / 1024


if __name__ == "__main__":
    SESSION = start()
    Runner("spark", "pyspark", pairs=pairs, peak=peak_mb).main()
