"""Tables in memory (pyarrow, pandas, polars, Hugging Face, the Arrow PyCapsule protocol) in chunks.

Only the requested columns are converted. Kept rows are selected from the original object, so index,
dtypes and all other columns stay as they are. pandas and polars are never imported here: an object
of these libraries brings its own methods. ``TableChunk``, rows as Arrow columns, is also what the
readers of Parquet, Arrow, CSV, WARC and feeds produce.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup import schema
from neardup.documents.columns import (
    Chunk,
    Columns,
    DocumentBatch,
    Mask,
    Rejected,
    generated_ids,
    kept_rows,
    mask_for,
    refuse_missing,
)
from neardup.documents.open_files import Limits
from neardup.documents.pieces import Piece, Trial, places
from neardup.documents.row_groups import parquet_writer, table_writer, unified_schema
from neardup.documents.source import Source, Write
from neardup.documents.text_columns import (
    id_column,
    json_like,
    sound_column,
    sound_dictionary,
    text_column,
    valid_mask,
)

CHUNK_ROWS = 10_000
RUN = 200  # rows in a piece of a sample
_LOOKED_AT = 500  # documents from which the length of a document is estimated
Values: TypeAlias = "pa.Array | Sequence[Any]"


@dataclass(frozen=True)
class TableChunk:
    """Some rows of a table; ``ids`` is None if there is no id column."""

    file: str
    first_row: int
    columns: Columns
    texts: Values
    ids: Values | None
    extra: dict[str, pa.Array]
    limits: Limits | None = None

    def read(self) -> DocumentBatch:
        faults: dict[int, str] = {}
        text = sound_dictionary(self.texts, self.columns.text)
        ids = sound_dictionary(self.ids, self.columns.id_name)
        extra = {name: sound_column(array, name) for name, array in self.extra.items()}
        for column in (text, ids, *extra.values()):
            faults |= column.reasons
        if not faults:
            return self._read({})
        arrays = {name: column.array for name, column in extra.items()}
        return replace(self, texts=text.array, ids=ids.array, extra=arrays)._read(faults)

    def _read(self, faults: dict[int, str]) -> DocumentBatch:
        """``faults`` are the rows with a value that cannot be read."""
        text = text_column(self.texts, self.columns.text, self.file)
        faults |= self._too_long(text.array)
        count = len(text.array)
        rows = pa.array(np.arange(self.first_row, self.first_row + count, dtype=np.int64))
        ids, bad_ids = self._ids(rows)
        bad_ids = {**faults, **bad_ids}
        records = self._records([rows, ids, text.array])
        if text.array.null_count == 0 and not bad_ids:
            return DocumentBatch(self.file, records, [], count)
        mask = valid_mask(text.array, list(bad_ids))
        reasons = dict.fromkeys(np.flatnonzero(~mask.to_numpy(zero_copy_only=False)).tolist())
        rejected = [
            Rejected(self.file, self.first_row + i, *self._why(i, ids, text.reasons, bad_ids))
            for i in reasons
        ]
        return DocumentBatch(self.file, records.filter(mask), rejected, count)

    def _too_long(self, texts: pa.Array) -> dict[int, str]:
        import pyarrow.compute as pc

        if self.limits is None or texts.nbytes <= self.limits.document:
            return {}
        lengths = np.asarray(pc.fill_null(pc.binary_length(texts), 0))
        long = np.flatnonzero(lengths > self.limits.document).tolist()
        return {i: self.limits.document_fault(self.columns.text, int(lengths[i])) for i in long}

    def _ids(self, rows: pa.Array) -> tuple[pa.Array, dict[int, str]]:
        import pyarrow.compute as pc

        if self.ids is None:
            return generated_ids(self.file, rows), {}
        ids, bad = id_column(self.ids, self.columns.id_name, self.file)
        return (pc.coalesce(ids, generated_ids(self.file, rows)) if ids.null_count else ids), bad

    def _records(self, arrays: list[pa.Array]) -> pa.RecordBatch:
        types = {name: array.type for name, array in self.extra.items()}
        return pa.RecordBatch.from_arrays(
            [*arrays, *self.extra.values()], schema=schema.documents(types)
        )

    def _why(
        self, i: int, ids: pa.Array, bad_texts: dict[int, str], bad_ids: dict[int, str]
    ) -> tuple[str, str | None]:
        if i in bad_ids:
            return bad_ids[i], None
        return bad_texts.get(i, f"{self.columns.text} is null"), ids[i].as_py()


def chunk_of(
    batch: pa.RecordBatch,
    file: str,
    first_row: int,
    columns: Columns,
    limits: Limits | None = None,
) -> TableChunk:
    """The chunk of a record batch that has at least the required columns."""
    has_id = columns.id_name in batch.schema.names
    return TableChunk(
        file,
        first_row,
        columns,
        batch.column(columns.text),
        batch.column(columns.id_name) if has_id else None,
        {name: batch.column(name) for name in columns.found(batch.schema.names)},
        limits,
    )


def check_columns(columns: Columns, names_of_file: Sequence[str], file: str) -> None:
    refuse_missing([n for n in columns.required if n not in names_of_file], names_of_file, file)


def wanted(columns: Columns, names_of_file: Sequence[str]) -> list[str]:
    """The columns to read, after a check that the required ones exist."""
    names = dict.fromkeys((columns.text, columns.id_name, *columns.delivered))
    return [name for name in names if name in names_of_file]


class MemorySource(Source):
    """Rows in memory. Their size is that of a file with these rows, estimated from some of them."""

    if TYPE_CHECKING:
        chunk_rows: int

        @property
        def rows(self) -> int: ...

    def part(self, start: int, end: int) -> MemorySource:
        """Some of the rows."""
        raise NotImplementedError

    def kept_size(self, kept: Any) -> float:
        """The bytes of the result of ``kept``, uncompressed."""
        raise NotImplementedError

    def kept_written(self, kept: Any) -> float:
        """The bytes that a run would write for it."""
        return self.kept_size(kept)

    def size(self) -> float:
        return self.document_size() * self.rows

    def document_size(self) -> float:
        chosen = np.arange(self.rows) % max(1, self.rows // _LOOKED_AT) == 0
        return self.kept_size(self.kept(chosen)[0]) / max(1, int(chosen.sum()))

    def pieces(self, columns: Columns, budget: float) -> Iterator[Piece]:
        bytes_of_row = self.document_size()
        wanted_rows = budget / max(bytes_of_row, 1e-9)
        whole = wanted_rows >= self.rows
        run = self.chunk_rows if whole else RUN
        starts = range(0, self.rows, run) if whole else places(self.rows, run, wanted_rows)
        end = 0
        for start in (start for start in starts if start >= end):
            end = min(start + run, self.rows)
            (chunk,) = self.part(start, end).chunks(columns)
            yield Piece(chunk, (end - start) * bytes_of_row, [end - start], continues=whole)

    def trial(self, limit: float) -> Trial:
        """Writes a sample into memory."""
        tried = min(self.rows, max(1, round(limit / max(self.document_size(), 1e-9))))
        kept, _ = self.kept(np.arange(self.rows) < tried)
        return Trial(tried / max(1, self.rows), self.kept_written(kept))


@dataclass(frozen=True)
class TableSource(MemorySource):
    """An object in memory, used through four functions that know its library."""

    names: list[str]
    rows: int
    slice: Callable[[list[str], int, int], dict[str, Values]]
    pick: Callable[[Mask], Any]
    table: Callable[[Any], pa.Table]
    file: str = "input"
    chunk_rows: int = CHUNK_ROWS
    what, form = "a table", "parquet"

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        check_columns(columns, self.names, self.file)
        names = [n for n in wanted(columns, self.names) if n not in columns.delivered]
        # Converted as a whole, because the type of an object column must be the same in all chunks.
        extra = {name: _array(self._whole(name)) for name in columns.found(self.names)}
        for start in range(0, self.rows, self.chunk_rows):
            part = self.slice(names, start, self.chunk_rows)
            more = {name: column.slice(start, self.chunk_rows) for name, column in extra.items()}
            ids = part.get(columns.id_name)
            yield TableChunk(self.file, start + 1, columns, part[columns.text], ids, more)

    def _whole(self, name: str) -> Values:
        return self.slice([name], 0, self.rows)[name]

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        texts = []
        for row in rows:
            values = self.slice([columns.text], row - 1, 1)[columns.text]
            texts.append(text_column(values, columns.text, self.file).array[0].as_py() or "")
        return texts

    def kept(self, keep: Mask) -> tuple[Any, int]:
        return self.pick(mask_for(keep, self.rows)), self.rows

    def part(self, start: int, end: int) -> TableSource:
        whole = self.slice

        def rows(names: list[str], first: int, count: int) -> dict[str, Values]:
            return whole(names, start + first, min(count, end - start - first))

        return replace(self, rows=end - start, slice=rows)

    def kept_size(self, kept: Any) -> float:
        return float(self.table(kept).nbytes)

    def kept_written(self, kept: Any) -> float:
        sink = pa.BufferOutputStream()
        pq.write_table(self.table(kept), sink, compression="zstd")
        return float(sink.tell())

    def schema(self) -> pa.Schema:
        """The schema of the table as a Parquet file."""
        return self.table(self.kept(np.ones(self.rows, np.bool_))[0]).schema

    def compression(self) -> str:
        return "zstd"

    def check_together(self, sources: Sequence[Any]) -> None:
        if len(sources) > 1:
            unified_schema(sources)

    @contextmanager
    def writer(self, sources: Sequence[Any], path: Path) -> Iterator[Write]:
        alone = len(sources) == 1
        with table_writer(path) if alone else parquet_writer(sources, path) as write:
            yield write

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The kept rows in batches, as from a Parquet file, and the number of rows."""
        kept, rows = self.kept(keep)
        table = self.table(kept)
        empty = pa.RecordBatch.from_pylist([], schema=table.schema)
        for i, batch in enumerate(table.to_batches() or [empty]):
            yield batch, 0 if i else rows


