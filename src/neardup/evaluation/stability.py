"""Compares two idf tables: how well the order of their terms agrees, and how many signatures of
documents change if one table replaces the other (Conrad et al., §5.2 and §6.2).

Only tables with the same options are compared. The correlation ignores new terms of a grown
collection and is therefore too favourable; signatures take them into account.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.idf import IdfTable
from neardup.decisions.order import plain
from neardup.documents.collection import collect
from neardup.documents.columns import Columns
from neardup.engines.batch.table_pass import Pass, Seen, count
from neardup.errors import SignatureError
from neardup.progress import Progress, Silent
from neardup.schema import Ragged
from neardup.settings import check_positive, worker_count

Ranks = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
LONGEST = 30  # terms of the paper's longest signature
_BLOCK = 1 << 19  # terms that are compared at once
_NONE_A, _NONE_B = -1, -2  # no term at this place; different, so never a common term


def spearman(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float | None:
    """Formula (2): Pearson's correlation of mid-ranks. None if all values of a list are equal."""
    u, v = _centred_ranks(a), _centred_ranks(b)
    spread = math.sqrt(float(u @ u)) * math.sqrt(float(v @ v))
    return min(max(float(u @ v) / spread, -1.0), 1.0) if spread else None


def _centred_ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Twice the mid-ranks, minus their mean: integers, exact as floats."""
    _, where, ties = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(ties)
    centred = 2 * ends - ties + 1 - (len(values) + 1)
    return centred.astype(np.float64)[where.reshape(-1)]


def check_alike(a: IdfTable, b: IdfTable) -> None:
    if (a.filter, a.text) != (b.filter, b.text):
        raise SignatureError(
            "Tables of different terms cannot be compared: "
            f"{a.filter}, {a.text} and {b.filter}, {b.text}.",
            hint="build them with the same --filter and text options.",
        )


def common_terms(a: IdfTable, b: IdfTable) -> tuple[Ranks, Ranks]:
    """The ranks in ``a`` and in ``b`` of the terms that both have."""
    in_a = _ranks_in(a, b.terms)
    in_b = np.flatnonzero(in_a >= 0)
    return in_a[in_b], in_b


def _ranks_in(table: IdfTable, terms: pa.LargeStringArray) -> Ranks:
    """The rank of each term; −1 for a term that is not in the table."""
    ranks = pc.index_in(terms, value_set=table.terms)
    return np.asarray(ranks.fill_null(-1)).astype(np.int64)


class Correlation(NamedTuple):
    common: int
    coefficient: float | None


def rank_correlation(a: IdfTable, b: IdfTable) -> Correlation:
    """Spearman's coefficient of the common terms, ranked by idf; equally rare terms are ties."""
    check_alike(a, b)
    in_a, in_b = common_terms(a, b)
    return Correlation(len(in_a), spearman(a.counts[in_a], b.counts[in_b]))


class Changed(NamedTuple):
    """One row per document with a term in either table, one column per length 1 … longest."""

    as_set: Flags
    as_list: Flags
    known: Flags  # for all documents: whether a table has one of its terms


