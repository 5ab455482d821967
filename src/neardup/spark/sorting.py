"""The policy's order on Spark: each criterion as a number, or a string, that Spark can sort.

Whole numbers, floats, dates and truth values become numbers of 64 bits in the same order. Strings
stay strings until all were seen: where all are numbers they are ordered as numbers, as in
``decisions/values.py``. What has no value has neither, and comes last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.order import Criterion
from neardup.decisions.values import as_dates, plain, sortable
from neardup.errors import SettingsError
from neardup.schema import Array

WHOLE, NUMBER, OTHER = 0, 1, 2  # what a string is; the highest of all decides
_SIGN = np.int64(2**63 - 1)
Column = tuple[pa.Array, pa.Array]


def fields(count: int) -> list[tuple[str, pa.DataType]]:
    return [
        field
        for number in range(count)
        for field in ((f"n{number}", pa.int64()), (f"s{number}", pa.string()))
    ]


def criterion_column(
    criterion: Criterion, lengths: Array, columns: Mapping[str, pa.Array]
) -> Column:
    """A number and a string for each document of a batch."""
    if criterion.name == "date":
        return _dates(columns[criterion.columns[0]], criterion.columns[0])
    if criterion.name == "column":
        return encoded(plain(columns[criterion.columns[0]], criterion.columns[0]))
    chunked = {name: pa.chunked_array([column]) for name, column in columns.items()}
    return encoded(criterion.values(lengths, chunked))


def _dates(column: pa.Array, name: str) -> Column:
    """What is no date stays as a string, to be shown where none is one."""
    try:
        found = as_dates(column, name)
    except SettingsError:
        found = pa.nulls(len(column), pa.int64())
    number, _ = encoded(found)
    raw = plain(column, name).cast(pa.string())
    return number, pc.if_else(pc.is_null(number), raw, pa.scalar(None, pa.string()))


def encoded(values: pa.Array) -> Column:
    type_ = values.type
    nothing = pa.nulls(len(values), pa.string())
    if pa.types.is_null(type_):
        return pa.nulls(len(values), pa.int64()), nothing
    if pa.types.is_large_string(type_) or pa.types.is_string(type_):
        return _code(values), values.cast(pa.string())
    if pa.types.is_floating(type_):
        return _ordered(values), nothing
    if pa.types.is_uint64(type_):
        flipped = np.asarray(values.fill_null(0)) ^ np.uint64(1 << 63)
        return pa.array(flipped.view(np.int64), mask=np.asarray(values.is_null())), nothing
    if pa.types.is_temporal(type_) and not pa.types.is_date64(type_):
        narrow = pa.types.is_date32(type_) or pa.types.is_time32(type_)
        values = values.cast(pa.int32()) if narrow else values
    return values.cast(pa.int64()), nothing


def _code(values: pa.Array) -> pa.Array:
    """Of each string alone, as ``sortable`` would take a column of it."""
    codes = np.full(len(values), OTHER, np.int64)
    if not len(values):
        return pa.array(codes)
    whole = sortable(values, "")
    if pa.types.is_integer(whole.type):
        codes[:] = WHOLE
    else:
        distinct = pc.dictionary_encode(values)
        kinds = np.array([_kind(one) for one in distinct.dictionary], np.int64)
        if len(kinds):
            codes = kinds[np.asarray(distinct.indices.fill_null(0))]
    return pa.array(codes, mask=np.asarray(values.is_null()))


def _kind(value: pa.Scalar) -> int:
    made = sortable(pa.array([value.as_py()], pa.large_string()), "").type
    return WHOLE if pa.types.is_integer(made) else NUMBER if pa.types.is_floating(made) else OTHER


def _ordered(values: pa.Array) -> pa.Array:
    """Floats as whole numbers in the same order; NaN is no value."""
    missing = np.asarray(pc.or_kleene(values.is_null(), pc.is_nan(values)).fill_null(True))
    plain_ = np.asarray(values.cast(pa.float64()).fill_null(0.0)) + 0.0  # −0 is 0
    bits = np.ascontiguousarray(plain_).view(np.int64)
    return pa.array(np.where(bits < 0, bits ^ _SIGN, bits), mask=missing)


def settled(number: pa.Array, string: pa.Array, code: int) -> Column:
    """Strings of which the highest kind is ``code``, when all were seen."""
    if code == OTHER or not len(string):
        return pa.nulls(len(number), pa.int64()), string
    values = string.cast(pa.large_string())
    if code == NUMBER:
        whole = values.is_valid()
        made = pc.if_else(whole, values, pa.scalar(None, pa.large_string()))
        return _ordered(_floats(made)), pa.nulls(len(number), pa.string())
    return sortable(values, "").cast(pa.int64()), pa.nulls(len(number), pa.string())


def _floats(values: pa.Array) -> pa.Array:
    return pc.utf8_ltrim(pc.utf8_trim_whitespace(values), "+").cast(pa.float64())


def no_dates(criteria: Sequence[Criterion], number: int, example: str) -> SettingsError:
    """The sentence of ``as_dates``, which speaks of a whole column."""
    name = criteria[number].columns[0]
    try:
        as_dates(pa.array([example]), name)
    except SettingsError as error:
        return error
    raise AssertionError("a date was no date")
