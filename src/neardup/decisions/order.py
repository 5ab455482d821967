"""The policy's order: which of several copies comes first, and so is kept.

``--keep`` names one criterion; ties, and everything without a value, fall back to the position in
the input. The order is a permutation of the documents: ``rank[document]``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

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
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if keep.criterion == "source":
        sources = pa.array(keep.sources, pa.large_string())
        return pc.index_in(column.cast(pa.large_string()), sources)
    if keep.criterion == "date":
        return as_dates(column, keep.column or "date")
    if pa.types.is_large_string(column.type) or pa.types.is_string(column.type):
        return _numbers(column)
    return column


_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


def _numbers(column: pa.Array) -> pa.Array:
    """Numbers where all values are numbers (JSONL gives them as written), else the strings."""
    if pc.all(pc.match_substring_regex(column, _NUMBER)).as_py():
        return pc.utf8_trim_whitespace(column).cast(pa.float64())
    return column


_ISO = re.compile(r"^\d{4}-\d{2}-\d{2}")


def as_dates(column: pa.Array, name: str) -> pa.Array:
    """Microseconds since 1970, UTC; what is not a date is null and comes last."""
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        return column.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column.cast(pa.float64())
    from datetime import UTC, datetime

    def parse(text: str | None) -> int | None:
        if not text or not _ISO.match(text):
            return None
        try:
            moment = datetime.fromisoformat(text.strip())
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1_000_000)

    dates = pa.array([parse(text) for text in column.to_pylist()], pa.int64())
    example = next((text for text in column.to_pylist() if text), None)
    if example is not None and dates.null_count == len(column):
        raise SettingsError(
            f"No value of the date column {name!r} is a date; the first is {example!r}.",
            hint="expected ISO 8601, for example 2003-11-03 or 2003-11-03T12:30:00+01:00.",
        )
    return dates
