"""Sources that fill empty metadata of some documents while they are read.

Every kind of source has a twin that gives the metadata of chosen documents, says whether it has a
place for a value, and writes the filled documents. A JSON line keeps its bytes but for the values
that are set; a CSV record that is filled is written anew; all others pass byte for byte. A value
that has no place is None: an object in a CSV field, a text in a column of numbers.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents import csv
from neardup.documents.arrow import ArrowSource
from neardup.documents.block_source import Selection
from neardup.documents.columns import Mask, mask_for
from neardup.documents.csv import CsvSource, Header
from neardup.documents.encodings import decoded
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import Entry
from neardup.documents.jsonl import ABSENT, JsonlSource, parsed_lines, scan
from neardup.documents.lists import ListSource
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource
from neardup.documents.single_file import FileSource
from neardup.documents.source import Source
from neardup.runs.annotated_sources import annotated_line, with_values

Fields = dict[str, Any]
Filled = Callable[[bytes, dict[int, Fields]], bytes]
_encoded = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` would make one each time


def is_empty(value: Any) -> bool:
    """Missing, blank, an empty list or object."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or value == [] or value == {}


class Inside(dict[str, Any]):
    """Members to set inside an object, which keeps its others."""


class DottedName(str):
    """A name such as ``_source.text``: it leads into an object, unless a member is called so."""

    __slots__ = ()


