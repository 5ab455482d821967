"""Values that fill empty metadata, as formats write them: JSON lines, CSV records, tables."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents import csv
from neardup.documents.csv import Header
from neardup.documents.jsonl import ABSENT, scan
from neardup.runs.annotated_sources import annotated_line

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
    """The value in the type of the column, also if it is a text that stands for a number or a date;
    None if it does not fit."""
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
