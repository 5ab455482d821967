"""A ranked list as it came: its columns by row, and which row stands where.

Lists of texts or dicts, tables of every library, and files, which become an Arrow table. A list is
never shortened: a row whose text cannot be used has a reason and keeps its place. Ids are labels,
so they may repeat.
"""

from __future__ import annotations

import functools
import numbers
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from neardup.decisions.values import sortable
from neardup.documents import Collection, Columns, collect
from neardup.documents.columns import DEFAULT_ID, unknown_column
from neardup.documents.lists import ListSource
from neardup.documents.tables import TableSource, arrow_source
from neardup.documents.values import Column, is_missing, json_like, text_column
from neardup.errors import ColumnError, InputError

TEXT = "text"


@dataclass(frozen=True)
class RankedList:
    """``file`` names it in messages and in ids that are made up."""

    source: ListSource | TableSource
    file: str = "input"

    def __len__(self) -> int:
        return len(self.source.items) if isinstance(self.source, ListSource) else self.source.rows

    @functools.cached_property
    def given(self) -> Any:
        """The object that came in; of what only has the Arrow protocol, an Arrow table."""
        if isinstance(self.source, ListSource):
            return self.source.items
        return self.source.kept(np.ones(len(self), np.bool_))[0]

    @functools.cached_property
    def names(self) -> list[str]:
        """Of columns; a text has none."""
        if isinstance(self.source, TableSource):
            return self.source.names
        dicts = (item for item in self.source.items if isinstance(item, dict))
        return list(dict.fromkeys(str(key) for item in dicts for key in item))

    def values(self, name: str) -> pa.Array | Sequence[Any]:
        """As they are, a value a row."""
        self.check(name)
        if isinstance(self.source, TableSource):
            return self.source.slice([name], 0, len(self))[name]
        items = self.source.items
        if name == TEXT:
            return [item.get(name) if isinstance(item, dict) else item for item in items]
        return [item.get(name) if isinstance(item, dict) else None for item in items]

    def check(self, name: str) -> None:
        """Refuses a column that is not there, unless there is not one row to have it."""
        if name in self.names or not len(self):
            return
        if isinstance(self.source, TableSource):
            raise unknown_column(name, self.names, self.file)
        if self.names or name != TEXT:
            where = "the list of dicts" if self.names else "a list of texts"
            raise unknown_column(name, self.names or [TEXT], where)

    def column(self, name: str) -> pa.Array:
        """As policies read it: in its own type, or as JSON writes it."""
        values = self.values(name)
        if isinstance(values, pa.Array):
            return values
        return pa.array([json_like(value) for value in values], pa.large_string())

    def texts(self, name: str) -> Column:
        return text_column(self.values(name), name, self.file)

    def ids(self, name: str | None) -> list[str]:
        """What a row is called: its id, else its place in the input."""
        wanted = name or (DEFAULT_ID if DEFAULT_ID in self.names else None)
        places = [f"{self.file}:{row}" for row in range(1, len(self) + 1)]
        if wanted is None:
            return places
        values = self.values(wanted)
        named = values.to_pylist() if isinstance(values, pa.Array) else values
        return [_label(id) or place for id, place in zip(named, places, strict=True)]

    def labels(self, name: str) -> list[str | None]:
        """A column for people to read, such as the title; None for all where it is not there."""
        if name not in self.names:
            return [None] * len(self)
        values = self.values(name)
        listed = values.to_pylist() if isinstance(values, pa.Array) else values
        return [None if value is None else str(value) for value in listed]

    def best_first(self, rank: str | None, score: str | None) -> npt.NDArray[np.int64]:
        """Rows by a column, or as given. Rows without a value come last, as given."""
        name = rank or score
        if name is None:
            return np.arange(len(self), dtype=np.int64)
        values = self._numbers(name)
        table = pa.table({"value": values, "row": np.arange(len(values))})
        keys = [("value", "ascending" if rank else "descending"), ("row", "ascending")]
        return np.asarray(pc.sort_indices(table, keys)).astype(np.int64)

    def _numbers(self, name: str) -> pa.Array:
        column = self.column(name)
        values = sortable(column, name)
        if pt.is_floating(values.type):
            return pc.if_else(pc.is_nan(values), None, values)
        if pt.is_integer(values.type) or values.null_count == len(values):
            return values
        row, value = _first_that_is_none(column)
        raise ColumnError(
            f"Column {name!r} of {self.file} has to be numbers, to rank by it; row {row + 1} has "
            f"{value!r}.",
            hint="name the column of the rank or of the score, or leave it out if the list is in "
            "order.",
        )


def _label(id: Any) -> str | None:
    if isinstance(id, str):
        return id
    usable = isinstance(id, numbers.Number | uuid.UUID) and not isinstance(id, bool)
    return str(id) if usable and not is_missing(id) else None


def _first_that_is_none(column: pa.Array) -> tuple[int, Any]:
    """The row and the value of what is no number, for the message."""
    for row, value in enumerate(column.to_pylist()):
        try:
            if value is not None and not isinstance(value, bool):
                float(value)
                continue
        except (TypeError, ValueError):
            return row, value
        if value is not None:
            return row, value
    return 0, None


def ranked_list(results: Any, text: str = TEXT) -> RankedList:
    """``results`` as :func:`neardup.group` takes them. ``text``: a column that a file must have."""
    collection = collect(results)
    if len(collection.sources) != 1:
        raise InputError(
            f"A result list is one list; got {len(collection.sources)} inputs.",
            hint="put them together in one order, or group them one by one.",
        )
    source = collection.sources[0]
    if isinstance(source, ListSource | TableSource):
        return RankedList(source)
    return RankedList(arrow_source(_whole(collection, text)), source.file)


def _whole(collection: Collection, text: str) -> pa.Table:
    """A file as a table with all its rows; one that cannot be read has no place in a ranking."""
    batches = [chunk.read() for chunk in collection.chunks(Columns(text=text))]
    rows = sum(map(len, batches))
    if not rows:  # lines that are not there have no columns either
        return pa.table({text: pa.array([], pa.large_string())})
    try:
        return collection.kept(np.ones(rows, np.bool_))
    except (ValueError, AttributeError) as error:  # a line that is no JSON, or no object
        rejected = (lost for batch in batches for lost in batch.rejected)
        unread = (lost for lost in rejected if lost.reason.startswith("line"))
        why = next((f"row {lost.row}: {lost.reason}" for lost in unread), str(error))
        raise InputError(
            f"{collection.files[0]}, {why}; expected a whole list.",
            hint="write the list again: what is missing might be the best result.",
        ) from error
