"""Parquet files: only the needed columns are read; kept rows are written with the file's schema.

Batches have at most 10,000 rows or about 8 MB. Schema metadata, nullability and dictionary types
are preserved. The schemas of several files are unified if Arrow can do so without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.documents.columns import Chunk, Columns, LostChunk, LostRows, Mask, Rejected, mask_for
from neardup.documents.lost import Watch
from neardup.documents.memory_tables import CHUNK_ROWS, check_columns, chunk_of, wanted
from neardup.documents.open_files import LARGE_BATCH, OpenFiles, claims_of, longest_entry
from neardup.documents.pieces import PLACES, Piece, Trial, some_of
from neardup.documents.remote import READ_BYTES, Place, Remote
from neardup.documents.row_groups import (
    RowGroups,
    bytes_of_groups,
    check_index,
    conform,
    parquet_writer,
    rows_of_chunk,
    rows_of_groups,
    unified_schema,
)
from neardup.documents.source import Source, Write
from neardup.documents.streams import cause, unreadable
from neardup.documents.text_columns import text_column
from neardup.errors import UnreadableError

PART_BYTES = 64 << 20  # size of the row groups that one task reads
_PROBED_BYTES = 64 << 20  # a larger file does not become much more than it is
_SAMPLE_BUFFER = 1 << 20  # without it, a few rows would cost the reading of their whole group
_BROKEN = (pa.ArrowException, OSError, UnicodeDecodeError)
Part: TypeAlias = pa.RecordBatch | LostRows


@dataclass(frozen=True)
class ParquetSource(Source):
    path: Place
    file: str
    chunk_rows: int = CHUNK_ROWS
    watch: Watch = field(default_factory=Watch)
    files: OpenFiles = field(default_factory=OpenFiles)
    what, form, is_file = "a table", "parquet", True

    def schema(self) -> pa.Schema:
        with self.opened() as parquet:
            return parquet.schema_arrow

    def compression(self) -> str:
        """The compression of the first column, so that the output is like the input."""
        with self.opened() as parquet:
            metadata = parquet.metadata
            if metadata.num_row_groups == 0 or metadata.num_columns == 0:
                return "zstd"
            codec = str(metadata.row_group(0).column(0).compression)
            return "none" if codec == "UNCOMPRESSED" else codec.lower()

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        return self._chunks(columns, 1, self._parts, whole=True)

    def chunks_of(self, groups: Sequence[int], first_row: int, columns: Columns) -> Iterator[Chunk]:
        """The chunks of consecutive row groups; the first begins at this row of the file."""

        def parts(parquet: pq.ParquetFile, names: list[str]) -> Iterator[Part]:
            for group in groups:
                yield from self.group(parquet, group, names)

        return self._chunks(columns, first_row, parts)

    def _chunks(
        self,
        columns: Columns,
        row: int,
        parts: Callable[[pq.ParquetFile, list[str]], Iterator[Part]],
        *,
        whole: bool = False,
    ) -> Iterator[Chunk]:
        with self.opened() as parquet:
            schema = parquet.schema_arrow
            check_columns(columns, schema.names, self.file)
            extra = {name: schema.field(name).type for name in columns.found(schema.names)}
            unpacked, fault = 0, None
            for part in parts(parquet, wanted(columns, schema.names)):
                if whole and not isinstance(part, LostRows):
                    unpacked += _unpacked_bytes(part.column(columns.text))
                    fault = self.files.limits.unpacking_fault(unpacked, int(self.size()))
                if fault is not None:  # the rest is counted, not decoded
                    rest = max(0, parquet.metadata.num_rows - row + 1)
                    yield LostChunk(Rejected(self.file, row, fault, None), extra, rest)
                    return
                if isinstance(part, LostRows):
                    lost = Rejected(self.file, row, part.reason, None)
                    yield LostChunk(lost, extra, part.num_rows)
                else:
                    self.watch.check_rows(row, part.column(columns.text), self.file)
                    yield chunk_of(part, self.file, row, columns, self.files.limits)
                row += part.num_rows

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        texts: dict[int, str] = dict.fromkeys(rows, "")
        with self.opened() as parquet:
            for first, group in rows_of_groups(parquet):
                end = first + parquet.metadata.row_group(group).num_rows
                if any(first <= row < end for row in rows):
                    texts |= self._texts_of(parquet, group, first, rows, columns.text)
        return [texts[row] for row in rows]

    def _texts_of(
        self, parquet: pq.ParquetFile, group: int, first: int, rows: Sequence[int], name: str
    ) -> dict[int, str]:
        texts: dict[int, str] = {}
        for part in self.group(parquet, group, [name]):
            near = [row for row in rows if first <= row < first + part.num_rows]
            if not isinstance(part, LostRows):
                column = part.column(0)
                texts |= {r: _text(column.slice(r - first, 1), name, self.file) for r in near}
            first += part.num_rows
        return texts

    def needed(self, keep: Mask) -> Mask:
        """The rows without which nothing may be written."""
        return keep

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The kept rows of each batch with all columns, and the number of rows in the batch. Rows
        that cannot be read are left out unless they are needed."""
        needed, position = self.needed(keep), 0
        with self.opened() as parquet:
            for part in self._written_parts(parquet, needed):
                rows = slice(position, position + part.num_rows)
                if isinstance(part, LostRows):
                    yield _no_rows(parquet.schema_arrow), part.num_rows
                else:
                    if self.watch.columns:
                        text = part.column(self.watch.columns.text)
                        self.watch.check_rows(position + 1, text, self.file)
                    yield part.filter(pa.array(mask_for(keep[rows], part.num_rows))), part.num_rows
                position = rows.stop

    def _written_parts(self, parquet: pq.ParquetFile, needed: Mask) -> Iterator[Part]:
        """All rows in order. Where a column that was not compared is broken, it is null."""
        position = 0
        for part in self._parts(parquet, None):
            lost = isinstance(part, LostRows) and needed[position : position + part.num_rows].any()
            yield from self._mended(parquet, position, part) if lost else [part]
            position += part.num_rows

    def _mended(self, parquet: pq.ParquetFile, position: int, lost: LostRows) -> Iterator[Part]:
        """The rest of a row group without its broken columns. An error is raised if one of these
        was compared, or may not be null."""
        first, group = max(at for at in rows_of_groups(parquet) if at[0] <= position + 1)
        schema, skip = parquet.schema_arrow, position + 1 - first
        sound = [name for name in schema.names if not self._is_broken(parquet, group, name)]
        broken = [field for field in schema if field.name not in sound]
        compared = self.watch.columns and wanted(self.watch.columns, schema.names)
        if not compared or not set(compared) <= set(sound) or not all(f.nullable for f in broken):
            lost.check(np.ones(1, bool), self.path)
        self.watch.note_damage(self.file, lost.reason, position + 1, lost.num_rows, broken)
        for part in self.group(parquet, group, sound, skip=skip):
            if isinstance(part, LostRows):
                part.check(np.ones(1, bool), self.path)
            else:
                whole = conform(pa.Table.from_batches([part]), schema).combine_chunks()
                yield from whole.to_batches()

    def _is_broken(self, parquet: pq.ParquetFile, group: int, name: str) -> bool:
        return any(isinstance(part, LostRows) for part in self.group(parquet, group, [name]))

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        batches, rows = [], 0
        for batch, count in self.filtered(keep):
            batches.append(batch)
            rows += count
        return pa.Table.from_batches(batches, self.schema()), rows

    def check_together(self, sources: Sequence[Any]) -> None:
        if len(sources) > 1:
            unified_schema(sources)

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:
        with parquet_writer(sources, path) as write:
            yield write

    def _parts(self, parquet: pq.ParquetFile, columns: list[str] | None) -> Iterator[Part]:
        """All rows in order. If a row group is broken, the groups are read one by one, because
        later ones may be readable."""
        size, done = self._batch_rows(parquet, range(parquet.num_row_groups)), 0
        faults = (self._group_fault(parquet, g) for g in range(parquet.num_row_groups))
        try:
            if not any(faults):
                for batch in parquet.iter_batches(batch_size=size, columns=columns):
                    yield batch
                    done += batch.num_rows
        except (*_BROKEN, MemoryError):  # the groups one by one show which of them it is
            pass
        for first, group in rows_of_groups(parquet):
            if first + parquet.metadata.row_group(group).num_rows - 1 > done:
                yield from self.group(parquet, group, columns, skip=max(0, done + 1 - first))

    def group(
        self, parquet: pq.ParquetFile, group: int, columns: list[str] | None, *, skip: int = 0
    ) -> Iterator[Part]:
        """A row group without its first ``skip`` rows."""
        left = parquet.metadata.row_group(group).num_rows - skip
        if fault := self._group_fault(parquet, group):
            yield LostRows(left, fault)
            return
        reason = "it has fewer rows than the index says"
        try:
            with claims_of(parquet.metadata.row_group(group).total_byte_size):
                rows = self._batch_rows(parquet, [group])
                for batch in parquet.iter_batches(rows, row_groups=[group], columns=columns):
                    rest = batch.slice(min(skip, batch.num_rows))
                    skip -= batch.num_rows - rest.num_rows
                    if rest.num_rows:
                        left -= rest.num_rows
                        yield rest
        except _BROKEN as error:
            reason = cause(error)
        if left > 0:
            yield LostRows(left, f"row group {group + 1} is broken ({reason})")

    def size(self) -> float:
        return self.path.stat().st_size

    def document_size(self) -> float:
        with self.opened() as parquet:
            return self.size() / max(1, int(parquet.metadata.num_rows))

    def decoded_size(self) -> int:
        with self.opened() as parquet:
            return bytes_of_groups(parquet)

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        """The first rows of random row groups. The budget counts unpacked bytes, because these
        determine the cost of a run."""
        with self.opened(buffer_size=_SAMPLE_BUFFER) as parquet:
            names, rows = parquet.schema_arrow.names, max(1, parquet.metadata.num_rows)
            check_columns(columns, names, self.file)
            bytes_of_row = self.size() / rows
            groups = some_of(parquet.num_row_groups, PLACES)
            left = budget / max(bytes_of_groups(parquet) / rows, bytes_of_row, 1e-9)
            if left >= parquet.metadata.num_rows:
                groups = list(range(parquet.num_row_groups))
            for number, group in enumerate(groups):
                share, taken = left / (len(groups) - number), 0
                for batch in self._sound_batches(parquet, group, wanted(columns, names)):
                    chunk, count = (
                        chunk_of(batch, self.file, 1, columns, self.files.limits),
                        batch.num_rows,
                    )
                    taken += count
                    yield Piece(chunk, count * bytes_of_row, [count], continues=taken > count)
                    if taken >= share:
                        break
                left -= taken
                if left <= 0:
                    return

    def _sound_batches(
        self, parquet: pq.ParquetFile, group: int, names: list[str] | None
    ) -> Iterator[pa.RecordBatch]:
        """The readable batches of a row group; a run rejects the rest."""
        parts = self.group(parquet, group, names)
        return (part for part in parts if not isinstance(part, LostRows))

    def trial(self, limit: float) -> Trial:
        """Writes into memory."""
        batches, read, held = [], 0, 0
        with self.opened() as parquet:
            rows = parquet.metadata.num_rows
            for group in range(parquet.num_row_groups):
                for batch in self._sound_batches(parquet, group, None):
                    batches.append(batch)
                    read, held = read + batch.num_rows, held + batch.nbytes
                    if held >= limit:
                        break
                if held >= limit:
                    break
        sink = pa.BufferOutputStream()
        if batches:
            pq.write_table(pa.Table.from_batches(batches), sink, compression=self.compression())
        return Trial(read / max(rows, 1), sink.tell())

    def parts(self, part_bytes: int) -> Sequence[Any]:  # noqa: ARG002 (row groups tell their size)
        """Row groups that stand together."""
        try:
            with self.opened() as parquet:
                groups = list(rows_of_groups(parquet))
                sizes = [parquet.metadata.row_group(g).total_byte_size for _, g in groups]
        except UnreadableError:  # the error is reported when the file is read
            return [self]
        parts: list[RowGroups] = []
        size = PART_BYTES
        for (row, group), group_size in zip(groups, sizes, strict=True):
            if size >= PART_BYTES:
                parts.append(RowGroups(self, row))
                size = 0
            parts[-1].groups.append(group)
            size += group_size
        return parts or [self]

    def _batch_rows(self, parquet: pq.ParquetFile, groups: Sequence[int]) -> int:
        """The rows of a batch of these row groups. A short file may repeat a long value of its
        dictionary without end, so there the longest value counts."""
        rows = min(self.chunk_rows, rows_of_chunk(parquet.metadata))
        if self.size() > _PROBED_BYTES or rows * bytes_of_groups(parquet) < LARGE_BATCH:
            return rows
        return max(1, min(rows, LARGE_BATCH // max(1, self._longest(parquet, groups))))

    def _longest(self, parquet: pq.ParquetFile, groups: Sequence[int]) -> int:
        """The length of the longest value of a dictionary; the first row of a group has it all."""
        schema = parquet.schema_arrow
        names = [field.name for field in schema if _is_text(field.type)]
        longest = 0
        with pq.ParquetFile(
            pa.PythonFile(self.files.raw(self.path), "r"),
            metadata=parquet.metadata,
            read_dictionary=names,
        ) as probed:
            for group in groups:
                if self._group_fault(probed, group):
                    continue
                with suppress(*_BROKEN):  # a run rejects it
                    batch = next(probed.iter_batches(1, row_groups=[group], columns=names), None)
                    longest = max(longest, *map(longest_entry, batch.columns if batch else []), 0)
        return longest

    def _group_fault(self, parquet: pq.ParquetFile, group: int) -> str | None:
        """Why a row group is not unpacked, by the sizes that the index says."""
        index = parquet.metadata.row_group(group)
        columns = [index.column(i) for i in range(index.num_columns)]
        unpacked = sum(column.total_uncompressed_size for column in columns)
        packed = sum(column.total_compressed_size for column in columns)
        fault = self.files.limits.unpacking_fault(unpacked, packed)
        return f"row group {group + 1}: {fault}" if fault else None

    @contextmanager
    def opened(self, **options: Any) -> Iterator[pq.ParquetFile]:
        try:
            if isinstance(self.path, Remote):  # few and long requests
                options["buffer_size"] = READ_BYTES
            file = pa.PythonFile(self.files.raw(self.path), "r")
            parquet = pq.ParquetFile(file, page_checksum_verification=True, **options)
            _ = parquet.schema_arrow.names  # broken ones fail here, with the file
        except _BROKEN as error:
            raise unreadable(self.path, error) from error
        with parquet:
            check_index(parquet.metadata, self.path)
            yield parquet


def _is_text(type_: pa.DataType) -> bool:
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    return plain in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())


def _unpacked_bytes(column: pa.Array) -> int:
    if not pa.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths).as_py() or 0)


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([], field.type) for field in schema], schema=schema)


def _text(value: pa.Array, name: str, file: str) -> str:
    return text_column(value, name, file).array[0].as_py() or ""
