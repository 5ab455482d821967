"""Arrow IPC files, also called Feather: the file format and the stream format.

Only the needed columns are read; kept rows are written with the schema of the file, metadata and
dictionaries included. A long record batch is cut into chunks of at most 10,000 rows or about 8 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

from neardup.documents.columns import Chunk, Columns, LostChunk, Mask, Rejected, kept_rows, mask_for
from neardup.documents.parquet import conform, unified_schema
from neardup.documents.streams import CHUNK_BYTES, unreadable, whole_file
from neardup.documents.tables import CHUNK_ROWS, check_columns, chunk_of, wanted
from neardup.documents.values import text_column

FILE_MAGIC = b"ARROW1"
STREAM_MAGIC = b"\xff\xff\xff\xff"


@dataclass
class ArrowSource:
    path: Path
    file: str
    form: str = "arrow"
    chunk_rows: int = CHUNK_ROWS
    _lost: str | None = field(default=None, init=False)

    @cached_property
    def is_stream(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(FILE_MAGIC)) != FILE_MAGIC

    def schema(self) -> pa.Schema:
        with self._open(ipc.IpcReadOptions()) as reader:
            return reader.schema

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        schema = self.schema()
        there = schema.names
        check_columns(columns, there, self.file)
        row = 1
        for batch in self._batches(wanted(columns, there)):
            yield chunk_of(batch, self.file, row, columns)
            row += batch.num_rows
        if self._lost:
            extra = {name: schema.field(name).type for name in columns.delivered}
            yield LostChunk(Rejected(self.file, row, self._lost, None), extra)

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        found: dict[int, str] = {}
        first = 1
        for batch in self._batches([columns.text]):
            for row in (row for row in rows if first <= row < first + batch.num_rows):
                value = batch.column(0).slice(row - first, 1)
                text = text_column(value, columns.text, self.file).array[0].as_py()
                found[row] = text or ""
            first += batch.num_rows
            if len(found) == len(set(rows)):
                break
        if self._lost:
            found.setdefault(first, "")
        return [found[row] for row in rows]

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.Table, int]]:
        """The kept rows of each chunk with all columns, and how many documents the chunk had."""
        position = 0
        for batch in self._batches(None):
            part = mask_for(keep[position:], batch.num_rows)
            position += batch.num_rows
            yield kept_rows(pa.Table.from_batches([batch]), part), batch.num_rows
        if self._lost:
            yield self.schema().empty_table(), 1

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        tables, rows = [self.schema().empty_table()], 0
        for table, count in self.filtered(keep):
            tables.append(table)
            rows += count
        return pa.concat_tables(tables), rows

    def _batches(self, names: list[str] | None) -> Iterator[pa.RecordBatch]:
        """``_lost`` then says why a stream could not be read to its end; a file in the file format
        that is cut off has lost its index and cannot be opened."""
        self._lost = None
        options = ipc.IpcReadOptions()
        if names is not None:
            there = self.schema().names
            options.included_fields = [there.index(name) for name in names]
        try:
            with self._open(options) as reader:
                for batch in _each(reader):
                    yield from pieces_of(batch, self.chunk_rows)
        except (pa.ArrowException, OSError) as error:
            if not self.is_stream:
                raise unreadable(self.path, error) from error
            self._lost = f"file is truncated or broken here ({error}); the rest is lost"

    @contextmanager
    def _open(self, options: ipc.IpcReadOptions) -> Iterator[ipc.RecordBatchStreamReader]:
        open_ = ipc.open_stream if self.is_stream else ipc.open_file
        try:
            file = pa.OSFile(str(self.path))
        except OSError as error:
            raise unreadable(self.path, error) from error
        with file:
            try:
                reader = open_(file, options=options)
            except (pa.ArrowException, OSError) as error:
                raise unreadable(self.path, error) from error
            yield reader


def _each(reader: ipc.RecordBatchStreamReader) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, ipc.RecordBatchFileReader):
        for i in range(reader.num_record_batches):
            yield reader.get_batch(i)
    else:
        yield from reader


def pieces_of(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    if batch.num_rows:
        rows = max(1, min(rows, int(CHUNK_BYTES * batch.num_rows / max(batch.nbytes, 1))))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


@contextmanager
def arrow_writer(
    sources: Sequence[ArrowSource], path: Path
) -> Iterator[Callable[[ArrowSource, Mask], int]]:
    """Gives a function that adds the kept rows of a file and says how many rows it has."""
    schema = unified_schema(sources)
    compression = "lz4" if sources[0].form == "feather" else None
    options = ipc.IpcWriteOptions(compression=compression)
    make = ipc.new_stream if _as_stream(sources, schema) else ipc.new_file
    with whole_file(path) as part, make(str(part), schema, options=options) as out:

        def write(source: ArrowSource, keep: Mask) -> int:
            rows = 0
            for table, count in source.filtered(keep):
                rows += count
                if table.num_rows:
                    out.write_table(conform(table, schema))
            return rows

        yield write


def _as_stream(sources: Sequence[ArrowSource], schema: pa.Schema) -> bool:
    """As the first file is; but only a stream can hold the unlike dictionaries of several."""
    dictionaries = any("dictionary<" in str(field.type) for field in schema)
    return sources[0].is_stream or (dictionaries and len(sources) > 1)
