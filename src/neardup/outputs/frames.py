"""Columns beside a table in memory, whatever library it is of; the object that came stays as is."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pyarrow as pa

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
    """As ``with_columns``, but for columns that are there already, which stay in their places."""
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
