"""JSON objects as a table: what the lines of a file are when they come back as ``kept``."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa


class _Digits(str):
    """A whole number with more digits than Python makes an int of."""

    __slots__ = ()


def _whole_number(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return _Digits(digits)


def parsed(line: str) -> Any:
    """As ``json.loads``, which refuses a number of some thousand digits."""
    return json.loads(line, parse_int=_whole_number)


def _json_text(value: Any) -> str:
    return str(value) if isinstance(value, _Digits) else json.dumps(value)


def table_of(objects: list[dict[str, Any]]) -> pa.Table:
    """Columns in the order of appearance; one whose values have no common type is JSON text."""
    names = dict.fromkeys(name for item in objects for name in item)
    columns = [_column([item.get(name) for item in objects]) for name in names]
    return pa.Table.from_arrays(columns, names=[_without_lone_surrogates(name) for name in names])


def _column(values: list[Any]) -> pa.Array:
    try:
        return pa.array(values)
    except UnicodeEncodeError:
        return _column([_without_lone_surrogates(value) for value in values])
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None if value is None else _json_text(value) for value in values])


def _without_lone_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return (
        json.loads(json.dumps(value)) if not isinstance(value, list | dict) else json.dumps(value)
    )
