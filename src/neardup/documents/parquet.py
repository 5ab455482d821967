"""Parquet files: only the needed columns are read; kept rows are written with the file's schema.

Batches hold at most 10,000 rows or about 8 MB. Schema metadata, nullability and dictionary types
stay. Several files with unlike schemas are unified where Arrow can do so without loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.columns import Chunk, Columns, Mask, mask_for
from neardup.documents.streams import CHUNK_BYTES, unreadable, whole_file
from neardup.documents.tables import CHUNK_ROWS, check_columns, chunk_of, wanted
from neardup.documents.values import text_column
from neardup.errors import InputError

ROW_GROUP_BYTES = 64 << 20


@dataclass(frozen=True)
class ParquetSource:
    path: Path
    file: str
    chunk_rows: int = CHUNK_ROWS

    def schema(self) -> pa.Schema:
        with self._open() as parquet:
            return parquet.schema_arrow

    def codec(self) -> str:
        """The compression of the first column, for output that is like the input."""
        with self._open() as parquet:
            metadata = parquet.metadata
            if metadata.num_row_groups == 0 or metadata.num_columns == 0:
                return "zstd"
            codec = str(metadata.row_group(0).column(0).compression)
            return "none" if codec == "UNCOMPRESSED" else codec.lower()

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        with self._open() as parquet:
            there = parquet.schema_arrow.names
            check_columns(columns, there, self.file)
            row = 1
            for batch in self._batches(parquet, wanted(columns, there)):
                yield chunk_of(batch, self.file, row, columns)
                row += batch.num_rows

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        found: dict[int, str] = {}
        with self._open() as parquet:
            for first, group in _row_groups(parquet):
                end = first + parquet.metadata.row_group(group).num_rows
                near = [row for row in rows if first <= row < end]
                if near:
                    table = parquet.read_row_group(group, columns=[columns.text])
                    for row in near:
                        value = table.column(0).slice(row - first, 1).combine_chunks()
                        found[row] = _text(value, columns.text, self.file)
        return [found[row] for row in rows]

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The kept rows of each batch with all columns, and how many rows the batch had."""
        with self._open() as parquet:
            position = 0
            for batch in self._batches(parquet, None):
                part = mask_for(keep[position:], batch.num_rows)
                position += batch.num_rows
                yield batch.filter(pa.array(part)), batch.num_rows

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        batches, rows = [], 0
        for batch, count in self.filtered(keep):
            batches.append(batch)
            rows += count
        return pa.Table.from_batches(batches, self.schema()), rows

    def _batches(
        self, parquet: pq.ParquetFile, columns: list[str] | None
    ) -> Iterator[pa.RecordBatch]:
        rows = min(self.chunk_rows, rows_of_chunk(parquet.metadata))
        try:
            yield from parquet.iter_batches(batch_size=rows, columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.path, error) from error

    @contextmanager
    def _open(self) -> Iterator[pq.ParquetFile]:
        try:
            parquet = pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError) as error:
            raise unreadable(self.path, error) from error
        with parquet:
            yield parquet


def _text(value: pa.Array, name: str, file: str) -> str:
    return text_column(value, name, file).array[0].as_py() or ""


def _row_groups(parquet: pq.ParquetFile) -> Iterator[tuple[int, int]]:
    row = 1
    for group in range(parquet.metadata.num_row_groups):
        yield row, group
        row += parquet.metadata.row_group(group).num_rows


def rows_of_chunk(metadata: Any) -> int:
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    widest = max((g.total_byte_size / g.num_rows for g in groups if g.num_rows), default=1.0)
    return max(1, int(CHUNK_BYTES / max(widest, 1.0)))


class Typed(Protocol):
    """A file with a schema."""

    @property
    def file(self) -> str: ...

    def schema(self) -> pa.Schema: ...


def unified_schema(sources: Sequence[Typed]) -> pa.Schema:
    """One schema for all files, or an error that names the two files and the field that differ."""
    first, *others = sources
    unified = first.schema()
    for source in others:
        schema = source.schema()
        try:
            merged = pa.unify_schemas([unified, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise _unlike(first, source, unified, schema) from error
        unified = _nullable_where_missing(merged, unified, schema)
    return unified


def _nullable_where_missing(merged: pa.Schema, *parts: pa.Schema) -> pa.Schema:
    for i, field in enumerate(merged):
        if any(field.name not in part.names for part in parts):
            merged = merged.set(i, field.with_nullable(True))
    return merged


def _unlike(a: Typed, b: Typed, left: pa.Schema, right: pa.Schema) -> InputError:
    def clash(name: str) -> bool:
        pair = [pa.schema([left.field(name)]), pa.schema([right.field(name)])]
        try:
            pa.unify_schemas(pair, promote_options="permissive")
        except pa.ArrowException:
            return True
        return False

    name = next((name for name in left.names if name in right.names and clash(name)), "?")
    types = f"{left.field(name).type} and {right.field(name).type}" if name != "?" else "unlike"
    return InputError(
        f"{a.file} and {b.file} cannot be one kept file: column {name!r} has the types {types}.",
        hint="convert one of the files, or run them apart.",
    )


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with the columns, order and types of the schema; what is missing is null."""
    if table.schema.equals(schema):
        return table.replace_schema_metadata(schema.metadata)
    columns = [
        table.column(field.name).cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def parquet_writer(
    sources: Sequence[ParquetSource], path: Path
) -> Iterator[Callable[[ParquetSource, Mask], int]]:
    """Gives a function that adds the kept rows of a file and says how many rows it has."""
    schema = unified_schema(sources)
    with (
        whole_file(path) as part,
        pq.ParquetWriter(part, schema, compression=sources[0].codec()) as out,
    ):

        def write(source: ParquetSource, keep: Mask) -> int:
            rows, group = 0, _RowGroup(out, schema)
            for batch, count in source.filtered(keep):
                rows += count
                group.add(batch)
            group.flush()
            return rows

        yield write


class _RowGroup:
    """Gathers batches: each write makes a row group, and tiny ones make a slow file."""

    def __init__(self, out: pq.ParquetWriter, schema: pa.Schema) -> None:
        self._out, self._schema = out, schema
        self._batches: list[pa.RecordBatch] = []
        self._bytes = 0

    def add(self, batch: pa.RecordBatch) -> None:
        if batch.num_rows:
            self._batches.append(batch)
            self._bytes += batch.nbytes
        if self._bytes >= ROW_GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        if self._batches:
            self._out.write_table(conform(pa.Table.from_batches(self._batches), self._schema))
        self._batches, self._bytes = [], 0
