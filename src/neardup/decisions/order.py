"""The order of documents, which determines the copy that is kept.

An order is a list of criteria, written in the same way for ``--keep`` and in policies. Ties of a
criterion go to the next one, and the last ties to the position in the input. A document without a
value comes after those with one. The order is therefore a permutation: ``rank[document]``.

``plain``, ``sortable``, ``as_dates`` and ``group_codes`` turn columns of many types, such as
dictionaries, string views and decimals, into values that can be sorted and grouped. Types without
an obvious order (lists, structs, bytes) raise an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.classes import dataclass
from neardup.errors import ColumnError, NeardupError, SettingsError, all_problems
from neardup.schema import Array, is_text
from neardup.wording import many, shortened


def plain(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Strings, integers, floats, times or truth values; missing values stay missing."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # a column without chunks
        values = pa.array([], values.type)
    type_ = values.type
    if pa.types.is_dictionary(type_):
        return plain(values.dictionary_decode(), name)
    if is_text(type_):
        return values.cast(pa.large_string())
    if pa.types.is_decimal(type_):
        return values.cast(pa.float64())
    if pa.types.is_null(type_) or pa.types.is_temporal(type_) or pa.types.is_primitive(type_):
        return values
    raise ColumnError(
        f"Column {name!r} holds values of type {type_}; a policy cannot order or group them.",
        hint="use a column of strings, numbers, dates or truth values.",
    )


def group_codes(column: pa.ChunkedArray | pa.Array, name: str) -> Array:
    """The same number for documents with the same value; a missing value counts as a value."""
    encoded = pc.dictionary_encode(plain(column, name), null_encoding="encode")
    return np.asarray(encoded.indices).astype(np.int64)


def filled(column: pa.ChunkedArray | pa.Array) -> Array:
    """Which documents have a value: not missing, not blank, not an empty list or object."""
    values = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(values, pa.ChunkedArray):  # a column without chunks
        return np.zeros(0, np.bool_)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    present: Array = np.array(values.is_valid())
    if is_text(values.type):
        written = pc.utf8_trim_whitespace(values.cast(pa.large_string()))
        present &= ~np.asarray(pc.is_in(written, _EMPTY))
    elif pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        present &= np.asarray(pc.fill_null(pc.greater(pc.list_value_length(values), 0), False))
    elif pa.types.is_floating(values.type):
        present &= ~np.asarray(pc.fill_null(pc.is_nan(values), False))
    return present


_EMPTY = pa.array(["", "[]", "{}"], pa.large_string())  # lists and objects of JSON come as text
_WHOLE = r"^\s*[-+]?\d{1,18}\s*$"
_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"


def sortable(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Numbers if all values are numbers, which JSON readers deliver as text; else the strings."""
    values = plain(column, name)
    if not is_text(values.type):
        return values
    for pattern, type_ in ((_WHOLE, pa.int64()), (_NUMBER, pa.float64())):
        if pc.all(pc.match_substring_regex(values, pattern)).as_py():
            written = pc.utf8_ltrim(pc.utf8_trim_whitespace(values), "+")
            return written.cast(type_)
    return values


_YEAR_FIRST = re.compile(r"(\d{4})(?:([-/])(\d{1,2})(?:\2(\d{1,2})(.*))?)?", re.DOTALL)
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)", re.DOTALL)  # with dots, as in German
DATES = "2003-11-03, 2003-11-03T12:30:00+01:00, 2003/11/03, 03.11.2003, 2003-11 or 2003"


