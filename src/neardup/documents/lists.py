"""Lists of texts and lists of dicts: the counterpart in memory of a JSON Lines file.

Kept items are the original objects. If they are written, a text becomes ``{"text": …}``. Rows that
can be read only once are spooled to disk. Each is pickled separately, so a row that is read back
equals the original, whatever its types, and a slice needs only the memory of its rows. Only the
process that made the spool reads it, and the file is deleted with the sequence.

``object_source`` recognises all objects in memory (lists, frames, tables, datasets) without
importing their libraries.
"""

from __future__ import annotations

import base64
import json
import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa

from neardup.documents.columns import (
    Chunk,
    Columns,
    DocumentBatch,
    Mask,
    Rejected,
    refuse_missing,
    unknown_column,
)
from neardup.documents.inputs import class_of
from neardup.documents.jsonl import value_at
from neardup.documents.memory_tables import (
    CHUNK_ROWS,
    MemorySource,
    TableChunk,
    TableSource,
    arrow_source,
    dataset_source,
    pandas_source,
    polars_source,
)
from neardup.documents.source import LineWriter
from neardup.documents.text_columns import json_like, kind, text_column
from neardup.errors import InputError


class LostRow(NamedTuple):
    """A row that was not read; it is rejected for this reason."""

    reason: str


@dataclass(frozen=True)
class ListSource(MemorySource):
    """``again`` is the address from which the rows came, if it can be read again."""

    items: Sequence[Any]
    chunk_rows: int = CHUNK_ROWS
    file: str = "input"
    again: str | None = None
    has_header = False

    @property
    def rows(self) -> int:
        return len(self.items)

    def part(self, start: int, end: int) -> ListSource:
        return replace(self, items=self.items[start:end])

    def kept_size(self, kept: list[Any]) -> float:
        return float(sum(len(item_line(item)) for item in kept))

    @property
    def has_dicts(self) -> bool:
        return any(isinstance(item, dict | LostRow) for item in self.items)

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        dicts = self.has_dicts
        for start in range(0, len(self.items), self.chunk_rows):
            part = self.items[start : start + self.chunk_rows]
            chunk = DictChunk if dicts else TextChunk
            yield chunk(self.file, part, start + 1, columns)

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:
        items = [self.items[row - 1] for row in rows]
        values = [value_at(i, columns.text) if isinstance(i, dict) else i for i in items]
        return [text or "" for text in text_column(values, "text", self.file).array.to_pylist()]

    def kept(self, keep: Mask) -> tuple[list[Any], int]:
        return list(self.chosen(keep)), len(self.items)

    def chosen(self, keep: Mask) -> Iterator[Any]:
        """The kept items one by one, because those of a spooled dataset may not fit into memory."""
        return (item for item, kept in zip(self.items, keep, strict=False) if kept)

    def copy(self, keep: Mask, out: LineWriter) -> int:
        for item in self.chosen(keep):
            out.write(item_line(item))
        return len(self.items)


@dataclass(frozen=True)
class TextChunk:
    file: str
    items: Sequence[Any]
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        if self.columns.required != ("text",):
            name = next(name for name in self.columns.required if name != "text")
            raise unknown_column(name, ["text"], "a list of texts")
        return TableChunk(self.file, self.first_row, self.columns, self.items, None, {}).read()


@dataclass(frozen=True)
class DictChunk:
    file: str
    items: Sequence[Any]
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        dicts = [item if isinstance(item, dict) else {} for item in self.items]
        self._check(dicts)
        columns = self.columns
        ids = [value_at(item, columns.id_name) for item in dicts]
        extra = {name: self._extra(dicts, name) for name in columns.delivered}
        texts = [value_at(item, columns.text) for item in dicts]
        batch = TableChunk(self.file, self.first_row, columns, texts, ids, extra).read()
        return replace(batch, rejected=[self._explained(lost) for lost in batch.rejected])

    def _extra(self, dicts: list[dict[str, Any]], name: str) -> pa.Array:
        return pa.array([json_like(value_at(item, name)) for item in dicts], pa.large_string())

    def _explained(self, lost: Rejected) -> Rejected:
        item = self.items[lost.row - self.first_row]
        if isinstance(item, LostRow):
            return replace(lost, reason=item.reason, id=None)
        if not isinstance(item, dict):
            return replace(lost, reason=f"document is {kind(item)}; expected a dict", id=None)
        if lost.id is not None and not has_value(item, self.columns.text):
            return replace(lost, reason=f"{self.columns.text} is missing")
        return lost

    def _check(self, dicts: list[dict[str, Any]]) -> None:
        first = next((item for item in dicts if item), None)
        if self.first_row > 1 or first is None:
            return
        missing = [
            n for n in self.columns.required if not any(has_value(item, n) for item in dicts)
        ]
        file = "the list of dicts" if self.file == "input" else self.file
        refuse_missing(missing, first, file)


