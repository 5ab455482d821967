"""CSV and TSV files: read in chunks of whole records, kept byte for byte, with their header.

The first record names the columns. A record with more or fewer fields than it, or one that ends
inside quotes, is rejected with a sentence; reading goes on. Rows count records from 1, the header
and blank lines not counted. An empty field is an empty text, but no id and no extra value.

The native CSV scanner as Python sees it: records, their fields, their bytes.

What a record is, is defined once in ``native/documents/csv.hpp``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.documents.columns import (
    Columns,
    DocumentBatch,
    LostChunk,
    Mask,
    Rejected,
    mask_for,
    refuse_missing,
    text_column,
)
from neardup.documents.jsonl import LineWriter
from neardup.documents.lost import Watch, lost_from_here
from neardup.documents.memory_tables import TableChunk
from neardup.documents.remote import Place
from neardup.documents.streams import CHUNK_BYTES, fault_of, open_binary, unreadable
from neardup.errors import ColumnError, InputError

DELIMITERS = ",;\t|"
MARK = b"\xef\xbb\xbf"
HEADER_BYTES = 1 << 24
RECORD_BYTES = 1 << 30  # a longer record is an unclosed quote, and would fill the memory


class Records(NamedTuple):
    """The records of a chunk; ``fields`` are the asked columns, in ascending order."""

    starts: npt.NDArray[np.int64]
    widths: npt.NDArray[np.int64]
    fields: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint8]]]
    open: bool

    def __len__(self) -> int:
        return len(self.starts)

    def array(self, field: int, valid: Mask) -> pa.Array:
        """A field as large_binary without copying; null where ``valid`` is false."""
        offsets, values = self.fields[field]
        bitmap = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bitmap, pa.py_buffer(offsets), pa.py_buffer(values)]
        return pa.Array.from_buffers(pa.large_binary(), len(self), buffers)


def scan(chunk: bytes, delimiter: str, columns: Sequence[int] = ()) -> Records:
    return Records(*_native.scan_csv(chunk, delimiter, list(columns)))


def strings(array: pa.Array) -> pa.Array:
    """Bytes that are not UTF-8 become U+FFFD, so that other columns cannot stop a table."""
    try:
        return array.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = [value.decode("utf-8", "replace") for value in array.to_pylist()]
        return pa.array(texts, pa.large_string())


class Header(NamedTuple):
    """``data`` is the bytes of the first record, with what stands before it."""

    data: bytes
    names: list[str]
    delimiter: str


def as_utf8(values: pa.Array, encoding: str | None) -> pa.Array:
    """Fields of a file in another encoding."""
    if encoding in (None, "utf-8"):
        return values
    return pa.array([_utf8(v, str(encoding)) for v in values.to_pylist()], pa.large_binary())


def _utf8(value: bytes | None, encoding: str) -> bytes | None:
    try:
        return None if value is None else value.decode(encoding).encode()
    except UnicodeDecodeError:
        return b"\xff"  # rejected like text that is not UTF-8


def header_of(stream: IO[bytes], delimiters: str, encoding: str | None = None) -> Header:
    """The first record, cut at the delimiter that gives the most columns; in doubt the first."""
    data, size = b"", 1 << 16
    while block := stream.read(size):
        data, size = data + block, size + len(block)
        body = data.removeprefix(MARK)
        if len(data) > HEADER_BYTES or all(len(scan(body, sign)) > 1 for sign in delimiters):
            break
    found = [_header(data, sign, encoding or "utf-8") for sign in delimiters]
    return max(found, key=lambda header: len(header.names))


def _header(data: bytes, delimiter: str, encoding: str) -> Header:
    body = data.removeprefix(MARK)
    starts = scan(body, delimiter).starts.tolist()
    end = starts[1] if len(starts) > 1 else len(body)
    found = scan(body[:end], delimiter)
    columns = range(int(found.widths[0]) if len(found) else 0)
    fields = scan(body[:end], delimiter, columns).fields
    names = [values.tobytes().decode(encoding, "replace") for _, values in fields]
    return Header(data[: len(data) - len(body) + end], names, delimiter)


def whole_records(stream: IO[bytes], delimiter: str, size: int, file: str) -> Iterator[bytes]:
    """Chunks of about ``size`` bytes that end where a record ends, however long that record is.
    The piece of a record before a fault is left out."""
    rest = b""
    # Reading as much again as is already there keeps the work for a long record linear.
    while block := stream.read(asked := max(size, len(rest))):
        data = rest + block
        at_end = len(block) < asked and not fault_of(stream)
        end = len(data) if at_end else _native.whole_csv_records(data, delimiter)
        if end:
            yield data[:end]
        rest = data[end:]
        if len(rest) > RECORD_BYTES:
            raise InputError(
                f"{file} has a record of more than {RECORD_BYTES >> 20} MB.",
                hint="look for a quote that is not closed.",
            )
    if rest and not fault_of(stream):
        yield rest


class Selection(NamedTuple):
    data: bytes
    documents: int
    last_kept: bool


def select(chunk: bytes, delimiter: str, keep: Mask, *, previous_kept: bool = True) -> Selection:
    """The kept records byte for byte; a blank line goes with the record before it."""
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
    """Empty fields as null."""
    import pyarrow.compute as pc

    empty = pc.equal(pc.binary_length(array), 0)
    return pc.if_else(empty, pa.scalar(None, array.type), array)


@dataclass
class CsvSource:
    """One file. Remembers where chunks began, so that a few texts can be fetched again."""

    path: Place
    file: str
    codec: str | None = None
    delimiters: str = DELIMITERS
    chunk_bytes: int = CHUNK_BYTES
    encoding: str | None = None
    watch: Watch = field(default_factory=Watch)
    _marks: list[tuple[int, int]] = field(default_factory=list)
    _lost: Rejected | None = field(default=None, init=False)

    @cached_property
    def header(self) -> Header:
        try:
            with open_binary(self.path, self.codec) as stream:
                return header_of(stream, self.delimiters, self.encoding)
        except (OSError, pa.ArrowException) as error:
            raise unreadable(self.path, error) from error

    @property
    def form(self) -> str:
        return "tsv" if self.delimiters == "\t" else "csv"

    def chunks(self, columns: Columns) -> Iterator[CsvChunk | LostChunk]:
        self.check(columns)
        for row, data in self._blocks(tolerant=True):
            yield CsvChunk(self.file, data, row, columns, self.header, self.encoding)
        if self._lost:
            yield LostChunk(self._lost, dict.fromkeys(columns.delivered, pa.large_string()))

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        found: dict[int, str] = {}
        for row in sorted(set(rows)):
            if row not in found:
                found |= self._texts_near(row, set(rows), Columns(columns.text))
        return [found[row] for row in rows]

    def copy(self, keep: Mask, out: LineWriter) -> int:
        """Writes the kept records, after the header where nothing was written yet; says how many
        documents there are."""
        if not out.started:
            out.write(self.header.data)
        position, last_kept = 0, True
        for _, data in self._blocks():
            picked = select(data, self.header.delimiter, keep[position:], previous_kept=last_kept)
            position, last_kept = position + picked.documents, picked.last_kept
            out.write(picked.data)
        out.end_file()
        return position + (self._lost is not None)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        """All columns as strings."""
        position, parts = 0, []
        for _, data in self._blocks():
            picked = select(data, self.header.delimiter, keep[position:])
            position += picked.documents
            parts.append(self._table(picked.data))
        return pa.concat_tables(parts or [self._table(b"")]), position + (self._lost is not None)

    def _table(self, data: bytes) -> pa.Table:
        names = self.header.names
        found = scan(data, self.header.delimiter, range(len(names)))
        whole = np.ones(len(found), dtype=np.bool_)
        columns = [as_utf8(found.array(i, whole), self.encoding) for i in range(len(names))]
        return pa.Table.from_arrays([strings(column) for column in columns], names=names)

    def check(self, columns: Columns) -> None:
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

    def _blocks(
        self, row: int = 1, offset: int = 0, *, tolerant: bool = False
    ) -> Iterator[tuple[int, bytes]]:
        """Chunks with the row each begins with, from a place where a record begins. ``_lost`` is
        then what stands for the rest, where not all could be read; a disk that fails is borne only
        if ``tolerant``, because what is written must be what was read."""
        self._lost = None
        offset = offset or len(self.header.data)
        sign = self.header.delimiter
        try:
            with open_binary(self.path, self.codec) as stream:
                if self.codec is None:
                    stream.seek(offset)
                else:
                    stream.read(offset)
                for data in whole_records(stream, sign, self.chunk_bytes, self.file):
                    self._mark(row, offset)
                    yield row, data
                    row, offset = row + len(scan(data, sign)), offset + len(data)
                if fault := fault_of(stream):
                    self._lost = Rejected(self.file, row, fault, None)
        except (OSError, pa.ArrowException) as error:
            if row == 1 or not tolerant:
                raise unreadable(self.path, error) from error
            self._lost = Rejected(self.file, row, lost_from_here(error), None)

    def _mark(self, row: int, offset: int) -> None:
        if self.codec is None and (not self._marks or row > self._marks[-1][0]):
            self._marks.append((row, offset))

    def _texts_near(self, wanted: int, rows: set[int], columns: Columns) -> dict[int, str]:
        """The asked rows of the chunk that holds row ``wanted``; of an archive, which can only be
        read from its start, those of all chunks."""
        found: dict[int, str] = {}
        last = wanted if self.codec is None else max(rows)
        before = bisect_right(self._marks, wanted, key=itemgetter(0))
        for first, data in self._blocks(*self._marks[before - 1] if before else (1, 0)):
            batch = CsvChunk(self.file, data, first, columns, self.header, self.encoding).read()
            found |= _texts_in(batch, [r for r in rows if first <= r < first + len(batch)])
            if last < first + len(batch):
                return found
        if self._lost and self._lost.row == last:
            return found | {last: ""}
        raise IndexError(f"{self.file} has no row {last}")


def _texts_in(batch: DocumentBatch, rows: Sequence[int]) -> dict[int, str]:
    """The text of a rejected row is empty."""
    import pyarrow.compute as pc

    place = pc.index_in(pa.array(rows, pa.int64()), batch.records.column("row"))
    texts = batch.records.column("text").take(place).to_pylist()
    return {row: text or "" for row, text in zip(rows, texts, strict=True)}


def check_headers(sources: Sequence[CsvSource]) -> None:
    """Raises where files that will be one kept file have unlike columns."""
    first, *others = sources
    for source in others:
        if source.header[1:] != first.header[1:]:
            raise InputError(
                f"{first.file} and {source.file} cannot be one kept file: their headers differ.",
                hint="give the files the same columns in the same order, or run them apart.",
            )
