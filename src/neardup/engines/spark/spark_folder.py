"""A result on Spark as files: folders of Parquet with the columns of a local run, and signatures.

Executors write ``decisions.parquet``, ``duplicates.parquet``, ``pairs.parquet`` and
``kept.parquet`` and compute the checksums of what they wrote; the driver writes ``artefacts``,
``checksums.sha256`` and ``run.json``. ``run.json`` comes last, so a folder without it is a run that
did not finish. The folder may be in any store that Spark reaches.

For the signatures, tasks prepare the kept documents once more: the keys in the rows of Spark
include groups and exceptions, while the file has the original keys of the method, on which any
engine can build. The driver writes the signatures of all pieces in the order of the input. It sends
the positions of all kept documents to every task, 8 bytes each, and their names if several files
have the same id; this is little in comparison with the tables.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup import schema
from neardup.engines.batch.intake import prepare
from neardup.engines.spark.positions import FILE_BITS
from neardup.engines.spark.session import Carried, carried
from neardup.engines.spark.spark_columns import are_among
from neardup.engines.spark.spark_signing import Taken
from neardup.methods.preparation import text_digests
from neardup.runs.checksums import CHECKSUMS, write_checksums
from neardup.runs.run_folder import ARTEFACTS
from neardup.runs.run_info import FORMAT, RUN
from neardup.runs.signatures import signature_rows, write_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.engines.spark.spark_result import SparkResult
    from neardup.engines.spark.spark_run import Run

TABLES = ("decisions", "duplicates", "pairs", "kept")
_LARGE = 1 << 30  # bytes of a file


def save(result: SparkResult, folder: str) -> str:
    place = str(folder).rstrip("/")
    spark = result.spark
    for name in (RUN, CHECKSUMS):
        _remove(spark, f"{place}/{name}")
    for name in TABLES:
        frame = getattr(result, name)
        frame.write.mode("overwrite").parquet(f"{place}/{name}.parquet")
    written = [f"{place}/{name}.parquet" for name in TABLES]
    written += [f"{place}/{ARTEFACTS}"] if result.artefacts else []
    with tempfile.TemporaryDirectory(prefix="neardup-") as made:
        for name, artefact in result.artefacts.items():
            artefact.save(Path(made) / f"{name}.arrow")
            _copy(spark, Path(made) / f"{name}.arrow", f"{place}/{ARTEFACTS}/{name}.arrow")
        info = json.dumps({**result.info, "format": FORMAT}, indent=2, ensure_ascii=False) + "\n"
        more = {RUN: info.encode()}
        write_checksums(Path(made), dict(_digests(spark, place, written)), more)
        (Path(made) / RUN).write_bytes(more[RUN])
        for name in (CHECKSUMS, RUN):
            _copy(spark, Path(made) / name, f"{place}/{name}")
    return place


def _digests(spark: SparkSession, place: str, folders: list[str]) -> Iterator[tuple[str, str]]:
    """SHA-256 of all files of the folders, by their path below the place; executors compute it.
    Files of Spark's own, which begin with ``_`` or a dot and which nobody reads, are not listed."""
    root, files = _path(spark, place)
    prefix = len(files.makeQualified(root).toUri().getPath().rstrip("/")) + 1
    listed = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(folders)
    size, content = sql.col("length"), sql.sha2("content", 256).alias("digest")
    for row in listed.where(size < _LARGE).select("path", content).collect():
        yield _path(spark, row.path)[0].toUri().getPath()[prefix:], row.digest
    for row in listed.where(size >= _LARGE).select("path").collect():  # too long for one row
        large, _ = _path(spark, row.path)
        with closing(files.open(large)) as stream:
            yield large.toUri().getPath()[prefix:], _sha256(spark, stream)


def _sha256(spark: SparkSession, stream: Any) -> str:
    jvm: Any = spark.sparkContext._jvm
    return str(jvm.org.apache.commons.codec.digest.DigestUtils.sha256Hex(stream))


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


def write_signatures(run: Run, decisions: DataFrame, path: Path) -> None:
    columns = ["position", "id"] if run.shared else ["position"]
    told = decisions.where(f"decision = '{schema.KEPT}'").select(*columns).toArrow()
    told = told.sort_by("position").combine_chunks()
    names = told["id"].cast(pa.large_string()) if run.shared else None
    kept = run.spark.sparkContext.broadcast((told["position"].to_numpy(), names))
    rows = run.input.mapped(_signing(carried(run.spark, run.plan), kept), "signatures binary")
    batches = (_batch(bytes(row["signatures"])) for row in rows.toLocalIterator())
    write_rows(batches, run.plan, path)


def _signing(here: Carried, kept: Any) -> Callable[[Iterator[Taken]], Iterator[pa.RecordBatch]]:
    def sign(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
        plan = here.plan()
        for part in taken:
            position = (part.file << FILE_BITS) + part.batch.records.column("row").to_numpy()
            positions, names = kept.value
            among = are_among(position, positions)
            records = part.batch.records.filter(pa.array(among))
            ids = records.column("id")
            if names is not None:  # several files have some ids
                where = np.searchsorted(positions, position[among])
                ids = names.take(pa.array(where)).combine_chunks()
            prepared = replace(prepare(records, plan), text_digests=text_digests(records))
            within = records.column(plan.within) if plan.within else None
            rows = signature_rows(ids, prepared, within, plan)
            yield pa.RecordBatch.from_arrays(
                [pa.array([_packed(rows)], pa.binary())], names=["signatures"]
            )

    return sign


def _packed(rows: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_batch(rows)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


def _batch(packed: bytes) -> pa.RecordBatch:
    return pa.ipc.open_stream(packed).read_next_batch()