def has_value(item: dict[str, Any], name: str) -> bool:
    return name in item or value_at(item, name) is not None


def item_line(item: Any) -> bytes:
    return json_line(item if isinstance(item, dict) else {"text": item})


def json_line(item: dict[str, Any]) -> bytes:
    try:
        return json.dumps(item, ensure_ascii=False, default=_written).encode() + b"\n"
    except UnicodeEncodeError:  # a lone surrogate can only be written as an escape
        return json.dumps(item, default=_written).encode() + b"\n"


def _written(value: Any) -> str:
    """A value that JSON does not have as a text; bytes that are no text in base64."""
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()


class SpooledRows(Sequence[Any]):
    def __init__(self, rows: Iterable[Any]) -> None:
        handle, name = tempfile.mkstemp(prefix="neardup-rows-")
        self._path = Path(name)
        weakref.finalize(self, self._path.unlink, missing_ok=True)
        self._starts = array("q")
        with os.fdopen(handle, "wb", buffering=1 << 20) as out:
            for row in rows:
                self._starts.append(out.tell())
                out.write(pickle.dumps(row, pickle.HIGHEST_PROTOCOL))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            wanted = range(*index.indices(len(self)))
            if wanted.step == 1:
                return list(self._rows(wanted.start, wanted.stop))
            return [self[i] for i in wanted]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return next(self._rows(place, place + 1))

    def __iter__(self) -> Iterator[Any]:
        return self._rows(0, len(self))

    def _rows(self, start: int, stop: int) -> Iterator[Any]:
        if start >= stop:
            return
        with self._path.open("rb", buffering=1 << 16) as file:
            file.seek(self._starts[start])
            for _ in range(start, stop):
                yield pickle.load(file)


_ACCEPTED = (
    "expected paths, a list or an iterator of texts or dicts, rows of a database, a pandas or "
    "polars frame or series, an Arrow table, a Hugging Face dataset, or anything with "
    "__arrow_c_stream__"
)
_HINTS = {
    "LazyFrame": "call .collect() first.",
}


def object_source(data: Any) -> ListSource | TableSource:
    if isinstance(data, list | tuple):
        return _list_source(data)
    if class_of(data) == ("datasets", "IterableDataset"):
        return ListSource(SpooledRows(data))  # it may be iterable only once
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        return ListSource(SpooledRows(_rows(data)))
    return _table_source(data)


def _list_source(items: list[Any] | tuple[Any, ...]) -> ListSource:
    if any(isinstance(item, Path) for item in items):
        raise InputError(
            "The list mixes Path objects with other things.",
            hint="give only Path objects to read files, or only texts.",
        )
    return ListSource([*_rows(items)] if any(map(_is_row, items)) else items)


def _is_row(item: Any) -> bool:
    return class_of(item) == ("sqlite3", "Row")


def _rows(items: Iterable[Any]) -> Iterator[Any]:
    """Rows of a database as dicts. A cursor gives tuples, and has their names apart."""
    described = getattr(items, "description", None) or ()
    names = [column[0] for column in described]
    for item in items:
        if names and type(item) is tuple:
            yield dict(zip(names, item, strict=True))
        else:
            yield dict(item) if _is_row(item) else item


def _table_source(data: Any) -> TableSource:
    library, shape = class_of(data)
    if (library, shape) == ("pandas", "Series"):
        table = pandas_source(data.to_frame("text"))
        return replace(table, pick=lambda keep: data.iloc[np.flatnonzero(keep)], table=_of_series)
    if (library, shape) == ("polars", "Series"):
        table = polars_source(data.to_frame("text"))
        return replace(table, pick=lambda keep: data.filter(keep), table=_of_series)
    if library == "pandas" and shape == "DataFrame":
        return pandas_source(data)
    if library == "polars" and shape == "DataFrame":
        return polars_source(data)
    if library == "datasets" and shape == "Dataset":
        return dataset_source(data)
    if isinstance(data, pa.RecordBatch):
        return arrow_source(pa.Table.from_batches([data]), lambda keep: data.filter(pa.array(keep)))
    if isinstance(data, pa.Table):
        return arrow_source(data)
    if hasattr(data, "__arrow_c_stream__") and shape != "Series":
        return arrow_source(pa.table(data))
    hint = _HINTS.get(shape, "make it a list or a table.")
    raise InputError(f"Cannot read a {shape}; {_ACCEPTED}.", hint=hint)


def _of_series(kept: Any) -> pa.Table:
    return pa.table({"text": pa.array(kept.to_list())})
