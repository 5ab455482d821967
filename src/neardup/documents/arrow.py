"""Arrow IPC files, also called Feather: the file format and the stream format.

Only the needed columns are read; kept rows are written with the schema of the file, including
metadata and dictionaries. A long record batch is divided into chunks of at most 10,000 rows or
about 8 MB. Several files become one kept file if Arrow can unify their schemas without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.types as pt

from neardup.documents.columns import (
    Chunk,
    Columns,
    LostChunk,
    LostRows,
    Mask,
    Rejected,
    kept_rows,
    mask_for,
)
from neardup.documents.lost import Watch
from neardup.documents.memory_tables import CHUNK_ROWS, check_columns, chunk_of, wanted
from neardup.documents.open_files import LARGE_BATCH, OpenFiles, claims_of, longest_entry
from neardup.documents.pieces import Piece, Trial, some_of
from neardup.documents.remote import Place
from neardup.documents.row_groups import conform, unified_schema
from neardup.documents.source import Source, Write
from neardup.documents.streams import CHUNK_BYTES, cause, unreadable
from neardup.documents.text_columns import text_column
from neardup.files import whole_file

FILE_MAGIC = b"ARROW1"
STREAM_MAGIC = b"\xff\xff\xff\xff"
FILE_START = 8  # the magic, padded; what follows it is a stream
_BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError)
_BYTES = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary()}


Part: TypeAlias = pa.RecordBatch | LostRows


class Opened(NamedTuple):
    """``fault`` describes a damaged index, if the file has one."""

    reader: Any
    fault: str | None
    file: pa.NativeFile


@dataclass
class ArrowSource(Source):
    path: Place
    file: str
    form: str = "arrow"
    chunk_rows: int = CHUNK_ROWS
    watch: Watch = field(default_factory=Watch)
    files: OpenFiles = field(default_factory=OpenFiles)
    what, is_file = "a table", True

    @cached_property
    def is_stream(self) -> bool:
        with self.files.stream(self.path) as file:
            return file.read(len(FILE_MAGIC)) != FILE_MAGIC

    def schema(self) -> pa.Schema:
        return self.stored_schema()

    def stored_schema(self) -> pa.Schema:
        """The schema of the file itself, without columns that are added on writing."""
        with self.opened(ipc.IpcReadOptions()) as opened:
            return opened.reader.schema

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        schema = self.schema()
        check_columns(columns, schema.names, self.file)
        extra = {name: schema.field(name).type for name in columns.found(schema.names)}
        row = 1
        for part in self._parts(wanted(columns, schema.names)):
            if isinstance(part, LostRows):
                self.watch.lose(row)
                yield LostChunk(Rejected(self.file, row, part.reason, None), extra)
            else:
                self.watch.check_rows(row, part.column(columns.text), self.file)
                yield chunk_of(part, self.file, row, columns, self.files.limits)
            row += part.num_rows

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        texts: dict[int, str] = {}
        first = 1
        for part in self._parts([columns.text]):
            for row in (row for row in rows if first <= row < first + part.num_rows):
                texts[row] = "" if isinstance(part, LostRows) else self._text(part, row - first)
            first += part.num_rows
            if len(texts) == len(set(rows)):
                break
        return [texts[row] for row in rows]

    def _text(self, batch: pa.RecordBatch, i: int) -> str:
        name = batch.schema.names[0]
        return text_column(batch.column(0).slice(i, 1), name, self.file).array[0].as_py() or ""

    def needed(self, keep: Mask) -> Mask:
        """The rows without which nothing may be written."""
        return keep

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.Table, int]]:
        """The kept rows of each chunk with all columns, and the number of documents in the
        chunk."""
        needed, position = self.needed(keep), 0
        for part in self._parts(None, self._mended):
            rows = slice(position, position + part.num_rows)
            if isinstance(part, LostRows):
                part.check(needed[rows], self.path)
                if position < len(keep):  # documents after a limit are neither read nor written
                    self.watch.check_lost(position + 1, part.reason, self.file)
                yield self.stored_schema().empty_table(), part.num_rows
            else:
                if self.watch.columns:
                    text = part.column(self.watch.columns.text)
                    self.watch.check_rows(position + 1, text, self.file)
                mask = mask_for(keep[rows], part.num_rows)
                yield kept_rows(pa.Table.from_batches([part]), mask), part.num_rows
            position = rows.stop

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        tables, rows = [self.schema().empty_table()], 0
        for table, count in self.filtered(keep):
            tables.append(table)
            rows += count
        return pa.concat_tables(tables), rows

    def check_together(self, sources: Sequence[Any]) -> None:
        if len(sources) > 1:
            unified_schema(sources)

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:
        schema = unified_schema(sources)
        options = _write_options(self)
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

    def _parts(
        self, names: list[str] | None, mended: Callable[[Iterator[Part]], Iterator[Part]] = iter
    ) -> Iterator[Part]:
        """One document represents all lost rows of one place, because their number is unknown."""
        with self.opened(self._options(names)) as (reader, fault, _):
            for batch in mended(_each(reader, self.size())):
                yield from pieces_of(batch, self.chunk_rows)
        if fault:
            yield LostRows(
                1,
                f"index at the end of the file is broken ({fault}); what was read stands before it",
            )

    def _mended(self, batches: Iterator[Part]) -> Iterator[Part]:
        """All columns of all batches. From the first batch on that could be read when only some of
        its columns were compared, columns are read one by one, and broken ones are null."""
        row = 1
        for number, part in enumerate(batches):
            if isinstance(part, LostRows) and self.watch.was_read(row):
                yield from self._by_column(number, row, part)
                return
            yield part
            row += part.num_rows

    def _by_column(self, number: int, row: int, lost: LostRows) -> Iterator[Part]:
        schema = self.stored_schema()
        compared = wanted(self.watch.columns or Columns(), schema.names)
        columns = {name: self._batches_of(name, number) for name in schema.names}
        for parts in zip_longest(*columns.values(), fillvalue=lost):
            by_name = dict(zip(schema.names, parts, strict=True))
            sound = {n: p.column(0) for n, p in by_name.items() if not isinstance(p, LostRows)}
            if not set(compared) <= set(sound):  # as when it was read for the first time
                yield next(part for part in parts if isinstance(part, LostRows))
                row += 1
                continue
            count = len(sound[compared[0]])
            if broken := [field for field in schema if field.name not in sound]:
                if not all(field.nullable for field in broken):
                    lost.check(np.ones(1, bool), self.path)
                self.watch.note_damage(self.file, lost.reason, row, count, broken)
            whole = [sound.get(f.name, pa.nulls(count, f.type)) for f in schema]
            yield pa.RecordBatch.from_arrays(whole, schema=schema)
            row += count

    def _batches_of(self, name: str, first: int) -> Iterator[Part]:
        """One column of all batches from this one on."""
        with self.opened(self._options([name])) as (reader, _, _):
            yield from islice(_each(reader, self.size()), first, None)

    def _options(self, names: list[str] | None) -> ipc.IpcReadOptions:
        options = ipc.IpcReadOptions()
        if names is not None:
            stored = self.stored_schema().names
            options.included_fields = [stored.index(name) for name in names]
        return options

    def size(self) -> float:
        return self.path.stat().st_size

    def document_size(self) -> float:
        batch, share = next(self._sampled(None, 0), (None, 0.0))
        return self.size() * share / batch.num_rows if batch is not None and batch.num_rows else 0.0

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """Selected record batches of the file format, or the start of a stream. The unit is a
        batch, because a compressed one can only be unpacked as a whole."""
        names = self.schema().names
        check_columns(columns, names, self.file)
        for batch, share in self._sampled(wanted(columns, names), budget):
            for i, part in enumerate(pieces_of(batch, self.chunk_rows)):
                chunk = chunk_of(part, self.file, 1, columns, self.files.limits)
                stands_for = self.size() * share * part.num_rows / batch.num_rows
                continues = i > 0 or self.is_stream
                yield Piece(chunk, stands_for, [part.num_rows], continues=continues)

    def _sampled(
        self, names: list[str] | None, budget: float
    ) -> Iterator[tuple[pa.RecordBatch, float]]:
        """Batches with their shares of the file; at least one, unless the file is empty."""
        with self.opened(self._options(names)) as (reader, _, file):
            if isinstance(reader, ipc.RecordBatchFileReader):
                yield from _drawn_batches(reader, budget / self.size(), self.size())
            else:
                yield from _first_batches(reader, file, self.size(), budget)

    def trial(self, limit: float) -> Trial:
        """Writes into memory."""
        sink, share = pa.BufferOutputStream(), 0.0
        with ipc.new_stream(sink, self.schema(), options=_write_options(self)) as out:
            for batch, part in self._sampled(None, limit):
                out.write_batch(batch)
                share += part
        return Trial(share, sink.tell())

    @contextmanager
    def opened(self, options: ipc.IpcReadOptions) -> Iterator[Opened]:
        """The file as a stream if it has no index: between its first bytes and the index it is
        one."""
        with ExitStack() as stack:
            try:
                stream = self.files.stream(self.path)
                file = stack.enter_context(pa.PythonFile(stream, "r"))
                with claims_of(self.size()):
                    if self.is_stream:
                        reader, fault = ipc.open_stream(file, options=options), None
                    else:
                        reader, fault = _file_reader(file, options)
                    _ = reader.schema.names  # broken ones fail here, with the file
            except _BROKEN as error:
                raise unreadable(self.path, error) from error
            yield Opened(reader, fault, file)


def _file_reader(file: Any, options: ipc.IpcReadOptions) -> tuple[Any, str | None]:
    try:
        return ipc.open_file(file, options=options), None
    except _BROKEN as error:
        file.seek(FILE_START)
        try:
            return ipc.open_stream(file, options=options), cause(error)
        except _BROKEN:
            raise error from None  # not even a schema


def _each(reader: Any, file_size: float) -> Iterator[Part]:
    if isinstance(reader, ipc.RecordBatchFileReader):
        for i in range(reader.num_record_batches):
            yield _batch(reader, i, file_size)
        return
    while True:
        try:
            with claims_of(file_size):
                batch = sound(reader.read_next_batch())
            yield batch
        except StopIteration:
            return
        except _BROKEN as error:
            reason = f"file is truncated or broken here ({cause(error)}); the rest is lost"
            yield LostRows(1, reason)
            return


def _batch(reader: ipc.RecordBatchFileReader, i: int, file_size: float) -> Part:
    try:
        with claims_of(file_size):
            return sound(reader.get_batch(i))
    except _BROKEN as error:
        return LostRows(1, f"record batch {i + 1} is broken ({cause(error)}); it is lost")


def _drawn_batches(
    reader: ipc.RecordBatchFileReader, part: float, file_size: float
) -> Iterator[tuple[pa.RecordBatch, float]]:
    count = reader.num_record_batches
    for i in some_of(count, part * count):
        batch = _batch(reader, i, file_size)
        if not isinstance(batch, LostRows):  # a run rejects it
            yield batch, 1 / count


def _first_batches(
    reader: ipc.RecordBatchStreamReader, file: pa.NativeFile, whole: float, budget: float
) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The first batches of a stream; the last one also represents the batches after it."""
    held, before, end = None, 0, 0
    with suppress(pa.ArrowException, OSError):  # truncated: a run rejects what is lost
        for batch in map(sound, reader):
            if held is not None:
                yield held, (end - before) / whole
                if end >= budget:
                    return
                before = end
            held, end = batch, file.tell()
    if held is not None:
        yield held, 1 - before / whole


def sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Raises an error if offsets of a damaged file point outside of the memory. Text that is not
    UTF-8, or an index that a dictionary does not have, is no such damage: only its row is rejected
    later."""
    for column in batch.columns:
        _check_memory(column)
    return batch


def _check_memory(column: pa.Array) -> None:
    if pt.is_dictionary(column.type):
        _check_memory(column.indices)
        _check_memory(column.dictionary)
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        if pt.is_string(column.type) or pt.is_large_string(column.type):
            column.view(_BYTES[column.type]).validate(full=True)


def pieces_of(batch: Part, rows: int) -> Iterator[Part]:
    if isinstance(batch, LostRows):
        yield batch
        return
    if batch.num_rows:
        rows = max(1, min(rows, int(CHUNK_BYTES * batch.num_rows / max(batch.nbytes, 1))))
        longest = max(map(longest_entry, batch.columns), default=0)
        rows = max(1, min(rows, LARGE_BATCH // max(longest, 1)))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _write_options(source: ArrowSource) -> ipc.IpcWriteOptions:
    return ipc.IpcWriteOptions(compression="lz4" if source.form == "feather" else None)


def _as_stream(sources: Sequence[ArrowSource], schema: pa.Schema) -> bool:
    """Whether to write a stream, as the first file is. Only a stream can have different
    dictionaries of several files."""
    dictionaries = any("dictionary<" in str(field.type) for field in schema)
    return sources[0].is_stream or (dictionaries and len(sources) > 1)
