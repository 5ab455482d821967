"""The row groups of Parquet files: what an index says of them, some of them as a source, and kept
rows as a file of them, which has one schema for several inputs.

Several files become one kept file if Arrow can unify their schemas without loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.columns import Chunk, Columns, Mask
from neardup.documents.remote import Place
from neardup.documents.source import Source, Write
from neardup.documents.streams import CHUNK_BYTES, unreadable
from neardup.errors import InputError
from neardup.files import whole_file

if TYPE_CHECKING:
    from neardup.documents.parquet import ParquetSource

ROW_GROUP_BYTES = 64 << 20


@dataclass
class RowGroups(Source):
    """Consecutive row groups of a Parquet file; the first begins at ``first_row``."""

    whole: ParquetSource
    first_row: int
    groups: list[int] = field(default_factory=list)

    @property
    def file(self) -> str:
        return self.whole.file

    @property
    def path(self) -> Place:
        return self.whole.path

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        return self.whole.chunks_of(self.groups, self.first_row, columns)


def bytes_of_groups(parquet: pq.ParquetFile) -> int:
    groups = range(parquet.num_row_groups)
    return sum(parquet.metadata.row_group(group).total_byte_size for group in groups)


def check_index(metadata: Any, path: Place) -> None:
    """Refuses a broken index, because rows are counted by it."""
    groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    if sum(groups) != metadata.num_rows or min(groups, default=0) < 0:
        raise unreadable(path, OSError("its index contradicts itself"))


def rows_of_groups(parquet: pq.ParquetFile) -> Iterator[tuple[int, int]]:
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
    for i, column in enumerate(merged):
        if any(column.name not in part.names for part in parts):
            merged = merged.set(i, column.with_nullable(True))
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
    """The table with the columns, order and types of the schema; missing columns are null."""
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
def parquet_writer(sources: Sequence[Any], path: Path) -> Iterator[Write]:
    """A function that adds the kept rows of a file and returns its number of rows."""
    schema = unified_schema(sources)
    with (
        whole_file(path) as part,
        pq.ParquetWriter(part, schema, compression=sources[0].compression()) as out,
    ):

        def write(source: Any, keep: Mask) -> int:
            rows, group = 0, _RowGroup(out, schema)
            for batch, count in source.filtered(keep):
                rows += count
                group.add(batch)
            group.flush()
            return rows

        yield write


class _RowGroup:
    """Gathers batches, because each write makes a row group, and tiny ones make a slow file."""

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


@contextmanager
def table_writer(path: Path) -> Iterator[Write]:
    """A function that writes the kept rows of a table in memory in one piece."""

    def write(source: Any, keep: Mask) -> int:
        kept, rows = source.kept(keep)
        pq.write_table(source.table(kept), part, compression="zstd")
        return int(rows)

    with whole_file(path) as part:
        yield write
