"""A small part of the files, spread over them, that is read as a whole collection would be.

Plain JSON Lines are read at evenly spaced places; compressed files and Parquet from their start.
``seen`` counts the bytes on disk that the sample stands for, so that any format scales by size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any, cast

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents import Chunk, Columns
from neardup.documents.columns import Mask
from neardup.documents.jsonl import JsonlChunk, JsonlSource
from neardup.documents.lines import count
from neardup.documents.parquet import ParquetSource
from neardup.documents.streams import CHUNK_BYTES, open_binary, parquet_file, whole_lines

SHARE = 0.02
LEAST_BYTES, MOST_BYTES = 4 * CHUNK_BYTES, 512 << 20
LEAST_DOCUMENTS = 2000
MOST_FILES = 8


@dataclass
class Sample:
    """A source made of pieces of others. Reading it fills ``seen``."""

    sources: Sequence[Any]
    file: str = "sample"
    seen: float = 0
    most: float = MOST_BYTES

    def __post_init__(self) -> None:
        self.size = sum(size_of(source) for source in self.sources)

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        chosen = _spread(self.sources, MOST_FILES)
        budget = min(_budget(self.size, chosen), self.most) / max(len(chosen), 1)
        for source in chosen:
            pieces = _parquet if isinstance(source, ParquetSource) else _lines
            for chunk, seen in pieces(source, columns, budget):
                self.seen += seen
                yield chunk

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        raise NotImplementedError("a sample is read once")

    def kept(self, keep: Mask) -> tuple[Any, int]:
        raise NotImplementedError("a sample is not written")


def size_of(source: Any) -> int:
    return int(source.path.stat().st_size)


def _spread(sources: Sequence[Any], most: int) -> list[Any]:
    step = max(1.0, len(sources) / most)
    return [sources[int(i * step)] for i in range(min(most, len(sources)))]


def _budget(size: int, sources: Sequence[Any]) -> float:
    lines = [s for s in sources if isinstance(s, JsonlSource) and s.codec is None]
    enough = LEAST_DOCUMENTS * _line_bytes(lines[0]) if lines else 0
    return min(max(SHARE * size, LEAST_BYTES, enough), MOST_BYTES)


def _line_bytes(source: JsonlSource) -> float:
    with open_binary(source.path, None) as stream:
        start = stream.read(1 << 20)
    return len(start) / max(1, count(start))


def _lines(
    source: JsonlSource, columns: Columns, budget: float
) -> Iterator[tuple[JsonlChunk, float]]:
    if source.codec is None:
        return _spaced(source, columns, budget)
    return _from_start(source, columns, budget)


def _spaced(
    source: JsonlSource, columns: Columns, budget: float
) -> Iterator[tuple[JsonlChunk, float]]:
    size = size_of(source)
    if budget >= size:
        for chunk in source.chunks(columns):
            if isinstance(chunk, JsonlChunk):
                yield chunk, len(chunk.data)
        return
    pieces, end = max(1, round(budget / CHUNK_BYTES)), 0
    with open_binary(source.path, None) as stream:
        for start in (size * i // pieces for i in range(pieces)):
            if start and start <= end:  # a line as long as the space between two places
                continue
            stream.seek(start)
            if start:
                stream.readline()
            first = stream.tell()
            data = stream.read(CHUNK_BYTES) + stream.readline()
            end = first + len(data)
            # Rows are not known here; the place is unlike for unlike lines, as ids must be.
            yield JsonlChunk(source.file, data, first + 1, columns), len(data)


def _from_start(
    source: JsonlSource, columns: Columns, budget: float
) -> Iterator[tuple[JsonlChunk, float]]:
    row, before = 1, 0
    with source.path.open("rb") as raw:
        packed = pa.CompressedInputStream(pa.PythonFile(raw, "r"), source.codec)
        for data in whole_lines(cast(IO[bytes], packed)):
            seen, before = raw.tell() - before, raw.tell()
            yield JsonlChunk(source.file, data, row, columns), seen
            row += count(data)
            if before >= budget:
                return


def _parquet(
    source: ParquetSource, columns: Columns, budget: float
) -> Iterator[tuple[Chunk, float]]:
    size, rows = size_of(source), pq.ParquetFile(**parquet_file(source.path)).metadata.num_rows
    enough = max(LEAST_DOCUMENTS, rows * budget / size)
    read = 0
    for chunk in source.chunks(columns):
        part = len(getattr(chunk, "texts", ()))  # none where rows cannot be read
        yield chunk, size * part / rows
        read += part
        if read >= enough:
            return