class Signatures:
    """Compares the rarest terms of documents under two tables.

    A text of fewer than *n* terms has all of them as its signature of length *n*.
    """

    def __init__(self, a: IdfTable, b: IdfTable, longest: int = LONGEST) -> None:
        check_alike(a, b)
        self.a, self.b, self.longest = a, b, longest
        in_a = _ranks_in(a, b.terms)
        # The same number for a term of both tables.
        self._names = np.where(in_a >= 0, in_a, len(a) + np.arange(len(b)))

    def changed(self, texts: pa.LargeStringArray) -> Changed:
        by_a, by_b = self.a.terms_of(texts).ranks, self.b.terms_of(texts).ranks
        named = Ragged(self._names[by_b.values], by_b.offsets)
        known = (by_a.lengths > 0) | (by_b.lengths > 0)
        chosen = np.flatnonzero(known)
        as_set = np.empty((len(chosen), self.longest), np.bool_)
        as_list = np.empty_like(as_set)
        step = max(_BLOCK // self.longest, 1)
        for begin in range(0, len(chosen), step):
            rows = chosen[begin : begin + step]
            a = _first(by_a, rows, self.longest, _NONE_A)
            b = _first(named, rows, self.longest, _NONE_B)
            as_set[begin : begin + step] = _sets_differ(a, b)
            as_list[begin : begin + step] = _lists_differ(a, b)
        return Changed(as_set, as_list, known)


def _first(terms: Ragged, documents: Ranks, longest: int, none: int) -> Ranks:
    """The first terms of documents, one row per document."""
    rows = np.full((len(documents), longest), none, np.int64)
    present = np.arange(longest) < terms.lengths[documents, None]
    rows[present] = terms.values[(terms.offsets[documents, None] + np.arange(longest))[present]]
    return rows


def _lists_differ(a: Ranks, b: Ranks) -> Flags:
    differ = (a != b) & ~((a == _NONE_A) & (b == _NONE_B))
    return np.logical_or.accumulate(differ, axis=1)


def _sets_differ(a: Ranks, b: Ranks) -> Flags:
    """The sets of the first n terms are equal if they share as many terms as the larger one has."""
    both = np.concatenate([a, b], axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    terms, places = np.take_along_axis(both, order, axis=1), order % a.shape[1]
    twice = (terms[:, 1:] == terms[:, :-1]) & (terms[:, 1:] >= 0)
    rows, at = np.nonzero(twice)
    shared_from = np.maximum(places[rows, at], places[rows, at + 1])
    entered = np.bincount(rows * a.shape[1] + shared_from, minlength=a.size).reshape(a.shape)
    sizes = [np.cumsum(x >= 0, axis=1) for x in (a, b)]
    return np.asarray(np.cumsum(entered, axis=1) != np.maximum(*sizes))


Counts = npt.NDArray[np.int64]


@dataclass
class Changes:
    """The number of ``documents`` whose signature changes; entry *n* − 1 is for *n* terms."""

    documents: int
    as_set: Counts
    as_list: Counts

    def add(self, other: Changes) -> None:
        self.documents += other.documents
        self.as_set += other.as_set
        self.as_list += other.as_list

    def shares(self) -> list[dict[str, float | int]]:
        """A row for each length of signature."""
        total = max(self.documents, 1)
        pairs = zip(self.as_set.tolist(), self.as_list.tolist(), strict=True)
        return [
            {"n": n, "as_set": s / total, "as_list": ranked / total}
            for n, (s, ranked) in enumerate(pairs, 1)
        ]


@dataclass
class Stability:
    """``unknown`` counts documents without a term in either table; they are in no other count."""

    total: Changes
    groups: dict[str, Changes] = field(default_factory=dict)
    unknown: int = 0
    seen: Seen = field(default_factory=Seen)

    def data(self) -> dict[str, Any]:
        groups = {
            name: {"documents": changes.documents, "changed": changes.shares()}
            for name, changes in self.groups.items()
        }
        return {
            "documents": self.total.documents,
            "without_terms": self.unknown,
            "rejected": self.seen.rejected,
            "changed": self.total.shares(),
            **({"within": groups} if groups else {}),
        }


class _Tally:
    def __init__(self, signatures: Signatures, within: str | None) -> None:
        self._signatures, self._within = signatures, within
        self.result = Stability(self._nothing())

    def _nothing(self) -> Changes:
        length = self._signatures.longest
        return Changes(0, np.zeros(length, np.int64), np.zeros(length, np.int64))

    def count(self, batch: pa.RecordBatch) -> Stability:
        changed = self._signatures.changed(batch.column("text"))
        part = Stability(_summed(changed.as_set, changed.as_list))
        part.unknown = int((~changed.known).sum())
        if self._within:
            column = batch.column(self._within).filter(pa.array(changed.known))
            for name, rows in _groups(column, self._within):
                part.groups[name] = _summed(changed.as_set[rows], changed.as_list[rows])
        return part

    def add(self, part: Stability) -> None:
        self.result.total.add(part.total)
        self.result.unknown += part.unknown
        for name, changes in part.groups.items():
            self.result.groups.setdefault(name, self._nothing()).add(changes)


def _summed(as_set: npt.NDArray[np.bool_], as_list: npt.NDArray[np.bool_]) -> Changes:
    return Changes(len(as_set), as_set.sum(axis=0), as_list.sum(axis=0))


def _groups(column: pa.Array, name: str) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    encoded = pc.dictionary_encode(plain(column, name), null_encoding="encode")
    codes = np.asarray(encoded.indices)
    for code, value in enumerate(encoded.dictionary.to_pylist()):
        yield "(none)" if value is None else str(value), codes == code


def stability(
    a: IdfTable,
    b: IdfTable,
    documents: Any,
    *,
    longest: int = LONGEST,
    column: str = "text",
    within: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Stability:
    """Changes of signatures of 1 to ``longest`` terms, also for each value of ``within``."""
    for name, value in (("longest", longest), ("limit", limit)):
        check_positive(name, value)
    columns = Columns(text=column, extra=(within,) if within else ())
    collection, reporter = collect(documents), progress or Silent()
    reporter.stage("signing", limit, unit="documents", total_bytes=collection.plain_size())
    tally = _Tally(Signatures(a, b, longest), within)
    seen = count(collection, [tally], Pass(columns, worker_count(workers), limit), reporter)
    tally.result.seen = seen
    tally.result.groups = dict(sorted(tally.result.groups.items()))
    return tally.result