def as_dates(column: pa.ChunkedArray | pa.Array, name: str) -> pa.Array:
    """Microseconds since 1970, UTC; a value that is not a date becomes missing."""
    values = plain(column, name)
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        return values.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    if pa.types.is_integer(values.type) or pa.types.is_floating(values.type):
        return values.cast(pa.float64())
    if not is_text(values.type) and values.null_count < len(values):
        raise ColumnError(
            f"The date column {name!r} holds values of type {values.type}.",
            hint=f"expected dates, times, numbers, or strings such as {DATES}.",
        )
    written = values.to_pylist()
    dates = pa.array([_microseconds(text) for text in written], pa.int64())
    example = next((text for text in written if text and text.strip()), None)
    if example is not None and dates.null_count == len(dates):
        raise SettingsError(
            f"No value of the date column {name!r} is a date; the first is {example!r}.",
            hint=f"expected dates such as {DATES}.",
        )
    return dates


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _microseconds(text: str | None) -> int | None:
    """The first moment of what the text names: of a year, its first of January."""
    written = (text or "").strip()
    if match := _YEAR_FIRST.fullmatch(written):
        year, _, month, day, time = match.groups()
    elif match := _DAY_FIRST.fullmatch(written):
        day, month, year, time = match.groups()
    else:
        return None
    try:
        moment = datetime.fromisoformat(f"{year}-{month or 1:0>2}-{day or 1:0>2}{time or ''}")
    except ValueError:
        return None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


class Undated(NamedTuple):
    """How many of the ``documents`` have no date in the column by which an order compares dates,
    and the first ``example`` of a value that is none."""

    column: str
    unread: int
    documents: int
    example: str | None

    def sentence(self) -> str:
        have = "has" if self.unread == 1 else "have"
        example = "" if self.example is None else f" (the first is {shortened(self.example, 40)!r})"
        return (
            f"{self.unread:,} of {many(self.documents, 'document')} {have} no readable date in "
            f"{self.column!r}{example}, so that newest and oldest put them last."
        )


SIMPLE = ("first", "last", "longest", "shortest", "newest", "oldest")
CHOICES = (
    "first, last, longest, shortest, newest, oldest, COLUMN:asc, COLUMN:desc, COLUMN:a,b,c (these "
    "values first) or complete:COLUMN,COLUMN"
)
SEPARATOR = ";"


@dataclass(frozen=True)
class Criterion:
    """A parsed criterion: what it compares, in which columns, in which direction."""

    written: str
    name: str
    columns: tuple[str, ...] = ()
    descending: bool = False
    preferred: tuple[str, ...] = ()  # values of the column, the best first

    @classmethod
    def parse(cls, written: str, date_column: str | None, where: str = "keep") -> Criterion:
        if written in ("newest", "oldest"):
            if date_column is None:
                raise SettingsError(
                    f"{where} {written!r} needs to know which column is the date.",
                    hint="name it with --date COLUMN (in Python and policies: date = 'COLUMN'); "
                    "folders of pages or papers, feeds and mail have --date date.",
                )
            return cls(written, "date", (date_column,), written == "newest")
        if written in ("longest", "shortest"):
            return cls(written, "length", (), written == "longest")
        if written in ("first", "last"):
            return cls(written, "position", (), written == "last")
        column, _, rest = written.rpartition(":")
        if rest in ("asc", "desc") and column:
            return cls(written, "column", (column,), rest == "desc")
        column, _, rest = written.partition(":")
        listed = tuple(name.strip() for name in rest.split(","))
        if column and rest and not _is_direction(rest):
            _check_listed(f"{where} {written!r}", listed)
            if column == "complete":
                return cls(written, "complete", listed, True)
            return cls(written, "preferred", (column,), False, listed)
        raise SettingsError(f"{where} is {written!r}.", hint=_expected(written))

    @property
    def about(self) -> tuple[str, tuple[str, ...]]:
        """What the criterion is about; an order must not have two criteria about the same."""
        return self.name, tuple(sorted(self.columns))

    def values(self, lengths: Array, columns: Mapping[str, pa.ChunkedArray]) -> pa.Array:
        """One value per document; ``columns`` may be empty if no document was read."""
        if self.name == "length":
            return pa.array(lengths)
        if self.name == "position" or not set(self.columns) <= columns.keys():
            return pa.array(np.arange(len(lengths)))
        if self.name == "complete":
            return pa.array(np.sum([filled(columns[name]) for name in self.columns], axis=0))
        name, column = self.columns[0], columns[self.columns[0]]
        if self.name == "preferred":
            preferred = pa.array(self.preferred, pa.large_string())
            return pc.index_in(plain(column, name).cast(pa.large_string()), preferred)
        values = as_dates(column, name) if self.name == "date" else sortable(column, name)
        if not pa.types.is_floating(values.type):
            return values
        return pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)


