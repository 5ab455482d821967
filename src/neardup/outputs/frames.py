"""Columns beside a table in memory, whatever library it is of; the object that came stays as is."""

from __future__ import annotations

import importlib
from typing import Any

import pyarrow as pa


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


def _with_features(dataset: Any, columns: pa.Table) -> Any:
    datasets = importlib.import_module("datasets")
    both = datasets.concatenate_datasets([dataset, datasets.Dataset(columns)], axis=1)
    return both.with_format(dataset.format["type"])  # side by side they lose it


def _series(column: pa.ChunkedArray, frame: Any) -> Any:
    series = column.to_pandas().set_axis(frame.index)
    return series.astype("Int64") if pa.types.is_integer(column.type) else series
