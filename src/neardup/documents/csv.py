"""CSV and TSV files: read in blocks of whole records, kept byte for byte, with their header.

The first record names the columns. A record with a different number of fields, or one that ends
inside quotes, is rejected with a sentence, and reading continues. Rows count records from 1,
without the header and blank lines. An empty field is an empty text, but no id and no extra value.
``native/documents/csv.hpp`` is the only definition of a record.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.documents.block_source import BlockSource, Selection
from neardup.documents.columns import (
    Chunk,
    Columns,
    DocumentBatch,
    Mask,
    Rejected,
    mask_for,
    refuse_missing,
)
from neardup.documents.memory_tables import TableChunk
from neardup.documents.open_files import MOST_COLUMNS, Limits, OverLimitError
from neardup.documents.pieces import Piece
from neardup.documents.streams import NO_LIMITS, fault_of, unreadable
from neardup.documents.text_columns import text_column
from neardup.errors import ColumnError, InputError
from neardup.schema import Array

DELIMITERS = ",;\t|"
MARK = b"\xef\xbb\xbf"
HEADER_BYTES = 1 << 24
_LONGEST = 64 << 20  # a sample skips longer records


class Records(NamedTuple):
    """The records of a chunk; ``fields`` are the requested columns, in ascending order."""

    starts: npt.NDArray[np.int64]
    widths: npt.NDArray[np.int64]
    fields: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]]
    open: bool

    def __len__(self) -> int:
        return len(self.starts)

    def array(self, field: int, valid: Mask) -> pa.Array:
        """A field as large_binary without a copy; null if ``valid`` is false."""
        offsets, values = self.fields[field]
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)


def scan(chunk: bytes, delimiter: str, columns: Sequence[int] = ()) -> Records:
    return Records(*_native.scan_csv(chunk, delimiter, list(columns)))


def strings(array: pa.Array) -> pa.Array:
    """The fields as strings. Invalid UTF-8 becomes U+FFFD, so that an unused column cannot stop a
    run."""
    try:
        return array.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [value.decode("utf-8", "replace") for value in array.to_pylist()]
        return pa.array(texts, pa.large_string())


class Header(NamedTuple):
    """``data`` has the bytes of the first record and all bytes before it."""

    data: bytes
    names: list[str]
    delimiter: str


def as_utf8(values: pa.Array, encoding: str | None) -> pa.Array:
    """Fields of a file in a different encoding, as UTF-8."""
    if encoding in (None, "utf-8"):
        return values
    return pa.array([_utf8(v, str(encoding)) for v in values.to_pylist()], pa.large_binary())


def _utf8(value: bytes | None, encoding: str) -> bytes | None:
    try:
        return None if value is None else value.decode(encoding).encode()
    except UnicodeDecodeError:
        return b"\xff"  # rejected like text that is not UTF-8


def header_of(stream: IO[bytes], delimiters: str, encoding: str | None = None) -> Header:
    """The first record, split at the delimiter that gives the most columns; on a tie, the first
    one."""
    data, size = b"", 1 << 16
    while block := stream.read(size):
        data, size = data + block, size + len(block)
        body = data.removeprefix(MARK)
        if len(data) > HEADER_BYTES or all(len(scan(body, sign)) > 1 for sign in delimiters):
            break
    headers = [_header(data, sign, encoding or "utf-8") for sign in delimiters]
    return max(headers, key=lambda header: len(header.names))


def _header(data: bytes, delimiter: str, encoding: str) -> Header:
    body = data.removeprefix(MARK)
    starts = scan(body, delimiter).starts.tolist()
    end = starts[1] if len(starts) > 1 else len(body)
    records = scan(body[:end], delimiter)
    width = int(records.widths[0]) if len(records) else 0
    if width > MOST_COLUMNS:
        raise OSError(f"its header has {width:,} columns; the limit is {MOST_COLUMNS:,}")
    columns = range(width)
    fields = scan(body[:end], delimiter, columns).fields
    names = [values.tobytes().decode(encoding, "replace") for _, values in fields]
    return Header(data[: len(data) - len(body) + end], names, delimiter)


def whole_records(
    stream: IO[bytes], delimiter: str, size: int, limits: Limits = NO_LIMITS
) -> Iterator[bytes]:
    """Chunks of about ``size`` bytes that end where a record ends. A record that is incomplete
    because of a fault is left out, and so is all that follows a record above the limit, because
    nothing shows where it ends."""
    rest, size = b"", min(size, limits.document)
    # Doubling the data on each reading keeps the work for a long record linear.
    while block := stream.read(asked := max(size, len(rest))):
        data = rest + block
        at_end = len(block) < asked and not fault_of(stream)
        end = len(data) if at_end else _native.whole_csv_records(data, delimiter)
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > limits.document:
            raise OverLimitError(
                f"{limits.document_fault('record', len(rest))}; look for a quote that is not closed"
            )
    if rest and not fault_of(stream):
        yield rest


def select(chunk: bytes, delimiter: str, keep: Mask, *, previous_kept: bool = True) -> Selection:
    """The kept records byte for byte; a blank line belongs to the record before it."""
    starts = scan(chunk, delimiter).starts
    mask = mask_for(keep, len(starts))
    kept = np.concatenate(([previous_kept], mask))
    places = np.concatenate(([0], starts, [len(chunk)]))
    edges = np.flatnonzero(np.diff(kept.astype(np.int8), prepend=0, append=0))
    runs = places[edges].reshape(-1, 2).tolist()
    return Selection(b"".join(chunk[i:j] for i, j in runs), len(starts), bool(kept[-1]))


@dataclass(frozen=True)
class CsvChunk:
    """Whole records of a file, the first of them record ``first_row``."""

    file: str
    data: bytes
    first_row: int
    columns: Columns
    header: Header
    encoding: str | None = None

    def read(self) -> DocumentBatch:
        columns, fields = self.columns, self._fields()
        ids = fields.get(columns.id_name)
        extra = {
            name: text_column(fields[name], name, self.file).array for name in columns.found(fields)
        }
        chunk = TableChunk(
            self.file,
            self.first_row,
            columns,
            fields[columns.text],
            None if ids is None else _filled(ids),
            {name: _filled(array) for name, array in extra.items()},
        )
        batch = chunk.read()
        rejected = [self._explained(lost) for lost in batch.rejected]
        return replace(batch, rejected=rejected, size=len(self.data))

    @cached_property
    def _records(self) -> Records:
        return scan(self.data, self.header.delimiter, sorted(self._wanted.values()))

    @cached_property
    def _wanted(self) -> dict[str, int]:
        columns, names = self.columns, self.header.names
        asked = dict.fromkeys((columns.text, columns.id_name, *columns.delivered))
        return {name: names.index(name) for name in asked if name in names}

    def _whole(self) -> Mask:
        whole: Mask = self._records.widths == len(self.header.names)
        if self._records.open:
            whole[-1] = False
        return whole

    def _fields(self) -> dict[str, pa.Array]:
        order, whole = sorted(self._wanted.values()), self._whole()
        arrays = {n: self._records.array(order.index(i), whole) for n, i in self._wanted.items()}
        return {name: as_utf8(array, self.encoding) for name, array in arrays.items()}

    def _explained(self, lost: Rejected) -> Rejected:
        i = lost.row - self.first_row
        width, expected = int(self._records.widths[i]), len(self.header.names)
        if self._records.open and i == len(self._records) - 1:
            return replace(lost, reason="record ends inside quotes: a quote is not closed", id=None)
        if width != expected:
            reason = f"record has {_fields_of(width)}; the header has {expected}"
            return replace(lost, reason=reason, id=None)
        if self.encoding:
            return replace(lost, reason=re.sub("UTF-8 at.*", self.encoding, lost.reason))
        return lost


def _fields_of(width: int) -> str:
    return "1 field" if width == 1 else f"{width} fields"


def _filled(array: pa.Array) -> pa.Array:
    """Fields with empty ones as null."""
    import pyarrow.compute as pc

    empty = pc.equal(pc.binary_length(array), 0)
    return pc.if_else(empty, pa.scalar(None, array.type), array)


@dataclass
class CsvSource(BlockSource):
    delimiters: str = DELIMITERS
    encoding: str | None = None

    @cached_property
    def header(self) -> Header:
        try:
            with self.stream() as stream:
                return header_of(stream, self.delimiters, self.encoding)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.path, error) from error

    @property
    def head(self) -> bytes:
        return self.header.data

    @property
    def form(self) -> str:
        return "tsv" if self.delimiters == "\t" else "csv"

    def whole(self, stream: IO[bytes], size: int) -> Iterator[bytes]:
        return whole_records(stream, self.header.delimiter, size, self.files.limits)

    def count(self, data: bytes, /) -> int:
        return len(self.starts(data))

    def starts(self, data: bytes, /) -> Array:
        return scan(data, self.header.delimiter).starts

    def chunk(self, data: bytes, first_row: int, columns: Columns) -> Chunk:
        return CsvChunk(self.file, data, first_row, columns, self.header, self.encoding)

    def select(self, data: bytes, keep: Mask, row: int, *, last_kept: bool) -> Selection:  # noqa: ARG002
        return select(data, self.header.delimiter, keep, previous_kept=last_kept)

    def texts_in(
        self, data: bytes, first_row: int, rows: list[int], columns: Columns
    ) -> dict[int, str]:
        return _texts_in(self.chunk(data, first_row, Columns(columns.text)).read(), rows)

    def block_at(self, stream: IO[bytes], place: int, size: int, *, at_start: bool) -> bytes:
        """A record that is longer than the limit is skipped."""
        while size <= _LONGEST:
            stream.seek(place)
            data = stream.read(size)
            records = _whole(data, self.header) if at_start else aligned(data, self.header)
            if records or len(data) < size:
                return records
            size *= 4
        return b""

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        """All columns as strings."""
        documents, tables = 0, []
        for position, selection in self.selections(keep):
            tables.append(self.table(selection.data))
            documents = position + selection.documents
        return pa.concat_tables(tables or [self.table(b"")]), documents + (self._lost is not None)

    def table(self, data: bytes) -> pa.Table:
        names = self.header.names
        records = scan(data, self.header.delimiter, range(len(names)))
        whole = np.ones(len(records), dtype=np.bool_)
        columns = [as_utf8(records.array(i, whole), self.encoding) for i in range(len(names))]
        return pa.Table.from_arrays([strings(column) for column in columns], names=names)

    def check_together(self, sources: Sequence[CsvSource]) -> None:
        for source in sources:
            if source.header[1:] != self.header[1:]:
                raise InputError(
                    f"{self.file} and {source.file} cannot be one kept file: their headers differ.",
                    hint="give the files the same columns in the same order, or run them apart.",
                )

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        self._check(columns)
        return super().chunks(columns)

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        self._check(columns)
        return super().pieces(columns, budget)

    def _check(self, columns: Columns) -> None:
        """Refuses columns that the header does not have, or more than once."""
        names = self.header.names
        if not names:  # of an empty file
            return
        refuse_missing([n for n in columns.required if n not in names], names, self.file)
        for name in columns.required:
            if self.header.names.count(name) > 1:
                raise ColumnError(
                    f"Column {name!r} stands more than once in the header of {self.file}.",
                    hint="give the columns different names.",
                )


def aligned(data: bytes, header: Header) -> bytes:
    """The whole records of a block that begins anywhere. Only the whole file shows whether a place
    is inside quotes, so the block is read both ways, and the one with fewer records whose width
    differs from the header is used. This is good enough for a sample."""
    readings = [data, b'"' + data]
    scans = [scan(reading, header.delimiter) for reading in readings]
    # The block begins anywhere. Lines of a quoted text may fit by accident, but records always fit.
    misfits = [int((records.widths[1:] != len(header.names)).sum()) for records in scans]
    best = int(misfits[1] < misfits[0])
    starts = scans[best].starts
    return _whole(readings[best][int(starts[1]) :], header) if len(starts) > 1 else b""


def _whole(data: bytes, header: Header) -> bytes:
    return data[: _native.whole_csv_records(data, header.delimiter)]


def _texts_in(batch: DocumentBatch, rows: Sequence[int]) -> dict[int, str]:
    """The text of a rejected row is empty."""
    import pyarrow.compute as pc

    place = pc.index_in(pa.array(rows, pa.int64()), batch.records.column("row"))
    texts = batch.records.column("text").take(place).to_pylist()
    return {row: text or "" for row, text in zip(rows, texts, strict=True)}
