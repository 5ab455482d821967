"""Dates as days since 1980-01-01 (Conrad et al. 2003, §7.1), from columns of several types.

A column may hold Arrow dates or timestamps; strings that are an ISO 8601 date, ``2003-11-03`` or
``20031103``, with or without a time after it; or integers such as ``20031103``. The date is taken
as written: a time zone does not change it.
"""

from __future__ import annotations

from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import ColumnError, SettingsError
from neardup.schema import is_text

EPOCH = date(1980, 1, 1)
NO_DATE = np.iinfo(np.int32).min
_SINCE_1970 = (EPOCH - date(1970, 1, 1)).days
_DATE = r"^\s*(?P<y>\d{4})(?P<m1>-\d{2}-|\d{2})(?P<d>\d{2})(?:[T ].*)?\s*$"
_HINT = "expected ISO 8601, for example 2003-11-03 or 2003-11-03T12:30:00+01:00, or 20031103."


def days(column: pa.Array, name: str) -> npt.NDArray[np.int32]:
    """The day of each value; ``NO_DATE`` for a missing or unreadable date."""
    type_ = column.type
    if pa.types.is_dictionary(type_):
        return days(column.dictionary_decode(), name)
    if pa.types.is_null(type_):
        return np.full(len(column), NO_DATE, np.int32)
    if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
        return _of_dates(column)
    if pa.types.is_integer(type_) or is_text(type_):
        return _of_strings(column.cast(pa.large_string()))
    raise ColumnError(f"The date column {name!r} holds values of type {type_}.", hint=_HINT)


def check_dates(column: pa.Array, name: str) -> None:
    """Raises an error for a column that has values but no date among them."""
    day = days(column, name)
    if column.null_count < len(column) and (day == NO_DATE).all():
        present = (str(value) for value in column.to_pylist() if value is not None)
        example = next((value for value in present if value.strip()), None)
        if example is not None:
            raise SettingsError(
                f"No value of the date column {name!r} is a date; the first is {example[:40]!r}.",
                hint=_HINT,
            )


def _of_dates(values: pa.Array) -> npt.NDArray[np.int32]:
    since_1970 = pc.cast(pc.cast(values, pa.date32(), safe=False), pa.int32())
    day = pc.fill_null(since_1970, 0).to_numpy(zero_copy_only=False) - np.int32(_SINCE_1970)
    return np.where(_known(values), day, NO_DATE).astype(np.int32)


def _known(values: pa.Array) -> npt.NDArray[np.bool_]:
    known: npt.NDArray[np.bool_] = pc.is_valid(values).to_numpy(zero_copy_only=False)
    return known


def _of_strings(values: pa.LargeStringArray) -> npt.NDArray[np.int32]:
    parts = pc.extract_regex(values, _DATE)
    year, month, day = (
        pc.fill_null(pc.replace_substring(pc.struct_field(parts, field), "-", ""), "01")
        .cast(pa.int32())
        .to_numpy(zero_copy_only=False)
        for field in ("y", "m1", "d")
    )
    known = _known(parts) & (month >= 1) & (month <= 12) & (day >= 1)
    months = (year - 1970) * 12 + np.where(known, month, 1) - 1
    first = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
    next_first = (months + 1).astype("M8[M]").astype("M8[D]").astype(np.int64)
    known = known & (day <= next_first - first)
    return np.where(known, first + day - 1 - _SINCE_1970, NO_DATE).astype(np.int32)
