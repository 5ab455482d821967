"""Sources that add what was decided to each document while they are read.

Every kind of source has a twin, so lines, records and row groups stream as they do for kept
documents. A line or record keeps its bytes: the fields go before its closing brace or its end.
Rejected lines pass as they are; in tables their decision says so. A table in memory gets columns in
its own library, and the object that came in stays as it is.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents import csv
from neardup.documents.arrow import ArrowSource
from neardup.documents.block_source import Selection
from neardup.documents.columns import Mask
from neardup.documents.csv import CsvSource
from neardup.documents.feeds import FeedSource, item_fields
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lists import ListSource, json_line
from neardup.documents.lost import LostSource
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.source import LineWriter, Source
from neardup.schema import Array


def reordered(given: Any, rows: Array) -> Any:
    """The rows named, in that order, in an object of the same type."""
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return given.iloc[rows]
    if library == "polars":
        return given[rows]
    if library == "datasets":
        return given.select(rows)
    try:
        return given.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # string views
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        parts = [given.slice(int(run[0]), len(run)) for run in runs if len(run)]
        return pa.concat_tables(parts) if parts else given.slice(0, 0)


def as_dicts(given: Any) -> list[dict[str, Any]]:
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":  # its own to_dict has NaN where nothing is
        return list(pa.Table.from_pandas(given, preserve_index=False).to_pylist())
    if library == "polars":
        return list(given.to_dicts())
    return list(given.to_list() if library == "datasets" else given.to_pylist())


def with_columns(given: Any, columns: pa.Table) -> Any:
    """A new object of the same type. pandas gets nullable whole numbers and its own index."""
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return given.assign(**{n: _series(columns[n], given) for n in columns.column_names})
    if library == "polars":
        return given.hstack(importlib.import_module("polars").from_arrow(columns))
    if library == "datasets":
        return _with_features(given, columns)
    if isinstance(given, pa.RecordBatch):
        both = with_columns(pa.Table.from_batches([given]), columns).combine_chunks()
        return both.to_batches()[0] if len(both) else pa.RecordBatch.from_pylist([], both.schema)
    for field in columns.schema:
        given = given.append_column(field, columns[field.name])
    return given


def with_values(given: Any, columns: pa.Table) -> Any:
    """The data with new values in columns that it has already, which stay in their places;
    ``with_columns`` adds columns."""
    library = type(given).__module__.partition(".")[0]
    names = columns.column_names
    if library == "pandas":
        made = {n: columns[n].to_pandas().set_axis(given.index) for n in names}
        return given.assign(**{n: s.astype(given[n].dtype) for n, s in made.items()})
    if library == "polars":
        return given.with_columns(importlib.import_module("polars").from_arrow(columns))
    if library == "datasets":
        order = given.column_names
        both = _with_features(given.remove_columns(names), columns).select_columns(order)
        return both.cast(given.features).with_format(given.format["type"])
    if isinstance(given, pa.RecordBatch):
        table = with_values(pa.Table.from_batches([given]), columns).combine_chunks()
        return table.to_batches()[0]
    for name in names:
        i = given.schema.get_field_index(name)
        given = given.set_column(i, given.schema.field(i), columns[name])
    return given


def _with_features(dataset: Any, columns: pa.Table) -> Any:
    datasets = importlib.import_module("datasets")
    both = datasets.concatenate_datasets([dataset, datasets.Dataset(columns)], axis=1)
    return both.with_format(dataset.format["type"])  # side by side they lose it


def _series(column: pa.ChunkedArray, frame: Any) -> Any:
    series = column.to_pandas().set_axis(frame.index)
    return series.astype("Int64") if pa.types.is_integer(column.type) else series


FIELDS = pa.schema(
    [
        pa.field("cluster", pa.int64()),
        pa.field("kept_id", pa.large_string()),
        pa.field("score", pa.float64()),
        pa.field("kind", pa.string()),
        pa.field("decision", pa.string()),
    ]
)


@dataclass(frozen=True)
class Added:
    """The columns by position over the whole collection.

    A source is given the mask from its first document to the end of the collection, so the length
    of the mask says where the source begins.
    """

    decisions: pa.Table
    prefix: str

    @property
    def names(self) -> list[str]:
        return [self.prefix + name for name in FIELDS.names]

    def schema(self) -> pa.Schema:
        return pa.schema([field.with_name(self.prefix + field.name) for field in FIELDS])

    def start(self, keep: Mask) -> int:
        return len(self.decisions) - len(keep)

    def rows(self, start: int, count: int) -> pa.Table:
        part = self.decisions.slice(start, count).select(FIELDS.names)
        return part.cast(FIELDS).rename_columns(self.names)

    def accepted(self, start: int, count: int) -> Mask:
        decision = self.decisions["decision"].slice(start, count)
        return np.asarray(pc.not_equal(decision, schema.REJECTED), dtype=np.bool_)

    def of_selection(
        self, selection: Selection, keep: Mask, position: int
    ) -> list[dict[str, Any] | None]:
        """What to add to the documents of a block, of which all before a limit are kept."""
        count = min(selection.documents, len(keep) - position)
        return self.objects(self.start(keep) + position, max(0, count))

    def objects(self, start: int, count: int) -> list[dict[str, Any] | None]:
        """What to add to each document; None for a rejected one."""
        accepted = self.accepted(start, count)
        rows = self.rows(start, count).to_pylist()
        return [row if ok else None for row, ok in zip(rows, accepted, strict=True)]


def annotated_source(source: Any, added: Added) -> Source:
    twins = {
        ArrowSource: _Arrow,
        CsvSource: _Records,
        FeedSource: _Feed,
        JsonlSource: _Lines,
        ListSource: _Items,
        ParquetSource: _Parquet,
        TableSource: _Table,
    }
    if isinstance(source, LostSource):
        return source
    twin: Source = twins[type(source)](**_fields(source, type(source)), added=added)
    return twin


def _fields(source: Any, cls: Any) -> dict[str, Any]:
    return {
        field.name: getattr(source, field.name) for field in dataclasses.fields(cls) if field.init
    }


@dataclass
class _Lines(JsonlSource):
    added: Added = dataclasses.field(kw_only=True)

    def selections(self, keep: Mask) -> Iterator[tuple[int, Selection]]:
        for position, selection in super().selections(keep):
            objects = self.added.of_selection(selection, keep, position)
            data = annotated_lines(selection.data, objects, start_of_file=position == 0)
            yield position, selection._replace(data=data)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        """The kept documents as a table, without rejected lines, which need not be objects."""
        start = self.added.start(keep)
        accepted = keep & self.added.accepted(start, len(keep))
        table, documents = JsonlSource(**_fields(self, JsonlSource)).kept(accepted)
        rows = self.added.rows(start, documents).filter(pa.array(accepted[:documents]))
        return with_columns(table, rows), documents


@dataclass
class _Records(CsvSource):
    added: Added = dataclasses.field(kw_only=True)

    def copy(self, keep: Mask, out: LineWriter) -> int:
        if not out.started:
            out.write(self._with_fields(self.head, self.added.names))
        return super().copy(keep, out)

    def selections(self, keep: Mask) -> Iterator[tuple[int, Selection]]:
        for position, selection in super().selections(keep):
            objects = self.added.of_selection(selection, keep, position)
            yield position, selection._replace(data=self._annotated(selection.data, objects))

    def _annotated(self, data: bytes, objects: Sequence[dict[str, Any] | None]) -> bytes:
        starts = csv.scan(data, self.header.delimiter).starts.tolist()
        records = [data[i:j] for i, j in itertools.pairwise([*starts, len(data)])]
        lines = [
            record if fields is None else self._with_fields(record, list(fields.values()))
            for record, fields in zip(records, objects, strict=True)
        ]
        return data[: starts[0]] + b"".join(lines) if starts else data

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        start = self.added.start(keep)
        table, documents = CsvSource(**_fields(self, CsvSource)).kept(keep)
        return with_columns(table, self.added.rows(start, len(table))), documents

    def _with_fields(self, record: bytes, values: Sequence[Any]) -> bytes:
        """The fields go before the end of the line, which stays what it was."""
        content = record.rstrip(b"\r\n")
        fields = b"".join(
            (self.header.delimiter + csv_field(value, self.header.delimiter)).encode()
            for value in values
        )
        return content + fields + record[len(content) :]


def csv_field(value: Any, delimiter: str) -> str:
    text = "" if value is None else str(value)
    if any(sign in text for sign in (delimiter, '"', "\r", "\n")):
        return '"' + text.replace('"', '""') + '"'
    return text


@dataclass(frozen=True)
class _Items(ListSource):
    added: Added = dataclasses.field(kw_only=True)

    def chosen(self, keep: Mask) -> Iterator[Any]:
        """A text becomes a dict; a rejected item stays what it is."""
        count = min(len(self.items), len(keep))
        objects = self.added.objects(self.added.start(keep), count)
        pairs = zip(self.items, objects, strict=False)
        return (_with_fields(item, fields) for item, fields in pairs)


def _with_fields(item: Any, fields: dict[str, Any] | None) -> Any:
    if fields is None:
        return item
    return {**(item if isinstance(item, dict) else {"text": item}), **fields}


@dataclass
class _Feed(FeedSource):
    added: Added = dataclasses.field(kw_only=True)

    def copy(self, keep: Mask, out: LineWriter) -> int:
        items = self.items()
        objects = self.added.objects(self.added.start(keep), min(len(items), len(keep)))
        for item, fields in zip(items, objects, strict=False):
            out.write(json_line(_with_fields(item_fields(item), fields)))
        return len(items)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        table, documents = super().kept(keep)
        return with_columns(table, self.added.rows(self.added.start(keep), len(table))), documents


@dataclass(frozen=True)
class _Table(TableSource):
    added: Added = dataclasses.field(kw_only=True)

    def kept(self, keep: Mask) -> tuple[Any, int]:
        given, rows = super().kept(keep)
        count = min(rows, len(keep))
        return with_columns(given, self.added.rows(self.added.start(keep), count)), rows


@dataclass(frozen=True)
class _Parquet(ParquetSource):
    added: Added = dataclasses.field(kw_only=True)

    def schema(self) -> pa.Schema:
        return _with_fields_of(super().schema(), self.added)

    def needed(self, keep: Mask) -> Mask:
        return self.added.accepted(self.added.start(keep), len(keep))

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.RecordBatch, int]]:
        position, whole = self.added.start(keep), self.schema()
        for batch, count in super().filtered(keep):
            rows = self.added.rows(position, batch.num_rows).combine_chunks()
            more = [_array(column) for column in rows.columns]
            yield pa.RecordBatch.from_arrays([*batch.columns, *more], schema=whole), count
            position += count


@dataclass
class _Arrow(ArrowSource):
    added: Added = dataclasses.field(kw_only=True)

    def schema(self) -> pa.Schema:
        return _with_fields_of(super().schema(), self.added)

    def needed(self, keep: Mask) -> Mask:
        return self.added.accepted(self.added.start(keep), len(keep))

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.Table, int]]:
        position, whole = self.added.start(keep), self.schema()
        for table, count in super().filtered(keep):
            rows = self.added.rows(position, table.num_rows)
            yield pa.Table.from_arrays([*table.columns, *rows.columns], schema=whole), count
            position += count


def _with_fields_of(own: pa.Schema, added: Added) -> pa.Schema:
    return pa.schema([*own, *added.schema()], metadata=own.metadata)


def _array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks else pa.array([], column.type)


_MARK, _SPACE = b"\xef\xbb\xbf", b" \t\r"


def annotated_lines(
    data: bytes, objects: Sequence[dict[str, Any] | None], *, start_of_file: bool = False
) -> bytes:
    """Lines with the fields of their objects; blank lines have none and stay."""
    following, lines = iter(objects), data.split(b"\n")
    for i, line in enumerate(lines):
        content = line.removeprefix(_MARK) if start_of_file and i == 0 else line
        if content.strip(_SPACE) and (fields := next(following)) is not None:
            lines[i] = annotated_line(line, fields)
    return b"\n".join(lines)


def annotated_line(line: bytes, fields: dict[str, Any]) -> bytes:
    """The line of a JSON object with more fields before its closing brace."""
    end = line.rstrip(_SPACE)
    before, after = end[:-1], line[len(end) - 1 :]
    comma = b"" if before.rstrip(_SPACE).endswith(b"{") else b", "
    return before + comma + json.dumps(fields, ensure_ascii=False)[1:-1].encode() + after
