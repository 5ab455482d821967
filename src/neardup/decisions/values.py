"""Columns that policies read, as plain values that can be sorted and grouped.

Tables bring many types: dictionaries, string views, decimals. What has no order that people would
expect (lists, structs, bytes) is refused with a sentence.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import ColumnError, SettingsError
from neardup.schema import Array


def plain(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Strings, whole numbers, floats, times or truth values; missing values stay missing."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # no chunk at all
        values = pa.array([], values.type)
    type_ = values.type
    if pa.types.is_dictionary(type_):
        return plain(values.dictionary_decode(), name)
    if _is_text(type_):
        return values.cast(pa.large_string())
    if pa.types.is_decimal(type_):
        return values.cast(pa.float64())
    if pa.types.is_null(type_) or pa.types.is_temporal(type_) or pa.types.is_primitive(type_):
        return values
    raise ColumnError(
        f"Column {name!r} holds values of type {type_}; a policy cannot order or group them.",
        hint="use a column of strings, numbers, dates or truth values.",
    )


def _is_text(type_: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def group_codes(column: pa.ChunkedArray | pa.Array, name: str) -> Array:
    """A number for each distinct value; missing values are a value of their own."""
    encoded = pc.dictionary_encode(plain(column, name), null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64)


def filled(column: pa.ChunkedArray | pa.Array) -> Array:
    """Which documents have a value: not missing, not blank, not an empty list or object."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # no chunk at all
        return np.zeros(0, np.bool_)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    there: Array = np.array(values.is_valid())
    if _is_text(values.type):
        written = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        there &= ~np.asarray(pc.is_in(written, _EMPTY))
    elif pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        there &= np.asarray(pc.fill_null(pc.greater(pc.list_value_length(values), 0), False))
    elif pa.types.is_floating(values.type):
        there &= ~np.asarray(pc.fill_null(pc.is_nan(values), False))
    return there


_EMPTY = pa.array(["", "[]", "{}"], pa.large_string())  # as JSON gives what is no string
_WHOLE = r"^\s*[-+]?\d{1,18}\s*$"
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


def sortable(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Numbers where all values are numbers (JSON gives them as written), else the strings."""
    values = plain(column, name)
    if not _is_text(values.type):
        return values
    for pattern, type_ in ((_WHOLE, pa.int64()), (_NUMBER, pa.float64())):
        if pc.all(pc.match_substring_regex(values, pattern)).as_py():
            written = pc.utf8_ltrim(pc.utf8_trim_whitespace(values), "+")
            return written.cast(type_)
    return values


_ISO = re.compile(r"^\d{4}-\d{2}-\d{2}")


def as_dates(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Microseconds since 1970, UTC; what is not a date is missing."""
    values = plain(column, name)
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return values.cast(pa.float64())
    if not _is_text(values.type) and values.null_count < len(values):
        raise ColumnError(
            f"The date column {name!r} holds values of type {values.type}.",
            hint="expected dates, times, ISO 8601 strings or numbers.",
        )
    written = values.to_pylist()
    dates = pa.array([_microseconds(text) for text in written], pa.int64())
    example = next((text for text in written if text), None)
    if example is not None and dates.null_count == len(dates):
        raise SettingsError(
            f"No value of the date column {name!r} is a date; the first is {example!r}.",
            hint="expected ISO 8601, for example 2003-11-03 or 2003-11-03T12:30:00+01:00.",
        )
    return dates


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _microseconds(text: str | None) -> int | None:
    if not text or not _ISO.match(text):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
