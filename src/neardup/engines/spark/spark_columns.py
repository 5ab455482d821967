"""The tables that stages on Spark exchange, how numpy sees their columns, and kept stages.

Spark has no unsigned numbers: digests and keys are the same 64 bits read as signed ones. Keys and
evidence are bytes. How much there is of them is counted once when documents are signed, and the
work is divided by it.

A stage is computed once and kept, so that nothing after it computes it again. Without a folder it
is kept by Spark's executors and their disks. With one it is written there as Parquet: an
application that is lost goes on from the last stage that is whole. A stage lies under a digest of
input and settings, so another run never takes it for its own.
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

# A document as it was taken in. Documents with equal evidence (in one group) are one ``node``. Only
# the first of a node in its task brings keys and evidence.
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
        ("rejected", pa.string()),  # why; null for all that are compared
    ]
)
EVIDENCE = pa.schema([("probes", pa.int32()), ("keys", pa.binary()), ("evidence", pa.binary())])
SIZE = pa.field("size", pa.int64())  # of the evidence in bytes, whether it is there or not
# Keys and evidence of a node, for whoever needs them.
BROUGHT = pa.schema([*(DOCUMENT.field(n) for n in ("node", "digest_a", "digest_b")), *EVIDENCE])
# Where it stands: in the input, and in the order of the rule. Those of references are negative.
STANDING = pa.schema([("position", pa.int64()), ("place", pa.int64())])
# What a part says: of a document (``other`` is what it was set aside for), or of a pair.
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
        ("first", pa.int64()),  # the position of the first of its cluster; null where it is alone
        ("place", pa.int64()),
        ("text_digest", pa.int64()),
        ("other_digest", pa.int64()),
        ("packed", pa.binary()),  # what a part adds up
    ]
)


# The golden ratio in 64 bits: a product with it is spread over all of them.


def are_among(values: Array, wanted: Array) -> Array:
    """Which values are ``wanted``, sorted. ``np.isin`` would sort these again for every batch."""
    if not len(wanted):
        return np.zeros(len(values), np.bool_)
    at = np.minimum(np.searchsorted(wanted, values), len(wanted) - 1)
    return np.asarray(wanted[at] == values)


def signed(values: Array) -> pa.Array:
    return pa.array(np.ascontiguousarray(values).view(np.int64))


def unsigned(column: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.uint64]:
    """Missing values are 0."""
    filled = column.fill_null(0) if column.null_count else column
    return np.ascontiguousarray(filled.to_numpy(zero_copy_only=False)).view(np.uint64)


def as_bytes(rows: Ragged, missing: Array | None = None) -> pa.Array:
    """Those marked as ``missing`` are left out."""
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
    """Missing ones are empty."""
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
    """As Spark writes it."""
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
    """Of the signed rows."""

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
    found: Any = rows.agg(
        sql.count(sql.when(own, 1)),
        sql.count("rejected"),
        sql.sum(sql.length("keys")),
        sql.sum("size"),
        *flags,
    ).first()
    counts = dict(zip(FLAGS.values(), found[4:], strict=True))
    flagged = {name: int(count) for name, count in counts.items() if count}
    documents, rejected, keys, evidence = (int(value or 0) for value in found[:4])
    return Sizes(documents, rejected, keys, evidence, flagged)


def sizes_again(sizes: Sizes, documents: DataFrame) -> Sizes:
    """When documents with an id that others have were rejected, too."""
    nothing = sql.lit(None).cast("binary")
    slim = documents.withColumns({"keys": nothing, "size": sql.lit(0)})
    accepted = sizes_of(slim.where("rejected is null and file >= 0"))
    return replace(sizes, rejected=sizes.documents - accepted.documents, flags=accepted.flags)


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
