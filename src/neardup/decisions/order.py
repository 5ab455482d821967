"""The policy's order: which of several copies comes first, and so is kept.

``--keep`` names one criterion; ties, and everything without a value, fall back to the position in
the input. The order is a permutation of the documents: ``rank[document]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.values import as_dates, plain, sortable
from neardup.errors import SettingsError
from neardup.schema import Array

SIMPLE = ("first", "last", "longest", "shortest", "newest", "oldest")
CHOICES = "first, last, longest, shortest, newest, oldest, COLUMN:asc, COLUMN:desc or source:a,b,c"


@dataclass(frozen=True)
class Keep:
    """``--keep`` as understood: a criterion, the column it reads, and its direction."""

    criterion: str
    column: str | None = None
    descending: bool = False
    sources: tuple[str, ...] = ()

    @classmethod
    def parse(cls, written: str, date_column: str | None) -> Keep:
        if written in ("newest", "oldest"):
            if date_column is None:
                raise SettingsError(
                    f"keep {written!r} needs to know which column is the date.",
                    hint="name it with --date COLUMN (in Python: date='COLUMN').",
                )
            return cls("date", date_column, written == "newest")
        if written in ("longest", "shortest"):
            return cls("length", None, written == "longest")
        if written in ("first", "last"):
            return cls("position", None, written == "last")
        column, _, rest = written.rpartition(":")
        if rest in ("asc", "desc") and column:
            return cls("column", column, rest == "desc")
        column, _, rest = written.partition(":")
        if column == "source" and rest:
            return cls("source", "source", False, tuple(s.strip() for s in rest.split(",")))
        raise SettingsError(f"keep is {written!r}.", hint=f"expected {CHOICES}.")


def rank_documents(
    keep: Keep, lengths: Array, column: pa.ChunkedArray | None
) -> npt.NDArray[np.int64]:
    """``lengths`` in characters; ``column`` is the one that ``keep`` reads, a value a document."""
    count = len(lengths)
    if keep.criterion == "position":
        order = np.arange(count)[:: -1 if keep.descending else 1]
    elif keep.criterion == "length":
        order = np.argsort(-lengths if keep.descending else lengths, kind="stable")
    elif column is None:  # there was not one document to read it from
        order = np.arange(count)
    else:
        order = _by_values(_values(keep, column), keep.descending)
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    return rank


def _by_values(values: pa.Array, descending: bool) -> Array:
    table = pa.table({"value": values, "position": np.arange(len(values))})
    direction = "descending" if descending else "ascending"
    # Nulls come last, whatever the direction: the default, and pyarrow 25 warns when it is said.
    order = pc.sort_indices(table, [("value", direction), ("position", "ascending")])
    return np.asarray(order).astype(np.int64)


def _values(keep: Keep, column: pa.ChunkedArray) -> pa.Array:
    name = keep.column or ""
    if keep.criterion == "source":
        sources = pa.array(keep.sources, pa.large_string())
        return pc.index_in(plain(column, name).cast(pa.large_string()), sources)
    if keep.criterion == "date":
        return as_dates(column, name)
    return sortable(column, name)