def filled_object(own: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A new object with the fields set, also those inside its objects."""
    filled = Inside(own) if isinstance(own, Inside) else dict(own or {})
    for name, value in fields.items():
        inside = isinstance(value, Inside) and name in filled
        filled[name] = filled_object(filled[name], value) if inside else value
    return filled


def json_value(value: Any) -> Any:
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return value


def csv_text(value: Any, encoding: str | None) -> str | None:
    if isinstance(value, datetime.date | datetime.time):
        value = value.isoformat()
    if not isinstance(value, str | int | float):
        return None
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return None
    return text


def table_value(value: Any, type_: pa.DataType) -> Any:
    """As the column takes it, also where it is a text that stands for a number or a date."""
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    try:
        return pa.scalar(value, plain).as_py()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    try:
        return pa.scalar(value).cast(plain).as_py()
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def _filled_line(line: bytes, fields: Mapping[str, Any], there: dict[str, list[int]]) -> bytes:
    """A field that is there gets its value in place; others go before the closing brace."""
    fields = dict(_as_path(name, value, there) for name, value in fields.items())
    inside = [(there[name], value) for name, value in fields.items() if name in there]
    for (begin, end), value in sorted(inside, key=itemgetter(0), reverse=True):
        nested = isinstance(value, Inside) and line[begin] == _BRACE
        new = filled_lines(line[begin:end], {0: value}) if nested else _json(value)
        line = line[:begin] + new + line[end:]
    more = {name: value for name, value in fields.items() if name not in there}
    return annotated_line(line, more) if more else line


def _as_path(name: str, value: Any, there: Container[str]) -> tuple[str, Any]:
    if not isinstance(name, DottedName) or name in there:
        return name, value
    top, dot, below = name.partition(".")
    return top, Inside({DottedName(below): value}) if dot else value


def _json(value: Any) -> bytes:
    try:
        return _encoded(value).encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(value).encode("utf-8")


def filled_record(
    record: bytes, header: Header, fields: dict[str, Any], encoding: str | None
) -> bytes:
    """The record with its fields written anew; its line end, and blank lines after it, stay."""
    end = len(record.rstrip(b"\r\n"))
    sign = header.delimiter.encode()
    found = csv.scan(record, header.delimiter, range(len(header.names))).fields
    values = [part.tobytes() for _, part in found]
    for name, value in fields.items():
        values[header.names.index(name)] = str(value).encode(encoding or "utf-8")
    return sign.join(_quoted(value, sign) for value in values) + record[end:]


def _quoted(value: bytes, sign: bytes) -> bytes:
    if any(one in value for one in (sign, b'"', b"\r", b"\n")):
        return b'"' + value.replace(b'"', b'""') + b'"'
    return value


def replaced(table: pa.Table, fills: dict[int, dict[str, Any]]) -> pa.Table:
    """The table with some values set, by row; types and schema stay."""
    fills = {row: _whole(table, row, fields) for row, fields in fills.items()}
    for name in dict.fromkeys(name for fields in fills.values() for name in fields):
        i = table.schema.get_field_index(name)
        rows = {row: fields[name] for row, fields in fills.items() if name in fields}
        table = table.set_column(i, table.schema.field(i), _replaced(table.column(i), rows))
    return table


def _whole(table: pa.Table, row: int, fields: Fields) -> Fields:
    """The values of whole columns: a structure with what it has beside what is set inside."""
    own = {n: table[n][row].as_py() for n, value in fields.items() if isinstance(value, Inside)}
    return filled_object(own, fields)


def _replaced(column: pa.ChunkedArray, rows: dict[int, Any]) -> pa.ChunkedArray:
    new = pa.array(list(rows.values()), column.type)
    index = np.arange(len(column))
    index[list(rows)] = len(column) + np.arange(len(rows))
    chunks = pa.chunked_array([*column.chunks, new], column.type)
    try:
        return chunks.unify_dictionaries().combine_chunks().take(pa.array(index))
    except pa.ArrowNotImplementedError:  # string views cannot be taken from
        values = [rows.get(i, value) for i, value in enumerate(column.to_pylist())]
        return pa.chunked_array([pa.array(values, column.type)])


@dataclass(frozen=True)
class Fills:
    """``values``: document → field → value. A source is given the mask from its first document to
    the end of the collection, so the length of the mask says where the source begins."""

    total: int
    values: dict[int, Fields] = field(default_factory=dict)
    skip: tuple[str, ...] = ()  # fields that are no metadata: the text and the id

    def of_chosen(self, keep: Mask, position: int, count: int) -> dict[int, Fields]:
        """Of the chosen among the next ``count`` documents of a source, by number."""
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


_SPACE = b"\xef\xbb\xbf \t\r"
_BRACE = ord("{")  # a line that begins so is not blank


def filled_lines(data: bytes, fills: dict[int, Fields]) -> bytes:
    """The lines with some of them filled, by number; what is between two of these is copied at
    once."""
    view = memoryview(data)
    pieces: list[bytes | memoryview] = []
    done = 0
    chosen = list(_lines_of(data, fills))
    lines = [data[begin:end] for _, begin, end in chosen]
    there = _value_places(lines, dict.fromkeys(_levels(fills.values())))
    for (number, begin, end), line, places in zip(chosen, lines, there, strict=True):
        pieces += [view[done:begin], _filled_line(line, fills[number], places)]
        done = end
    return b"".join([*pieces, view[done:]])


def _lines_of(data: bytes, numbers: Container[int]) -> Iterator[tuple[int, int, int]]:
    """The number of each of these lines, and where it begins and ends; blank lines do not count."""
    at = number = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        if data[at] == _BRACE or data[at:end].strip(_SPACE):
            if number in numbers:
                yield number, at, end
            number += 1
        at = end + 1


def _levels(fills: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The names of all fields, and of the objects into which they may lead."""
    for name in (name for fields in fills for name in fields):
        yield name
        if isinstance(name, DottedName):
            yield name.partition(".")[0]


def _value_places(lines: list[bytes], names: Iterable[str]) -> list[dict[str, list[int]]]:
    """Where the values of these names stand in each line; of a key that comes twice, the last."""
    found: list[dict[str, list[int]]] = [{} for _ in lines]
    for name, column in scan(b"\n".join(lines), list(names), start_of_file=True).fields.items():
        places = column.places.reshape(-1, 2).tolist()
        for i in np.flatnonzero(column.types != ABSENT).tolist():
            found[i][name] = places[i]
    return found


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
