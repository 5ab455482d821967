"""Values set in one document: in a JSON line, a CSV record, the rows of a table.

Nothing else of the document changes. A value that has no place is None: an object in a CSV field,
a text in a column of numbers.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents import records
from neardup.documents.records import Header
from neardup.outputs.annotated import annotated_line

_MARK = b"\xef\xbb\xbf"
_SPACE = " \t\r\n"


def is_empty(value: Any) -> bool:
    """Missing, blank, an empty list or object."""
    if isinstance(value, str):
        return not value.strip()
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or value == [] or value == {}


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


def filled_line(line: bytes, fields: dict[str, Any]) -> bytes:
    """A field that is there gets its value in place; others go before the closing brace."""
    mark = _MARK if line.startswith(_MARK) else b""
    text = line[len(mark) :].decode("utf-8")
    there = _value_places(text)
    inside = [(*there[name], value) for name, value in fields.items() if name in there]
    for begin, end, value in sorted(inside, reverse=True):
        text = text[:begin] + _json(value) + text[end:]
    new = {name: value for name, value in fields.items() if name not in there}
    made = text.encode("utf-8")
    return mark + (annotated_line(made, new) if new else made)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(value)
    return text


def _value_places(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key of an object stands; of a key that comes twice, the last."""
    decoder = json.JSONDecoder(parse_int=str)  # a number may have too many digits for an int
    found: dict[str, tuple[int, int]] = {}
    at = _next(text, _next(text, 0) + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        begin = _next(text, _next(text, at) + 1)
        _, end = decoder.raw_decode(text, begin)
        found[key] = begin, end
        at = _next(text, end)
        at = _next(text, at + 1) if text[at] == "," else at
    return found


def _next(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def filled_record(
    record: bytes, header: Header, fields: dict[str, Any], encoding: str | None
) -> bytes:
    """The record with its fields written anew; its line end, and blank lines after it, stay."""
    end = len(record.rstrip(b"\r\n"))
    sign = header.delimiter.encode()
    found = records.scan(record, header.delimiter, range(len(header.names))).fields
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
    for name in dict.fromkeys(name for fields in fills.values() for name in fields):
        i = table.schema.get_field_index(name)
        rows = {row: fields[name] for row, fields in fills.items() if name in fields}
        table = table.set_column(i, table.schema.field(i), _replaced(table.column(i), rows))
    return table


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
