"""A result on Spark as files: folders of Parquet with the columns of a local run.

``decisions.parquet``, ``duplicates.parquet``, ``pairs.parquet`` and ``kept.parquet`` are written by
the executors, ``artefacts`` and ``run.json`` by the driver; ``run.json`` comes last, so a folder
without it is a run that did not finish. The folder may be in any store that Spark reaches.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.outputs.folder import ARTEFACTS, FORMAT, RUN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from neardup.spark.result import SparkResult

TABLES = ("decisions", "duplicates", "pairs", "kept")


def save(result: SparkResult, folder: str) -> str:
    place = str(folder).rstrip("/")
    spark = result.spark
    _remove(spark, f"{place}/{RUN}")
    for name in TABLES:
        frame = getattr(result, name)
        frame.write.mode("overwrite").parquet(f"{place}/{name}.parquet")
    with tempfile.TemporaryDirectory(prefix="neardup-") as made:
        for name, artefact in result.artefacts.items():
            artefact.save(Path(made) / f"{name}.arrow")
            _copy(spark, Path(made) / f"{name}.arrow", f"{place}/{ARTEFACTS}/{name}.arrow")
        info = {**result.info, "format": FORMAT}
        written = Path(made) / RUN
        written.write_text(json.dumps(info, indent=2, ensure_ascii=False) + "\n", "utf-8")
        _copy(spark, written, f"{place}/{RUN}")
    return place


def _path(spark: SparkSession, where: str) -> tuple[Any, Any]:
    jvm: Any = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(where)
    return path, path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())


def _remove(spark: SparkSession, where: str) -> None:
    path, files = _path(spark, where)
    files.delete(path, False)


def _copy(spark: SparkSession, own: Path, where: str) -> None:
    path, files = _path(spark, where)
    source, _ = _path(spark, own.as_uri())
    files.copyFromLocalFile(False, True, source, path)
