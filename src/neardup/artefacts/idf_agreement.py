"""How far two idf tables agree: in the order of their terms, and in the signatures they give
(Conrad et al., §5.2 and §6.2).

Both look at tables with the same options only. New terms of a grown collection have no part in the
correlation, which therefore flatters; in signatures they count.
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
LONGEST = 30  # of the paper's signatures
_BLOCK = 1 << 19  # terms that are laid side by side at once
_NONE_A, _NONE_B = -1, -2  # no term at this place: unlike each other, so never a common term


def spearman(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float | None:
    """Formula (2): Pearson's correlation of mid-ranks. None where one list is all ties."""
    u, v = _centred_ranks(a), _centred_ranks(b)
    spread = math.sqrt(float(u @ u)) * math.sqrt(float(v @ v))
    return min(max(float(u @ v) / spread, -1.0), 1.0) if spread else None


def _centred_ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Twice the mid-ranks, less their mean: whole numbers, exact as floats."""
    _, where, ties = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(ties)
    centred = 2 * ends - ties + 1 - (len(values) + 1)
    return centred.astype(np.float64)[where.reshape(-1)]


def check_alike(a: IdfTable, b: IdfTable) -> None:
    if (a.filter, a.text) != (b.filter, b.text):
        raise SignatureError(
            "Tables of unlike terms cannot be compared: "
            f"{a.filter}, {a.text} and {b.filter}, {b.text}.",
            hint="build them with the same --filter and text options.",
        )


def common_terms(a: IdfTable, b: IdfTable) -> tuple[Ranks, Ranks]:
    """The ranks in ``a`` and in ``b`` of the terms that both have."""
    in_a = _ranks_in(a, b.terms)
    there = np.flatnonzero(in_a >= 0)
    return in_a[there], there


def _ranks_in(table: IdfTable, terms: pa.LargeStringArray) -> Ranks:
    """-1 for a term that the table has not."""
    found = pc.index_in(terms, value_set=table.terms)
    return np.asarray(found.fill_null(-1)).astype(np.int64)


class Correlation(NamedTuple):
    common: int
    coefficient: float | None


def rank_correlation(a: IdfTable, b: IdfTable) -> Correlation:
    """Spearman's coefficient of the common terms, ranked by idf: equally rare ones are ties."""
    check_alike(a, b)
    in_a, in_b = common_terms(a, b)
    return Correlation(len(in_a), spearman(a.counts[in_a], b.counts[in_b]))


class Changed(NamedTuple):
    """One row a document that has a term in either table, one column a length 1 … longest."""

    as_set: Flags
    as_list: Flags
    known: Flags  # of all documents: has it a term?


class Signatures:
    """The rarest terms of documents by two tables, side by side.

    A text of fewer than *n* terms has all of them as its signature of length *n*.
    """

    def __init__(self, a: IdfTable, b: IdfTable, longest: int = LONGEST) -> None:
        check_alike(a, b)
        self.a, self.b, self.longest = a, b, longest
        in_a = _ranks_in(a, b.terms)
        # One name a term, whichever table it is from.
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
    """The first terms of each document, a row each."""
    rows = np.full((len(documents), longest), none, np.int64)
    taken = np.arange(longest) < terms.lengths[documents, None]
    rows[taken] = terms.values[(terms.offsets[documents, None] + np.arange(longest))[taken]]
    return rows


def _lists_differ(a: Ranks, b: Ranks) -> Flags:
    unlike = (a != b) & ~((a == _NONE_A) & (b == _NONE_B))
    return np.logical_or.accumulate(unlike, axis=1)


def _sets_differ(a: Ranks, b: Ranks) -> Flags:
    """Sets of the first n are equal where they share as many terms as the larger one has."""
    both = np.concatenate([a, b], axis=1)
    order = np.argsort(both, axis=1, kind="stable")
    terms, places = np.take_along_axis(both, order, axis=1), order % a.shape[1]
    twice = (terms[:, 1:] == terms[:, :-1]) & (terms[:, 1:] >= 0)
    rows, at = np.nonzero(twice)
    shared_from = np.maximum(places[rows, at], places[rows, at + 1])
    entered = np.bincount(rows * a.shape[1] + shared_from, minlength=a.size).reshape(a.shape)
    sizes = [np.cumsum(x >= 0, axis=1) for x in (a, b)]
    return np.asarray(np.cumsum(entered, axis=1) != np.maximum(*sizes))
