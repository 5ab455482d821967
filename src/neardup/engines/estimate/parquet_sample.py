"""Samples of Parquet files: the first rows of drawn row groups."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents import Columns
from neardup.documents.columns import LostRows
from neardup.documents.memory_tables import check_columns, chunk_of, wanted
from neardup.documents.parquet import ParquetSource
from neardup.engines.estimate.pieces import PLACES, Piece, Trial, some_of

_BUFFER = 1 << 20  # else a few rows of a group would cost the reading of all of it


def size(source: ParquetSource) -> float:
    return source.path.stat().st_size


def each(source: ParquetSource) -> float:
    return size(source) / max(1, _rows(source))


def decoded(source: ParquetSource) -> int:
    """Bytes of the file when it is not compressed."""
    with source.opened() as parquet:
        groups = range(parquet.num_row_groups)
        return sum(parquet.metadata.row_group(group).total_byte_size for group in groups)


def _rows(source: ParquetSource) -> int:
    with source.opened() as parquet:
        return int(parquet.metadata.num_rows)


def pieces(source: ParquetSource, columns: Columns, budget: float) -> Iterator[Piece]:
    """The budget is of unpacked bytes: they are what a run works on."""
    bytes_of_row, unpacked = each(source), decoded(source) / max(1, _rows(source))
    with source.opened(buffer_size=_BUFFER) as parquet:
        there = parquet.schema_arrow.names
        check_columns(columns, there, source.file)
        groups = some_of(parquet.num_row_groups, PLACES)
        left = budget / max(unpacked, bytes_of_row, 1e-9)
        if left >= parquet.metadata.num_rows:
            groups = list(range(parquet.num_row_groups))
        for number, group in enumerate(groups):
            share, taken = left / (len(groups) - number), 0
            for batch in _batches(source, parquet, group, wanted(columns, there)):
                chunk = chunk_of(batch, source.file, 1, columns)
                rows, taken = batch.num_rows, taken + batch.num_rows
                yield Piece(chunk, rows * bytes_of_row, [rows], continues=taken > rows)
                if taken >= share:
                    break
            left -= taken
            if left <= 0:
                return


def _batches(
    source: ParquetSource, parquet: pq.ParquetFile, group: int, names: list[str] | None
) -> Iterator[pa.RecordBatch]:
    """What can be read of a row group: a run rejects the rest."""
    parts = source.group(parquet, group, names)
    return (part for part in parts if not isinstance(part, LostRows))


def _all(source: ParquetSource) -> Iterator[pa.RecordBatch]:
    with source.opened() as parquet:
        for group in range(parquet.num_row_groups):
            yield from _batches(source, parquet, group, None)


def rewrite(source: ParquetSource, limit: float) -> Trial:
    """Into memory."""
    rows = _rows(source)
    batches, read, held = [], 0, 0
    for batch in _all(source):
        batches.append(batch)
        read, held = read + batch.num_rows, held + batch.nbytes
        if held >= limit:
            break
    sink = pa.BufferOutputStream()
    if batches:
        pq.write_table(pa.Table.from_batches(batches), sink, compression=source.codec())
    return Trial(read / max(rows, 1), sink.tell())
