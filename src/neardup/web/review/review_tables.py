"""Decisions and pairs as arrays, made once: what a page shows is then a matter of slices.

Documents are numbered by their rows in the decisions, pairs by theirs, clusters by their number.
−1 stands where there is none: no kind, no cluster, no such document (a reference, or one that left
the index).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.policy import ACTIONS, CONTAINS, KEEP, Policy, choose
from neardup.report.run_view import DUPLICATE, KEPT, REJECTED, coded, decision_codes
from neardup.runs.actions import override
from neardup.schema import KINDS, Array, Ragged, offsets_of

# What becomes of a document: an action of the policy, or what stands where no policy says anything.
BECOMES = (*ACTIONS, "duplicate", "rejected")
ASIDE, REFUSED = BECOMES.index("duplicate"), BECOMES.index("rejected")


@dataclass(frozen=True)
class Tables:
    decisions: pa.Table
    pairs: pa.Table
    actions: pa.Table | None  # as the run wrote them
    policy: Policy | None
    changed: Mapping[str, str]  # by id, actions chosen by hand

    @functools.cached_property
    def ids(self) -> pa.Array:
        """Null for rejected documents: one may bear the id of another."""
        ids = self.decisions["id"].combine_chunks()
        return pc.if_else(pa.array(self.decision == REJECTED), pa.scalar(None, ids.type), ids)

    @functools.cached_property
    def decision(self) -> Array:
        return decision_codes(self.decisions)

    @functools.cached_property
    def aside(self) -> Array:
        return np.equal(self.decision, DUPLICATE)

    @functools.cached_property
    def kept(self) -> Array:
        return np.equal(self.decision, KEPT)

    @functools.cached_property
    def score(self) -> Array:
        return _numbers(self.decisions["score"])

    @functools.cached_property
    def kind(self) -> Array:
        return _kinds(self.decisions["kind"])

    @functools.cached_property
    def cluster(self) -> Array:
        return np.asarray(self.decisions["cluster"].fill_null(-1), np.int64)

    @functools.cached_property
    def kept_row(self) -> Array:
        return self.rows_of(self.decisions["kept_id"].combine_chunks())

    @functools.cached_property
    def source(self) -> tuple[Array, list[str]]:
        """The source of each document, as its number, and the names of the sources."""
        return coded(self.decisions["source"])

    def rows_of(self, ids: pa.Array) -> Array:
        found = pc.index_in(ids, self.ids, skip_nulls=True)
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)

    def row_of(self, id: str) -> int:
        return int(pc.index(self.ids, pa.scalar(id, pa.large_string())).as_py())

    def id_of(self, row: int) -> str | None:
        id: str | None = self.decisions["id"][row].as_py()
        return id

    # What becomes of documents.

    @functools.cached_property
    def _acted(self) -> tuple[Array, Array]:
        ref = np.asarray(pc.fill_null(self.decisions["ref"], False))
        if self.policy is None:
            action = np.where(self.aside, ASIDE, ACTIONS.index(KEEP)).astype(np.int8)
        else:
            action = self._by_policy(self.policy, ref)
        by_hand = override(action, self.changed, self.ids, self.aside, ref)
        action[self.decision == REJECTED] = REFUSED
        return action, by_hand

    def _by_policy(self, policy: Policy, ref: Array) -> Array:
        direction = self.decisions["direction"].combine_chunks().cast(pa.string())
        contains = np.asarray(pc.fill_null(pc.equal(direction, CONTAINS), False))
        kind, sure = self.decisions["kind"].combine_chunks(), _numbers(self.decisions["confidence"])
        chosen = choose(policy, kind, self.score, sure, contains, ref).action
        return np.where(self.aside, chosen, np.int8(ACTIONS.index(KEEP)))

    @property
    def becomes(self) -> Array:
        """Numbers in ``BECOMES``."""
        return self._acted[0]

    @functools.cached_property
    def becomes_counts(self) -> dict[str, int]:
        """Documents by what becomes of them; together that is all of them."""
        counts = np.bincount(self.becomes, minlength=len(BECOMES)).tolist()
        return {name: count for name, count in zip(BECOMES, counts, strict=True) if count}

    @property
    def by_hand(self) -> Array:
        return self._acted[1]

    # Clusters.

    @functools.cached_property
    def members(self) -> Ragged:
        """Rows by cluster: kept ones first, then the weakest link first."""
        inside = np.flatnonzero(self.cluster >= 0)
        order = np.lexsort((self.score[inside], self.aside[inside], self.cluster[inside]))
        counts = np.bincount(self.cluster[inside])
        return Ragged(inside[order], offsets_of(counts))

    @property
    def size(self) -> Array:
        return self.members.lengths

    @functools.cached_property
    def weakest(self) -> Array:
        """The lowest score of a duplicate in each cluster; infinite where there is no duplicate."""
        lowest = np.full(len(self.members), np.inf)
        rows = np.flatnonzero(self.aside & (self.cluster >= 0))
        np.fmin.at(lowest, self.cluster[rows], self.score[rows])
        return lowest

    @functools.cached_property
    def head(self) -> Array:
        """The first kept member of each cluster, or −1 where what is kept is a reference."""
        first = self.members.values[self.members.offsets[:-1]]
        return np.where(self.kept[first], first, -1)

    # Pairs.

    @functools.cached_property
    def pair_rows(self) -> tuple[Array, Array]:
        a, b = (self.rows_of(self.pairs[name].combine_chunks()) for name in "ab")
        return a, b

    @functools.cached_property
    def pair_score(self) -> Array:
        return _numbers(self.pairs["score"])

    @functools.cached_property
    def pair_kind(self) -> Array:
        return _kinds(self.pairs["kind"])

    @functools.cached_property
    def pair_decides(self) -> Array:
        """Whether one of the two was set aside for the other."""
        a, b = self.pair_rows
        known = (a >= 0) & (b >= 0)
        either = known & ((self.kept_row[a] == b) | (self.kept_row[b] == a))
        # What is not among the documents, such as a reference, is known by its name alone.
        named = self.decisions["kept_id"].combine_chunks().take(pa.array(np.maximum(b, 0)))
        same = pc.fill_null(pc.equal(named, self.pairs["a"].combine_chunks()), False)
        return np.asarray(either | ((a < 0) & (b >= 0) & np.asarray(same)))

    @functools.cached_property
    def _pair_keys(self) -> tuple[Array, Array]:
        keys = self._key(*self.pair_rows)
        order = np.argsort(keys, kind="stable")
        return keys[order], order

    def _key(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b) * (len(self.decisions) + 1) + np.maximum(a, b)

    def pairs_of(self, a: Array, b: Array) -> Array:
        """Where the pairs of these rows stand; −1 for those that are none."""
        keys, order = self._pair_keys
        if not len(keys):
            return np.full(len(a), -1, np.int64)
        wanted = self._key(a, b)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = (keys[place] == wanted) & (a >= 0) & (b >= 0)
        return np.where(found, order[place], -1)

    def pairs_within(self, rows: Array) -> Array:
        """All pairs between some documents."""
        inside = np.zeros(len(self.decisions) + 1, np.bool_)  # the last is for −1
        inside[rows] = True
        a, b = self.pair_rows
        return np.flatnonzero(inside[a] & inside[b])

    def prepare(self) -> Tables:
        """Makes now what every page needs, so that none has to wait for it."""
        for name in PREPARED:
            getattr(self, name)
        return self


def document(tables: Tables, row: int) -> dict[str, Any]:
    """One row of the decisions as data, with what becomes of it."""
    said: dict[str, Any] = tables.decisions.slice(row, 1).to_pylist()[0]
    return {
        **{name: said[name] for name in SHOWN},
        "becomes": BECOMES[tables.becomes[row]],
        "by_hand": bool(tables.by_hand[row]),
    }


PREPARED = (
    *("_acted", "becomes_counts", "kind", "weakest", "head"),
    *("pair_kind", "pair_decides", "_pair_keys"),
)
SHOWN = (
    *("id", "file", "row", "source", "decision", "reason", "kept_id"),
    *("score", "kind", "direction", "confidence", "cluster", "ref"),
)


def _numbers(column: pa.ChunkedArray) -> Array:
    values: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return values


def _kinds(column: pa.ChunkedArray) -> Array:
    plain = column.combine_chunks().cast(pa.string())
    found = pc.index_in(plain, pa.array(KINDS, pa.string()), skip_nulls=True)
    return np.asarray(pc.fill_null(found, -1)).astype(np.int8)
