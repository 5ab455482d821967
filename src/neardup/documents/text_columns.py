"""Columns of any type as texts and ids, with the reason for each value that is neither."""

from __future__ import annotations

import json
import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from neardup.errors import ColumnError, InputError


class Column(NamedTuple):
    array: pa.Array
    reasons: dict[int, str]


def text_column(values: pa.Array | Sequence[Any], name: str, file: str) -> Column:
    if not isinstance(values, pa.Array):
        try:
            return Column(pa.array(values, pa.large_string()), {})
        except (pa.ArrowException, TypeError, ValueError):
            return _from_objects(values, name, _text)
    plain = _plain(values)
    if pt.is_null(plain.type):
        return Column(plain.cast(pa.large_string()), {})
    if not _is_textual(plain.type):
        raise ColumnError(
            f"Column {name!r} of {file} has the type {values.type}; expected strings.",
            hint="name the column that holds the text.",
        )
    return _from_binary(plain, name)


def id_column(values: pa.Array | Sequence[Any], name: str, file: str) -> Column:
    if not isinstance(values, pa.Array):
        return _from_objects(values, name, _id)
    if str(values.type) == "extension<arrow.uuid>":
        return _from_objects([uuid and str(uuid) for uuid in values.to_pylist()], name, _id)
    plain = _plain(values)
    if _is_textual(plain.type):
        return _from_binary(plain, name)
    try:
        if not pt.is_boolean(plain.type):
            return Column(plain.cast(pa.large_string()), {})
    except pa.ArrowNotImplementedError:
        pass
    raise ColumnError(
        f"Column {name!r} of {file} has the type {values.type}; expected strings or numbers.",
        hint="name the column that holds the id.",
    )


def sound_dictionary(values: Any, name: str) -> Column:
    """The same for a column whose strings are checked later (``text_column``, ``id_column``)."""
    if isinstance(values, pa.DictionaryArray):
        return sound_column(values, name)
    return Column(values, {})


def sound_column(values: pa.Array, name: str) -> Column:
    """The values, with those as null that cannot be read: strings that are no UTF-8, and indices
    that a dictionary does not have. Files are not checked for either when they are read."""
    try:
        values.validate(full=True)
    except (pa.ArrowInvalid, IndexError) as error:
        if pt.is_dictionary(values.type):
            return _sound_dictionary(values, name)
        if _is_textual(values.type):
            column = _from_objects(values.cast(pa.large_binary()).to_pylist(), name, _text)
            return column._replace(array=column.array.cast(values.type))
        raise InputError(
            f"Column {name!r} has invalid values: {error}.",
            hint="check the file; the program that wrote it may be broken.",
        ) from error
    return Column(values, {})


def _sound_dictionary(values: pa.DictionaryArray, name: str) -> Column:
    entries = sound_column(values.dictionary, name)
    size, indices = len(values.dictionary), values.indices
    reasons: dict[int, str] = {}
    for i, index in enumerate(indices.to_pylist()):
        if index is not None and not 0 <= index < size:
            reasons[i] = f"{name} has entry {index} of a dictionary of {size}"
        elif index in entries.reasons:
            reasons[i] = entries.reasons[index]
    good = np.ones(len(values), np.bool_)
    good[list(reasons)] = False
    kept = pc.if_else(pa.array(good), indices, pa.scalar(None, indices.type))
    return Column(pa.DictionaryArray.from_arrays(kept, entries.array), reasons)


def kind(value: Any) -> str:
    """The type of a Python object, in the terms of JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds = {"a number": numbers.Number, "a string": str, "an object": dict, "an array": list}
    named = (word for word, type_ in kinds.items() if isinstance(value, type_))
    return next(named, f"a {type(value).__name__}")


def is_missing(value: Any) -> bool:
    """None, NaN and pandas' own missing values."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _plain(values: pa.Array) -> pa.Array:
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    return values.dictionary_decode() if pt.is_dictionary(values.type) else values


def _is_textual(type_: pa.DataType) -> bool:
    views = (pa.string_view(), pa.binary_view())
    strings = pt.is_string(type_) or pt.is_large_string(type_) or type_ in views
    binary = pt.is_binary(type_) or pt.is_large_binary(type_) or pt.is_fixed_size_binary(type_)
    return strings or binary


def _from_binary(values: pa.Array, name: str) -> Column:
    # Parquet strings are not checked when they are read, so strings are checked here like bytes.
    array = values.cast(pa.large_binary()).cast(pa.large_string(), safe=False)
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return _from_objects(array.cast(pa.large_binary()).to_pylist(), name, _text)
    return Column(array, {})


def _from_objects(values: Sequence[Any], name: str, convert: Any) -> Column:
    reasons: dict[int, str] = {}
    texts: list[str | None] = []
    for i, value in enumerate(values):
        text, reason = (None, None) if is_missing(value) else convert(value)
        texts.append(text)
        if reason:
            reasons[i] = f"{name} {reason}"
    return Column(pa.array(texts, pa.large_string()), reasons)


def _text(value: Any) -> tuple[str | None, str | None]:
    try:
        if isinstance(value, str):
            value.encode()
            return value, None
        if isinstance(value, bytes):
            return value.decode(), None
    except UnicodeDecodeError as error:
        return None, f"is not valid UTF-8 at byte {error.start + 1}"
    except UnicodeEncodeError as error:
        return None, f"has a lone surrogate at character {error.start + 1}"
    return None, f"is {kind(value)}; expected a string"


def _id(value: Any) -> tuple[str | None, str | None]:
    if isinstance(value, str | bytes):
        return _text(value)
    if isinstance(value, numbers.Number) and not isinstance(value, bool):
        return str(value), None
    return None, f"is {kind(value)}; expected a string or a number"


def json_like(value: Any) -> str | None:
    """An extra value of a dict in the form of JSON files: the text of a string, else its JSON
    text."""
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return json.dumps(value, ensure_ascii=False, default=str)


def valid_mask(text: pa.Array, bad_ids: Sequence[int]) -> pa.Array:
    """The rows that can be used: they have a text, and their id is not among the bad ones."""
    valid = pc.is_valid(text)
    if not bad_ids:
        return valid
    mask = valid.to_numpy(zero_copy_only=False).copy()
    mask[list(bad_ids)] = False
    return pa.array(mask)
