"""The row groups of a Parquet file: some of them as a source, and what its index says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from neardup.documents.columns import Chunk, Columns
from neardup.documents.remote import Place
from neardup.documents.source import Source
from neardup.documents.streams import CHUNK_BYTES, unreadable

if TYPE_CHECKING:
    from neardup.documents.parquet import ParquetSource


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
