"""Files as input of Spark: the driver lists pieces, tasks read them with neardup's own readers.

So documents, ids, columns and rejections are those of a local run. All machines must reach the
files by the same names.

Files cut into pieces that a task reads: ranges of lines, row groups, or a whole file.

Plain JSON Lines files are cut into ranges of bytes, Parquet files into row groups; of any other
format a file is one piece. Rows have the numbers that they have in the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sql

from neardup.decisions.order import check_preferred
from neardup.documents import Collection, Columns, DocumentBatch
from neardup.documents.columns import Chunk, Source
from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.folder import FolderSource
from neardup.documents.inputs import SOURCE, Inputs, with_names
from neardup.documents.jsonl import JsonlChunk, JsonlSource
from neardup.documents.jsonl import count as count_lines
from neardup.documents.kept import readable
from neardup.documents.lost import LostSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import Place
from neardup.documents.streams import CHUNK_BYTES
from neardup.engines.spark import positions
from neardup.engines.spark.session import spread
from neardup.engines.spark.spark_signing import Taken, Work
from neardup.errors import UnreadableError
from neardup.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

GROUP_BYTES = 64 << 20  # of compressed row groups of one piece


@dataclass
class LineRange:
    """The lines of a JSON Lines file that begin in a range of its bytes; a source of its own."""

    path: Place
    file: str
    begin: int
    end: int
    first_row: int = 1

    def blocks(self) -> Iterator[bytes]:
        with self.path.open("rb") as stream:
            if self.begin:  # the line before, whose end is here
                stream.seek(self.begin - 1)
                stream.readline()
            while (at := stream.tell()) < self.end:
                data = stream.read(min(CHUNK_BYTES, self.end - at))
                if not data:
                    return
                yield data if data.endswith(b"\n") else data + stream.readline()

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        row = self.first_row
        for data in self.blocks():
            yield JsonlChunk(self.file, data, row, columns)
            row += count_lines(data)

    def lines(self) -> int:
        return sum(map(count_lines, self.blocks()))


@dataclass
class RowGroups:
    """Some row groups of a Parquet file; a source of its own."""

    path: Place
    file: str
    groups: tuple[int, ...]
    first_row: int

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        whole = ParquetSource(self.path, self.file)
        return whole.chunks_of(self.groups, self.first_row, columns)


@dataclass(frozen=True)
class Piece:
    """``alone``: of one file only, what cannot be read is an error."""

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
    """In the order of the input."""
    alone = len(readable(collection.sources)) == 1
    extraction = replace(collection.extractor.extraction, workers=1)
    names, offered = collection.inputs.names, collection.inputs.offered
    made = [
        Piece(number, names[number], part, offered, extraction, alone)
        for number, source in enumerate(collection.sources)
        for part in _cut(source, range_bytes)
    ]
    return _with_rows(spark, made)


def _cut(source: Any, range_bytes: int) -> Sequence[Any]:
    if isinstance(source, JsonlSource) and source.codec is None and isinstance(source.path, Path):
        size = _size(source.path)
        if size is not None and size > range_bytes:
            begins = range(0, size, range_bytes)
            return [
                LineRange(source.path, source.file, b, min(b + range_bytes, size)) for b in begins
            ]
    if isinstance(source, ParquetSource):
        return _row_groups(source) or [source]
    return [source]


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def _row_groups(source: ParquetSource) -> list[RowGroups]:
    try:
        with source.opened() as parquet:
            groups = [parquet.metadata.row_group(i) for i in range(parquet.metadata.num_row_groups)]
    except UnreadableError:
        return []
    made: list[RowGroups] = []
    row, first, size, some = 1, 1, 0, []
    for number, group in enumerate(groups):
        some.append(number)
        size += group.total_byte_size
        row += group.num_rows
        if size >= GROUP_BYTES or number == len(groups) - 1:
            made.append(RowGroups(source.path, source.file, tuple(some), first))
            first, size, some = row, 0, []
    return made


def _with_rows(spark: SparkSession, made: list[Piece]) -> list[Piece]:
    """With the number of the first line of each range, which tasks count."""
    ranges = [i for i, piece in enumerate(made) if isinstance(piece.source, LineRange)]
    if not ranges:
        return made
    sources = [made[i].source for i in ranges]
    table = spread(spark, sources, _lines, "begin bigint, file string, lines bigint").toArrow()
    counted = {(row["file"], row["begin"]): row["lines"] for row in table.to_pylist()}
    counts = [counted[one.file, one.begin] for one in sources]
    for i, lines in zip(ranges, _running(sources, counts), strict=True):
        made[i] = replace(made[i], source=replace(made[i].source, first_row=lines))
    return made


def _lines(sources: Iterator[LineRange]) -> Iterator[pa.RecordBatch]:
    for one in sources:
        columns = {"begin": [one.begin], "file": [one.file], "lines": [one.lines()]}
        yield pa.RecordBatch.from_pydict(columns)


def _running(sources: Sequence[LineRange], counts: Sequence[int]) -> Iterator[int]:
    row = 1
    for source, count in zip(sources, counts, strict=True):
        row = 1 if source.begin == 0 else row
        yield row
        row += count


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
            number: [source.path_of(row) for row in range(1, len(source.entries) + 1)]
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
        """Which files have a column ``source`` of their own, and whether any preferred one is
        there."""
        found = self.mapped(_sources_of, "file int, source string").distinct().collect()
        for row in found:
            self.own_sources[row["file"]] = row["source"] is not None or self.own_sources.get(
                row["file"], False
            )
        own = [row["source"] for row in found if row["source"] is not None]
        named = [self.sources[n] for n, has in self.own_sources.items() if not has]
        there = pa.chunked_array([pa.array([*own, *named], pa.large_string())])
        check_preferred(plan.keep, there, self.sources)

    def mapped(self, work: Work, schema: str) -> DataFrame:
        columns, upto, own = self.plan.columns, self.upto, dict(self.own_sources)

        def map_pieces(given: Iterator[Piece]) -> Iterator[pa.RecordBatch]:
            return work(_taken(given, columns, upto, own))

        return spread(self.spark, self._pieces, map_pieces, schema)

    def positions(
        self,
        documents: DataFrame,
        plan: Plan,  # noqa: ARG002 (protocol)
        keep: positions.Keep,  # noqa: ARG002
    ) -> DataFrame:
        return positions.file_positions(documents)


def _taken(
    given: Iterator[Piece], columns: Columns, upto: int | None, own: dict[int, bool]
) -> Iterator[Taken]:
    for piece in given:
        for batch in piece.batches(columns):
            named = _named(batch, piece, own)
            yield Taken(piece.number, _limited(named, piece.number, upto))


def _named(batch: DocumentBatch, piece: Piece, own: dict[int, bool]) -> DocumentBatch:
    """With the name of the input where the file says nothing of its own."""
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
    rejected = [one for one in batch.rejected if begin + one.row <= upto]
    return replace(batch, records=batch.records.filter(fits), rejected=rejected)


def _rows_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for one in taken:
        lost = [r.row for r in one.batch.rejected]
        rows = np.concatenate([one.batch.records.column("row").to_numpy(), lost]).astype(np.int64)
        file = np.full(len(rows), one.file, np.int32)
        yield pa.RecordBatch.from_arrays([pa.array(file), pa.array(rows)], names=["file", "row"])


def _sources_of(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
    for one in taken:
        if len(one.batch.records):
            values = one.batch.records.column(SOURCE).unique().cast(pa.string())
            file = pa.array(np.full(len(values), one.file, np.int32))
            yield pa.RecordBatch.from_arrays([file, values], names=["file", "source"])


def _stamp(path: Place) -> list[Any]:
    try:
        about = path.stat() if isinstance(path, Path) else None
    except OSError:
        about = None
    return [str(path), about.st_size if about else None, about.st_mtime_ns if about else None]
