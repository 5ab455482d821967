"""Stages of a run: each is computed once and kept, so that nothing after it asks for it again.

Without a folder a stage is kept by Spark's executors and their disks. With one it is written there
as Parquet: an application that is lost goes on from the last stage that is whole. A stage lies
under a digest of input and settings, so another run never takes it for its own.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from neardup.progress import LOG

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WHOLE = "_SUCCESS"  # what Spark writes last
FORMAT = 3  # steps when a stage holds something else, so that an older one is not taken for it


class Stages:
    def __init__(self, spark: SparkSession, folder: str | None, about: dict[str, Any]) -> None:
        self.spark = spark
        written = json.dumps(about, sort_keys=True, default=str)
        digest = hashlib.sha256(written.encode()).hexdigest()[:16]
        self.folder = None if folder is None else f"{folder.rstrip('/')}/{digest}"
        self.kept: list[DataFrame] = []
        self.resumed: list[str] = []

    def keep(self, name: str, frame: DataFrame) -> DataFrame:
        if self.folder is None:
            from pyspark import StorageLevel

            self.kept.append(frame.persist(StorageLevel.MEMORY_AND_DISK))
            return self.kept[-1]
        path = f"{self.folder}/{name}"
        if self._is_whole(path):
            LOG.info("%s: taken from %s", name, path)
            self.resumed.append(name)
        else:
            frame.write.mode("overwrite").parquet(path)
        return self.spark.read.schema(frame.schema).parquet(path)

    def _is_whole(self, path: str) -> bool:
        jvm: Any = self.spark.sparkContext._jvm
        assert jvm is not None
        place = jvm.org.apache.hadoop.fs.Path(f"{path}/{WHOLE}")
        settings = self.spark.sparkContext._jsc.hadoopConfiguration()
        return bool(place.getFileSystem(settings).exists(place))

    def under(self, name: str) -> Stages:
        """Stages of a run within this one."""
        made = Stages(self.spark, None, {})
        made.folder = None if self.folder is None else f"{self.folder}/{name}"
        return made

    def release(self) -> None:
        for frame in self.kept:
            frame.unpersist()
        self.kept = []