def _array(values: Values) -> pa.Array:
    """Objects without a common type become strings, as from JSON."""
    if isinstance(values, pa.Array):
        return values
    return pa.array([json_like(value) for value in values], pa.large_string())


def _combined(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    # A long column of 32-bit strings cannot be one array; a slice of CHUNK_ROWS practically can.
    return combined if isinstance(combined, pa.Array) else pa.concat_arrays(combined.chunks)


def arrow_source(table: pa.Table, pick: Callable[[Mask], Any] | None = None) -> TableSource:
    def part(names: list[str], start: int, count: int) -> dict[str, Values]:
        return {name: _combined(table.column(name).slice(start, count)) for name in names}

    def filtered(keep: Mask) -> pa.Table:
        return kept_rows(table, keep)

    return TableSource(
        table.column_names, table.num_rows, part, pick or filtered, lambda kept: pa.table(kept)
    )


def pandas_source(frame: Any) -> TableSource:
    names = [str(name) for name in frame.columns]

    def part(wanted: list[str], start: int, count: int) -> dict[str, Values]:
        rows = slice(start, start + count)
        return {name: _series(frame.iloc[rows, names.index(name)]) for name in wanted}

    return TableSource(
        names, len(frame), part, lambda keep: frame.iloc[np.flatnonzero(keep)], pa.Table.from_pandas
    )


def _series(series: Any) -> Values:
    try:
        array = pa.array(series, from_pandas=True)
    except (pa.ArrowException, TypeError, UnicodeEncodeError):
        return series.tolist()
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


def polars_source(frame: Any) -> TableSource:
    def part(names: list[str], start: int, count: int) -> dict[str, Values]:
        table = frame.select(names).slice(start, count).to_arrow()
        return {name: _combined(table.column(name)) for name in names}

    def pick(keep: Mask) -> Any:
        return frame[np.flatnonzero(keep)]

    return TableSource(list(frame.columns), len(frame), part, pick, lambda kept: kept.to_arrow())


def dataset_source(dataset: Any) -> TableSource:
    """A Hugging Face ``Dataset``: rows are read as Arrow in its own order of rows (shuffles,
    selections), and the kept rows are a ``Dataset`` with the same format and features."""

    def rows(data: Any, part: slice) -> pa.Table:
        return data.with_format("arrow")[part]

    def part(names: list[str], start: int, count: int) -> dict[str, Values]:
        table = rows(dataset.select_columns(names), slice(start, start + count))
        return {name: _combined(table.column(name)) for name in names}

    return TableSource(
        list(dataset.column_names),
        len(dataset),
        part,
        lambda keep: dataset.select(np.flatnonzero(keep)),
        lambda kept: rows(kept, slice(None)),
    )
