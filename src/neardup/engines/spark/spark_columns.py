"""The tables that stages on Spark exchange, their columns in numpy, and stages that are kept.

Spark has no unsigned numbers: digests and keys are the same 64 bits read as signed ones. Keys and
evidence are bytes. Their sizes are counted once when documents are signed, and determine how the
work is divided.

A stage that is used more than once is computed once and kept. Without a folder, Spark's executors
and their disks keep it. With a folder, it is written there as Parquet, and an application that was
lost continues from the last complete stage. A stage is stored under a digest of input and settings,
so a different run never uses it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.methods.base import FLAGS
from neardup.progress import LOG
from neardup.schema import Array, Ragged, offsets_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# A document after signing. Documents with equal evidence (in one group) are one ``node``. Only the
# first document of a node in its task has keys and evidence.
DOCUMENT = pa.schema(
    [
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("id", pa.string()),
        ("node", pa.int64()),
        ("digest_a", pa.int64()),
        ("digest_b", pa.int64()),
        ("text_digest", pa.int64()),
        ("normal_digest", pa.int64()),
        ("flags", pa.int32()),
        ("within", pa.string()),
        ("rejected", pa.string()),  # the reason; null for documents that are compared
    ]
)
EVIDENCE = pa.schema([("probes", pa.int32()), ("keys", pa.binary()), ("evidence", pa.binary())])
SIZE = pa.field("size", pa.int64())  # of the evidence in bytes, whether it is there or not
# Keys and evidence of a node, for the steps that need them.
BROUGHT = pa.schema([*(DOCUMENT.field(n) for n in ("node", "digest_a", "digest_b")), *EVIDENCE])
# Positions in the input and in the order of the rule; those of references are negative.
STANDING = pa.schema([("position", pa.int64()), ("place", pa.int64())])
# A row of a part: a document (``other`` is the document it is a duplicate of), or a pair.
DECIDED = pa.schema(
    [
        ("tag", pa.int8()),
        ("position", pa.int64()),
        ("id", pa.string()),
        ("other_position", pa.int64()),
        ("other", pa.string()),
        ("score", pa.float64()),
        ("file", pa.int32()),
        ("row", pa.int64()),
        ("decision", pa.int8()),
        ("reason", pa.string()),
        ("kind", pa.int8()),
        ("direction", pa.int8()),
        ("confidence", pa.float64()),
        ("first", pa.int64()),  # the position of the first of its cluster; null without a cluster
        ("place", pa.int64()),
        ("text_digest", pa.int64()),
        ("other_digest", pa.int64()),
        ("packed", pa.binary()),  # the counts of a part
    ]
)


# The golden ratio in 64 bits: a product with it is spread over all of them.


def are_among(values: Array, wanted: Array) -> Array:
    """Which values are in ``wanted``, which is sorted; ``np.isin`` would sort it for every
    batch."""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[at] == values)


def signed(values: Array) -> pa.Array:
    return pa.array(np.ascontiguousarray(values).view(np.int64))


def unsigned(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """The values as unsigned numbers; missing values are 0."""
    filled = column.fill_null(0) if column.null_count else column
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)).view(np.uint64)


def as_bytes(rows: Ragged, missing: Array | None = None) -> pa.Array:
    """Rows as bytes; those marked as ``missing`` are null."""
    if missing is not None and missing.any():
        rows = rows.take(np.flatnonzero(~missing))
        ends = np.concatenate([[0], np.cumsum(~missing)])
        offsets = rows.offsets[ends]
    else:
        missing, offsets = None, rows.offsets
    values = rows.values[offsets[0] : offsets[-1]]
    sizes = (offsets - offsets[0]) * rows.values.dtype.itemsize
    bitmap = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(values))
    large = pa.Array.from_buffers(
        pa.large_binary(), len(offsets) - 1, [bitmap, pa.py_buffer(sizes.astype(np.int64)), data]
    )
    return large.cast(pa.binary())


def as_rows(column: pa.Array, dtype: npt.DTypeLike) -> Ragged:
    """Bytes as rows; missing ones are empty."""
    large = column.cast(pa.large_binary())
    kind = np.dtype(dtype)
    if not len(large):
        return Ragged(np.empty(0, kind), np.zeros(1, np.int64))
    _, ends, data = large.buffers()
    offsets = np.frombuffer(ends, np.int64, len(large) + 1, large.offset * 8)
    held = np.frombuffer(data, np.uint8) if data else np.empty(0, np.uint8)
    values = held[offsets[0] : offsets[-1]]
    if values.ctypes.data % kind.itemsize:
        values = values.copy()
    lengths = np.diff(offsets) // kind.itemsize
    return Ragged(values.view(kind), offsets_of(lengths))


def ddl(schema: pa.Schema) -> str:
    """The schema in Spark's notation."""
    return ", ".join(f"`{field.name}` {_SPARK[field.type]}" for field in schema)


_SPARK = {
    pa.int8(): "tinyint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float64(): "double",
    pa.string(): "string",
    pa.binary(): "binary",
    pa.bool_(): "boolean",
}


def spark_type(type_: pa.DataType) -> str:
    return _SPARK[type_]


@dataclass
class Sizes:
    """Sizes of the signed rows."""

    documents: int
    rejected: int
    key_bytes: int
    evidence_bytes: int
    flags: dict[str, int]


def sizes_of(rows: DataFrame) -> Sizes:
    flags = [
        sql.count(sql.when((sql.col("file") >= 0) & (sql.col("flags").bitwiseAND(bit) != 0), 1))
        for bit in FLAGS
    ]
    own = sql.col("file") >= 0
    sums: Any = rows.agg(
        sql.count(sql.when(own, 1)),
        sql.count("rejected"),
        sql.sum(sql.length("keys")),
        sql.sum("size"),
        *flags,
    ).first()
    counts = dict(zip(FLAGS.values(), sums[4:], strict=True))
    flagged = {name: int(count) for name, count in counts.items() if count}
    documents, rejected, keys, evidence = (int(value or 0) for value in sums[:4])
    return Sizes(documents, rejected, keys, evidence, flagged)


def sizes_again(sizes: Sizes, documents: DataFrame) -> Sizes:
    """The sizes after documents with repeated ids were rejected."""
    nothing = sql.lit(None).cast("binary")
    slim = documents.withColumns({"keys": nothing, "size": sql.lit(0)})
    accepted = sizes_of(slim.where("rejected is null and file >= 0"))
    return replace(sizes, rejected=sizes.documents - accepted.documents, flags=accepted.flags)


WHOLE = "_SUCCESS"  # the file that Spark writes last
FORMAT = 3  # increased when the content of a stage changes, so that older stages are not used


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
        stages = Stages(self.spark, None, {})
        stages.folder = None if self.folder is None else f"{self.folder}/{name}"
        return stages

    def release(self) -> None:
        for frame in self.kept:
            frame.unpersist()
        self.kept = []
