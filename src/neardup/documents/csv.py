"""CSV and TSV files: read in chunks of whole records, kept byte for byte, with their header.

The first record names the columns. A record with more or fewer fields than it, or one that ends
inside quotes, is rejected with a sentence; reading goes on. Rows count records from 1, the header
and blank lines not counted. An empty field is an empty text, but no id and no extra value.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import itemgetter

import numpy as np
import pyarrow as pa

from neardup.documents import records
from neardup.documents.columns import (
    Columns,
    DocumentBatch,
    LostChunk,
    Mask,
    Rejected,
    refuse_missing,
)
from neardup.documents.jsonl import LineWriter
from neardup.documents.lost import Watch, lost_from_here
from neardup.documents.records import Header, as_utf8, strings
from neardup.documents.remote import Place
from neardup.documents.streams import CHUNK_BYTES, fault_of, open_binary, unreadable
from neardup.documents.tables import TableChunk
from neardup.documents.values import text_column
from neardup.errors import ColumnError, InputError


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
    def _records(self) -> records.Records:
        return records.scan(self.data, self.header.delimiter, sorted(self._wanted.values()))

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
    delimiters: str = records.DELIMITERS
    chunk_bytes: int = CHUNK_BYTES
    encoding: str | None = None
    watch: Watch = field(default_factory=Watch)
    _marks: list[tuple[int, int]] = field(default_factory=list)
    _lost: Rejected | None = field(default=None, init=False)

    @cached_property
    def header(self) -> Header:
        try:
            with open_binary(self.path, self.codec) as stream:
                return records.header_of(stream, self.delimiters, self.encoding)
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
            picked = records.select(
                data, self.header.delimiter, keep[position:], previous_kept=last_kept
            )
            position, last_kept = position + picked.documents, picked.last_kept
            out.write(picked.data)
        out.end_file()
        return position + (self._lost is not None)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        """All columns as strings."""
        position, parts = 0, []
        for _, data in self._blocks():
            picked = records.select(data, self.header.delimiter, keep[position:])
            position += picked.documents
            parts.append(self._table(picked.data))
        return pa.concat_tables(parts or [self._table(b"")]), position + (self._lost is not None)

    def _table(self, data: bytes) -> pa.Table:
        names = self.header.names
        found = records.scan(data, self.header.delimiter, range(len(names)))
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
                for data in records.whole_records(stream, sign, self.chunk_bytes, self.file):
                    self._mark(row, offset)
                    yield row, data
                    row, offset = row + len(records.scan(data, sign)), offset + len(data)
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
