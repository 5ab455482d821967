"""Objects in memory: lists, frames, tables, datasets; known without importing their libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.documents.lists import ListSource
from neardup.documents.spooled import SpooledRows
from neardup.documents.tables import (
    TableSource,
    arrow_source,
    dataset_source,
    pandas_source,
    polars_source,
)
from neardup.errors import InputError

_ACCEPTED = (
    "expected paths, a list of texts or dicts, a pandas or polars frame, an Arrow table, a Hugging "
    "Face dataset, or anything with __arrow_c_stream__"
)
_HINTS = {
    "LazyFrame": "call .collect() first.",
    "DatasetDict": "name the split, such as dataset['train'].",
    "IterableDatasetDict": "name the split, such as dataset['train'].",
}


def object_source(given: Any) -> ListSource | TableSource:
    if isinstance(given, list | tuple):
        return _list_source(given)
    if _class_of(given) == ("datasets", "IterableDataset"):
        return ListSource(SpooledRows(given))  # it may not give its rows twice
    return _table_source(given)


def _class_of(given: Any) -> tuple[str, str]:
    """The library and the class, known without importing the library."""
    return type(given).__module__.partition(".")[0], type(given).__name__


def _list_source(items: list[Any] | tuple[Any, ...]) -> ListSource:
    if any(isinstance(item, Path) for item in items):
        raise InputError(
            "The list mixes Path objects with other things.",
            hint="give only Path objects to read files, or only texts.",
        )
    return ListSource(items)


def _table_source(given: Any) -> TableSource:
    library, shape = _class_of(given)
    if library == "pandas" and shape == "DataFrame":
        return pandas_source(given)
    if library == "polars" and shape == "DataFrame":
        return polars_source(given)
    if library == "datasets" and shape == "Dataset":
        return dataset_source(given)
    if isinstance(given, pa.RecordBatch):
        return arrow_source(
            pa.Table.from_batches([given]), lambda keep: given.filter(pa.array(keep))
        )
    if isinstance(given, pa.Table):
        return arrow_source(given)
    if hasattr(given, "__arrow_c_stream__") and shape != "Series":
        return arrow_source(pa.table(given))
    hint = _HINTS.get(shape, "make it a list or a table.")
    raise InputError(f"Cannot read a {shape}; {_ACCEPTED}.", hint=hint)