def _expected(written: str) -> str:
    several = ", " in written or any(name in SIMPLE for name in written.split(","))
    separated = f"; several of them are separated by {SEPARATOR!r}" if several else ""
    column, _, word = written.partition(":")
    directions = [f"{column}:asc", f"{column}:desc"] if _is_direction(word) else []
    near = difflib.get_close_matches(written.lower(), [*SIMPLE, *directions], 1, cutoff=0.7)
    meant = f"did you mean {near[0]!r}? " if near and not several else ""
    return f"{meant}expected {CHOICES}{separated}."


def _is_direction(word: str) -> bool:
    """``descending`` and the like, which is no value that somebody prefers."""
    return word.strip().lower() in ("asc", "desc", "ascending", "descending", "up", "down")


def _check_listed(what: str, listed: Sequence[str]) -> None:
    if "" in listed or len(set(listed)) < len(listed):
        fault = "an empty name" if "" in listed else "a name twice"
        raise SettingsError(f"{what} has {fault}.", hint="list each name once.")


@dataclass(frozen=True)
class Order:
    """Criteria, the strongest first. Without criteria, the order of the input."""

    criteria: tuple[Criterion, ...] = ()

    @classmethod
    def parse(
        cls, written: str | Sequence[str], date_column: str | None, where: str = "keep"
    ) -> Order:
        """``source:a,b; longest``, or the criteria as a list. One error reports all problems."""
        if isinstance(written, str):
            written = [part.strip() for part in written.split(SEPARATOR)]
        criteria: list[Criterion] = []
        problems: list[NeardupError] = []
        for part in written:
            try:
                criteria.append(Criterion.parse(part, date_column, where))
            except NeardupError as error:
                problems.append(error)
        problems += _contradictions(criteria, where) if len(criteria) > 1 else []
        if problems:
            raise all_problems(problems)
        return cls(tuple(criteria))

    @property
    def columns(self) -> tuple[str, ...]:
        names = (name for criterion in self.criteria for name in criterion.columns)
        return tuple(dict.fromkeys(names))

    @property
    def by_length(self) -> bool:
        return any(criterion.name == "length" for criterion in self.criteria)

    @property
    def by_position(self) -> bool:
        return self.criteria[:1] in ((), (Criterion("first", "position"),))

    @property
    def sources(self) -> tuple[str, ...]:
        """The preferred names of inputs."""
        own = (c.preferred for c in self.criteria if c.columns == ("source",))
        return next(filter(None, own), ())

    def values(self, lengths: Array, columns: Mapping[str, pa.ChunkedArray]) -> list[pa.Array]:
        return [criterion.values(lengths, columns) for criterion in self.criteria]

    def rank(self, lengths: Array, columns: Mapping[str, pa.ChunkedArray]) -> npt.NDArray[np.int64]:
        """The place of each document; ``lengths`` in characters, and the criteria's columns."""
        if self.by_position:
            return np.arange(len(lengths))
        return self.rank_of(self.values(lengths, columns), len(lengths))

    def rank_of(self, values: Sequence[pa.Array], count: int) -> npt.NDArray[np.int64]:
        if self.by_position:
            return np.arange(count)
        keys = {f"{i}": value for i, value in enumerate(values)} | {"": np.arange(count)}
        directions = ["descending" if c.descending else "ascending" for c in self.criteria]
        # By default nulls come last in either direction; pyarrow 25 warns if that is requested.
        order = pc.sort_indices(
            pa.table(keys), list(zip(keys, [*directions, "ascending"], strict=True))
        )
        rank = np.empty(count, np.int64)
        rank[np.asarray(order).astype(np.int64)] = np.arange(count)
        return rank

    def undated(
        self, values: Sequence[pa.Array], columns: Mapping[str, pa.ChunkedArray | pa.Array]
    ) -> Undated | None:
        """What the first criterion by date could not read; ``values`` are those of all criteria."""
        for criterion, dates in zip(self.criteria, values, strict=True):
            if criterion.name == "date" and dates.null_count and criterion.columns[0] in columns:
                name = criterion.columns[0]
                unread = plain(columns[name], name).filter(dates.is_null()).cast(pa.large_string())
                written = unread.filter(pc.not_equal(pc.utf8_trim_whitespace(unread), ""))
                example = written[0].as_py() if len(written) else None
                return Undated(name, dates.null_count, len(dates), example)
        return None

    def deciding(self, values: Sequence[pa.Array], a: Array, b: Array) -> list[str]:
        """For each pair of documents, the first criterion by which they differ."""
        number = np.full(len(a), len(values), np.int64)
        for i in reversed(range(len(values))):
            number[_differ(values[i], a, b)] = i
        names = [criterion.written for criterion in self.criteria] + ["position in the input"]
        return [names[i] for i in number.tolist()]


