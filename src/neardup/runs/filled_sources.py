"""Sources that fill empty metadata of some documents while they are read.

Every kind of source has a twin that gives the metadata of chosen documents, says whether it has a
place for a value, and writes the filled documents. A JSON line keeps its bytes but for the values
that are set; a CSV record that is filled is written anew; all others pass byte for byte. A value
that has no place is None: an object in a CSV field, a text in a column of numbers.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents import csv
from neardup.documents.arrow import ArrowSource
from neardup.documents.block_source import Selection
from neardup.documents.columns import Mask, mask_for
from neardup.documents.csv import CsvSource
from neardup.documents.encodings import decoded
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import Entry
from neardup.documents.jsonl import JsonlSource, parsed_lines
from neardup.documents.lists import ListSource
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.single_file import FileSource
from neardup.documents.source import Source
from neardup.runs.annotated_sources import with_values
from neardup.runs.filled_values import (
    Fields,
    Filled,
    Inside,
    csv_text,
    filled_lines,
    filled_object,
    filled_record,
    json_value,
    replaced,
    table_value,
)


@dataclass(frozen=True)
class Fills:
    """``values``: document → field → value. A source is given the mask from its first document to
    the end of the collection, so the length of the mask says where the source begins."""

    total: int
    values: dict[int, Fields] = field(default_factory=dict)
    skip: tuple[str, ...] = ()  # fields that are no metadata: the text and the id

    def of_chosen(self, keep: Mask, position: int, count: int) -> dict[int, Fields]:
        """The values of the chosen among the next ``count`` documents of a source, by number."""
        if not self.values:
            return {}
        start = self.total - len(keep) + position
        chosen = np.flatnonzero(keep[position : position + count]) + start
        pairs = ((i, self.values.get(document)) for i, document in enumerate(chosen.tolist()))
        return {i: fields for i, fields in pairs if fields}

    def into(
        self, selections: Iterable[tuple[int, Selection]], keep: Mask, filled: Filled
    ) -> Iterator[tuple[int, Selection]]:
        """Selections of lines or records, with what is filled."""
        for position, selection in selections:
            fills = self.of_chosen(keep, position, selection.documents)
            data = filled(selection.data, fills) if fills else selection.data
            yield position, selection._replace(data=data)

    def metadata(self, fields: Mapping[str, Any]) -> Fields:
        return {name: value for name, value in fields.items() if name not in self.skip}

    def names(self, there: Sequence[str]) -> list[str]:
        return [name for name in there if name not in self.skip]


def filled_source(source: Any, fills: Fills) -> Source:
    """The twin; a source without one (a crawl, a feed, a lost file) is its own."""
    twins = {
        ArrowSource: FilledArrow,
        CsvSource: FilledRecords,
        FileSource: FilledFile,
        FolderSource: FilledFolder,
        JsonlSource: FilledLines,
        ListSource: FilledItems,
        ParquetSource: FilledParquet,
        TableSource: FilledTable,
    }
    if type(source) not in twins:
        return source  # type: ignore[no-any-return]
    given = [one.name for one in dataclasses.fields(source) if one.init]
    made: Source = twins[type(source)](**{n: getattr(source, n) for n in given}, fills=fills)
    return made


@dataclass
class FilledLines(JsonlSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        for _, selection in super().selections(keep):
            yield from map(self.fills.metadata, parsed_lines(selection.data))

    def fit(self, _name: str, value: Any) -> Any:
        return json_value(value)

    def selections(self, keep: Mask) -> Iterator[tuple[int, Selection]]:
        return self.fills.into(super().selections(keep), keep, filled_lines)


@dataclass
class FilledRecords(CsvSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        for _, selection in super().selections(keep):
            table = self.table(selection.data)
            lists = (column.to_pylist() for column in table.columns)
            values = dict(zip(table.column_names, lists, strict=True))
            for i in range(len(table)):
                yield {name: values[name][i] for name in self.fills.names(table.column_names)}

    def fit(self, name: str, value: Any) -> Any:
        return csv_text(value, self.encoding) if name in self.header.names else None

    def selections(self, keep: Mask) -> Iterator[tuple[int, Selection]]:
        return self.fills.into(super().selections(keep), keep, self._filled)

    def _filled(self, data: bytes, fills: dict[int, Fields]) -> bytes:
        places = [*csv.scan(data, self.header.delimiter).starts.tolist(), len(data)]
        pieces = [data[: places[0]]]
        for i in range(len(places) - 1):
            piece = data[places[i] : places[i + 1]]
            pieces.append(
                filled_record(piece, self.header, fills[i], self.encoding) if i in fills else piece
            )
        return b"".join(pieces)


@dataclass(frozen=True)
class FilledItems(ListSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        for item in super().chosen(keep):
            yield self.fills.metadata(item) if isinstance(item, dict) else {}

    def fit(self, _name: str, value: Any) -> Any:
        return value

    def chosen(self, keep: Mask) -> Iterator[Any]:
        """A filled document is a new dict; a text becomes another text, or a dict if it gets more
        fields."""
        fills = self.fills.of_chosen(keep, 0, len(self.items))
        for i, item in enumerate(super().chosen(keep)):
            yield _filled_item(item, fills[i]) if i in fills else item


def _filled_item(item: Any, fields: Fields) -> Any:
    if isinstance(item, dict):
        return filled_object(item, fields)
    filled = {"text": item, **fields} if isinstance(item, str) else item
    return filled["text"] if isinstance(filled, dict) and len(filled) == 1 else filled


@dataclass
class FilledFolder(FolderSource):
    """Text files with other texts, in their own encodings; all others are copied."""

    fills: Fills = field(kw_only=True)
    texts_by_name: dict[str, str] = field(default_factory=dict)

    def copy_files(self, keep: Mask, folder: Path) -> list[str]:
        start = self.fills.total - len(keep)
        self.texts_by_name = {
            entry.name: text
            for number, entry in enumerate(self.entries)
            if (text := self.fills.values.get(start + number, {}).get("text")) is not None
        }
        return super().copy_files(keep, folder)

    def kept(self, keep: Mask) -> tuple[pa.Table, int]:
        table, count = super().kept(keep)
        fills = self.fills.of_chosen(keep, 0, count)
        return (replaced(table, fills) if fills else table), count

    def _copy(self, entry: Entry, to: Path) -> None:
        text = self.texts_by_name.get(entry.name)
        if text is None:
            super()._copy(entry, to)
            return
        data = self.files.read_bytes(self.locate(entry))
        content = decoded(data, self.encoding)
        mark = data[: len(data) - len((content.text or "").encode(content.encoding or "utf-8"))]
        to.write_bytes(mark + text.encode(content.encoding or "utf-8"))


@dataclass
class FilledFile(FilledFolder, FileSource):
    """A single text file."""


class _Typed:
    """A file that says what type each of its columns has."""

    schema: Callable[[], pa.Schema]  # the source's own

    @cached_property
    def own_schema(self) -> pa.Schema:
        return self.schema()

    def fit(self, name: str, value: Any) -> Any:
        return _fitting(self.own_schema, name, value)


def _fitting(columns: Any, name: str, value: Any) -> Any:
    """``columns`` is a schema, or the type of a structure."""
    names = columns.names if isinstance(columns, pa.Schema) else [one.name for one in columns]
    if name not in names:
        return None
    type_ = columns.field(name).type
    if not isinstance(value, Inside):
        return table_value(value, type_)
    ((below, inner),) = value.items()
    fitting = _fitting(type_, below, inner)
    return None if fitting is None else Inside({below: fitting})


@dataclass(frozen=True)
class FilledParquet(_Typed, ParquetSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        for batch, _ in super().filtered(keep):
            yield from batch.select(self.fills.names(batch.schema.names)).to_pylist()

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.RecordBatch, int]]:
        position = 0
        for batch, count in super().filtered(keep):
            fills = self.fills.of_chosen(keep, position, count)
            table = replaced(pa.Table.from_batches([batch]), fills) if fills else None
            yield (table.to_batches()[0] if table else batch), count
            position += count


@dataclass
class FilledArrow(_Typed, ArrowSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        for table, _ in super().filtered(keep):
            yield from table.select(self.fills.names(table.schema.names)).to_pylist()

    def filtered(self, keep: Mask) -> Iterator[tuple[pa.Table, int]]:
        position = 0
        for table, count in super().filtered(keep):
            fills = self.fills.of_chosen(keep, position, count)
            yield (replaced(table, fills) if fills else table), count
            position += count


@dataclass(frozen=True)
class FilledTable(TableSource):
    fills: Fills = field(kw_only=True)

    def metadata(self, keep: Mask) -> Iterator[Fields]:
        table = self.table(self.pick(mask_for(keep, self.rows)))
        yield from table.select(self.fills.names(table.schema.names)).to_pylist()

    @cached_property
    def own_schema(self) -> pa.Schema:
        everyone = np.ones(self.rows, np.bool_)  # pandas tells types only by values
        return self.table(self.pick(everyone)).schema

    def fit(self, name: str, value: Any) -> Any:
        return _fitting(self.own_schema, name, value)

    def kept(self, keep: Mask) -> tuple[Any, int]:
        given, rows = super().kept(keep)
        fills = self.fills.of_chosen(keep, 0, rows)
        if not fills:
            return given, rows
        names = list(dict.fromkeys(name for fields in fills.values() for name in fields))
        return with_values(given, replaced(self.table(given), fills).select(names)), rows
