"""Files cut into pieces that a task reads: ranges of lines, row groups, or a whole file.

Plain JSON Lines files are cut into ranges of bytes, Parquet files into row groups; of any other
format a file is one piece. Rows have the numbers that they have in the whole file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from neardup.documents import Collection, Columns, DocumentBatch
from neardup.documents.columns import Chunk, Source
from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.inputs import Inputs
from neardup.documents.jsonl import JsonlChunk, JsonlSource
from neardup.documents.kept import readable
from neardup.documents.lines import count as count_lines
from neardup.documents.lost import LostSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import Place
from neardup.documents.streams import CHUNK_BYTES
from neardup.errors import UnreadableError
from neardup.spark.spreading import spread

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
