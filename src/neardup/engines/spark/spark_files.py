"""Files in and out of Spark.

In: the driver lists pieces, and tasks read them with neardup's readers.
Documents, ids, columns and rejections are therefore those of a local run, and rows have their
numbers in the whole file. A source defines the parts into which it can be divided; in most formats
a file is one piece. All machines must reach the files by the same names.

Out: a result is a folder of Parquet with the columns of a local run, and signatures. Executors
write ``decisions.parquet``, ``duplicates.parquet``, ``pairs.parquet`` and ``kept.parquet`` and
compute the checksums of what they wrote; the driver writes ``artefacts``, ``checksums.sha256`` and
``run.json``. ``run.json`` comes last, so a folder without it is a run that did not finish. The
folder may be in any store that Spark reaches.

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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup import schema
from neardup.decisions.order import check_preferred
from neardup.documents.collection import Collection
from neardup.documents.columns import Columns, DocumentBatch
from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.folder import FolderSource
from neardup.documents.inputs import SOURCE, Inputs, with_names
from neardup.documents.lost import LostSource
from neardup.documents.remote import Place
from neardup.documents.source import Source, readable
from neardup.engines.batch.intake import prepare
from neardup.engines.spark import positions
from neardup.engines.spark.positions import FILE_BITS
from neardup.engines.spark.session import Carried, carried, spread
from neardup.engines.spark.spark_columns import are_among
from neardup.engines.spark.spark_signing import Taken, Work
from neardup.errors import UnreadableError
from neardup.methods.preparation import text_digests
from neardup.plan import Plan
from neardup.runs.checksums import CHECKSUMS, write_checksums
from neardup.runs.run_folder import ARTEFACTS
from neardup.runs.run_info import FORMAT, RUN
from neardup.runs.signatures import signature_rows, write_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from neardup.engines.spark.spark_result import SparkResult
    from neardup.engines.spark.spark_run import Run


@dataclass(frozen=True)
class Piece:
    """``alone``: the only file of the input, so that an unreadable file is an error."""

    number: int
    name: str  # of the input
    source: Any
    offered: bool
    extraction: Extraction
    alone: bool

    def batches(self, columns: Columns) -> Iterator[DocumentBatch]:
        try:
            yield from self._read(self.source, columns)
        except UnreadableError as error:
            if self.alone:
                raise
            lost = LostSource(self.source.path, self.source.file, error)
            yield from self._read(lost, columns)

    def _read(self, source: Source, columns: Columns) -> Iterator[DocumentBatch]:
        inputs = Inputs((self.name,), self.offered)
        collection = Collection([source], None, inputs, Extractor(self.extraction))
        return (chunk.read() for chunk in collection.chunks(columns))


def pieces(spark: SparkSession, collection: Collection, range_bytes: int) -> list[Piece]:
    """The pieces in the order of the input."""
    alone = len(readable(collection.sources)) == 1
    extraction = replace(collection.extractor.extraction, workers=1)
    names, offered = collection.inputs.names, collection.inputs.offered
    listed = [
        Piece(number, names[number], part, offered, extraction, alone)
        for number, source in enumerate(collection.sources)
        for part in source.parts(range_bytes)
    ]
    return _with_rows(spark, listed)


def _with_rows(spark: SparkSession, listed: list[Piece]) -> list[Piece]:
    """The parts with their first rows; if these are unknown, tasks count the rows before."""
    counted = [i for i, piece in enumerate(listed) if getattr(piece.source, "first_row", 1) is None]
    if not counted:
        return listed
    numbered = [(i, listed[i].source) for i in counted]
    table = spread(spark, numbered, _counts, "piece bigint, rows bigint").toArrow()
    rows = {row["piece"]: row["rows"] for row in table.to_pylist()}
    file, first = -1, 1
    for i in counted:
        file, first = listed[i].number, first if listed[i].number == file else 1
        listed[i] = replace(listed[i], source=replace(listed[i].source, first_row=first))
        first += rows[i]
    return listed


def _counts(parts: Iterator[tuple[int, Any]]) -> Iterator[pa.RecordBatch]:
    for number, part in parts:
        yield pa.RecordBatch.from_pydict({"piece": [number], "rows": [part.rows()]})


RANGE_BYTES = 32 << 20


@dataclass
class FileInput:
    spark: SparkSession
    collection: Collection
    plan: Plan
    range_bytes: int = RANGE_BYTES
    own_sources: dict[int, bool] = field(default_factory=dict)
    upto: int | None = None  # the position of the last document, where there is a limit

    more_order = 0
    reads_again = True

    @property
    def files(self) -> list[str]:
        return self.collection.files

    @property
    def offered(self) -> bool:
        return self.collection.inputs.offered

    @property
    def sources(self) -> list[str]:
        names = self.collection.source_names
        return [names[file] for file in self.files]

    @property
    def paths(self) -> dict[int, list[str]]:
        return {
            number: [source.path_of(row) or "" for row in range(1, len(source.entries) + 1)]
            for number, source in enumerate(self.collection.sources)
            if isinstance(source, FolderSource)
        }

    def about(self) -> dict[str, Any]:
        paths = [source.path for source in self.collection.sources if hasattr(source, "path")]
        return {"files": self.files, "stamps": [_stamp(path) for path in paths]}

    def check(self, plan: Plan) -> None:
        self._pieces = pieces(self.spark, self.collection, self.range_bytes)
        if plan.limit is not None:
            self.upto = self._last(plan.limit)
        if self.collection.inputs.offered and SOURCE in plan.columns.delivered:
            self._look_at_sources(plan)

    def local(self) -> Collection:
        return self.collection.limited(self.plan.limit)

    def _last(self, limit: int) -> int | None:
        rows = positions.file_positions(self.mapped(_rows_of, "file int, row bigint"))
        last: Any = rows.orderBy("position").limit(limit).agg(sql.max("position")).first()
        return last[0] if last[0] is not None else None

    def _look_at_sources(self, plan: Plan) -> None:
        """Which files have their own column ``source``, and whether any preferred source occurs."""
        values = self.mapped(_sources_of, "file int, source string").distinct().collect()
        for row in values:
            self.own_sources[row["file"]] = row["source"] is not None or self.own_sources.get(
                row["file"], False
            )
        own = [row["source"] for row in values if row["source"] is not None]
        named = [self.sources[n] for n, has in self.own_sources.items() if not has]
        names = pa.chunked_array([pa.array([*own, *named], pa.large_string())])
        check_preferred(plan.keep, names, self.sources)

    def mapped(self, work: Work, schema: str) -> DataFrame:
        columns, upto, own = self.plan.columns, self.upto, dict(self.own_sources)

        def map_pieces(assigned: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
            return work(_taken(assigned, columns, upto, own))

        return spread(self.spark, self._pieces, map_pieces, schema)

    def positions(
        self,
        documents: DataFrame,
        plan: Plan,  # noqa: ARG002 (protocol)
        keep: positions.Keep,  # noqa: ARG002
    ) -> DataFrame:
        return positions.file_positions(documents)


def _taken(
    assigned: Iterator[Piece], columns: Columns, upto: int | None, own: dict[int, bool]
) -> Iterator[Taken]:
    for piece in assigned:
        for batch in piece.batches(columns):
            named = _named(batch, piece, own)
            yield Taken(piece.number, _limited(named, piece.number, upto))


def _named(batch: DocumentBatch, piece: Piece, own: dict[int, bool]) -> DocumentBatch:
    """The chunk with the name of its input as source, if the file has no such value."""
    at = batch.records.schema.get_field_index(SOURCE)
    if at < 0 or own.get(piece.number, True):
        return batch
    column = pa.chunked_array([batch.records.column(at)])
    file = np.zeros(len(batch.records), np.int32)
    named = with_names(pa.chunked_array([pa.nulls(len(column), column.type)]), file, [piece.name])
    records = batch.records.set_column(at, SOURCE, named.combine_chunks())
    return replace(batch, records=records)


def _limited(batch: DocumentBatch, file: int, upto: int | None) -> DocumentBatch:
    if upto is None:
        return batch
    begin = file << positions.FILE_BITS
    fits = pa.array(begin + batch.records.column("row").to_numpy() <= upto)
    rejected = [lost for lost in batch.rejected if begin + lost.row <= upto]
    return replace(batch, records=batch.records.filter(fits), rejected=rejected)


def _rows_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for part in taken:
        lost = [r.row for r in part.batch.rejected]
        rows = np.concatenate([part.batch.records.column("row").to_numpy(), lost]).astype(np.int64)
        file = np.full(len(rows), part.file, np.int32)
        yield pa.RecordBatch.from_arrays([pa.array(file), pa.array(rows)], names=["file", "row"])


def _sources_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for part in taken:
        if len(part.batch.records):
            values = part.batch.records.column(SOURCE).unique().cast(pa.string())
            file = pa.array(np.full(len(values), part.file, np.int32))
            yield pa.RecordBatch.from_arrays([file, values], names=["file", "source"])


def _stamp(path: Place) -> list[Any]:
    try:
        about = path.stat() if isinstance(path, Path) else None
    except OSError:
        about = None
    return [str(path), about.st_size if about else None, about.st_mtime_ns if about else None]


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