def _differ(values: pa.Array, rows_a: Array, rows_b: Array) -> Array:
    a, b = values.take(pa.array(rows_a)), values.take(pa.array(rows_b))
    unequal = pc.fill_null(pc.not_equal(a, b), False)
    return np.asarray(pc.or_(unequal, pc.xor(pc.is_null(a), pc.is_null(b))))


def _contradictions(criteria: Sequence[Criterion], where: str) -> list[NeardupError]:
    problems: list[NeardupError] = []
    for i, criterion in enumerate(criteria):
        rivals = [earlier for earlier in criteria[:i] if earlier.about == criterion.about]
        name = f"{where}: {criterion.written!r}"
        if rivals:
            twice = rivals[0].written == criterion.written
            how = "is listed twice" if twice else f"contradicts {rivals[0].written!r}"
            problems.append(SettingsError(f"{name} {how}.", hint="leave one out."))
        elif any(earlier.name == "position" for earlier in criteria[:i]):
            problems.append(
                SettingsError(
                    f"{name} comes after a criterion that leaves no ties, so it never counts.",
                    hint="put first or last at the end of the order.",
                )
            )
    return problems


def rank_of_all(rank: Array, position: Array, total: int) -> npt.NDArray[np.int32]:
    """The ranks of accepted documents extended to all documents: rejected ones, which match
    nothing, come last. The order of the input stays as it is."""
    if np.array_equal(rank, np.arange(len(rank), dtype=rank.dtype)):
        return np.arange(total, dtype=np.int32)
    key = np.full(total, np.iinfo(np.int64).max)
    key[position] = rank
    over_all = np.empty(total, np.int32)
    over_all[np.argsort(key, kind="stable")] = np.arange(total, dtype=np.int32)
    return over_all


def check_preferred(order: Order, column: pa.ChunkedArray | None, names: Sequence[str]) -> None:
    """Raises an error if no input has a preferred name, so that the preference has no effect.

    Sources that documents bring themselves need not be among the preferred ones."""
    if not order.sources or column is None:
        return
    present = set(column.unique().to_pylist())
    if present <= set(names) and present.isdisjoint(order.sources):
        listed = ", ".join(map(repr, dict.fromkeys(names)))
        raise SettingsError(
            f"keep prefers {', '.join(map(repr, order.sources))}, but the inputs are {listed}.",
            hint="name inputs with --source NAME=INPUT (in Python, with a dict).",
        )
