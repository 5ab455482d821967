"""The agreement of two idf tables: in the order of their terms, and in the signatures of documents
(Conrad et al., §5.2 and §6.2).

Only tables with the same options are compared. The correlation ignores new terms of a grown
collection and is therefore too favourable; signatures take them into account.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.idf import IdfTable
from neardup.errors import SignatureError
from neardup.schema import Ragged

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
