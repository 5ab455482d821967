"""The one rule: taken in order, a document is set aside iff it matches one kept before it.

``kept_of`` is, among the kept documents earlier in the order that match, the one with the best
score, then the earliest. Everything here works on ranks (place in the order), not on documents.
Pairs of small groups are verified beforehand; members of hot groups are walked in growing blocks
and compared with kept members only, so a hot group costs its size times its kept members.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.matching.candidates import Groups
from neardup.matching.verify import Pairs
from neardup.schema import Array

FIRST_BLOCK, LAST_BLOCK = 64, 8192


@dataclass(frozen=True)
class Verdict:
    """By rank. ``kept_of`` is −1 for kept ones; ``pairs`` are all verified pairs that were seen."""

    kept: npt.NDArray[np.bool_]
    kept_of: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]
    pairs: Pairs


def decide(
    count: int,
    pairs: Pairs,
    hot: Groups,
    verify: Callable[[Array, Array], Pairs],
    followed: Array | None = None,
) -> Verdict:
    """``pairs`` and ``hot`` in ranks; ``verify`` scores pairs of ranks.

    ``followed`` marks ranks with copies further on: where such a one is set aside, its copies may
    match what is kept after it (``decisions/copies.py``), so those pairs are verified too.
    """
    kept = np.ones(count, np.uint8)
    if len(hot):
        pairs = _walk(kept, pairs, hot, verify)
        if followed is not None and followed.any():
            late = verify(*_late_pairs(hot, kept.view(np.bool_), followed))
            pairs = Pairs.concat([pairs, late]).distinct()
    else:
        later, earlier = _directed(pairs)
        by_later = np.argsort(later, kind="stable")
        _native.greedy(later[by_later], earlier[by_later], kept)
    kept_of, score = _best(kept.view(np.bool_), pairs)
    return Verdict(kept.view(np.bool_), kept_of, score, pairs)


def _late_pairs(hot: Groups, kept: Array, followed: Array) -> tuple[Array, Array]:
    """Members that were set aside and have copies, with kept members that come after them."""
    aside = followed & ~kept
    later, earlier = [], []
    for g in range(len(hot)):
        part = slice(hot.members.offsets[g], hot.members.offsets[g + 1])
        rank, looks = hot.members.values[part], hot.probes[part].astype(bool)
        one, other = np.flatnonzero(kept[rank]), np.flatnonzero(aside[rank])
        may = looks[one][:, None] | looks[other][None, :]
        i, j = np.nonzero(may & (rank[one][:, None] > rank[other][None, :]))
        later.append(rank[one[i]])
        earlier.append(rank[other[j]])
    return _unique_pairs(later, earlier)


def _directed(pairs: Pairs) -> tuple[Array, Array]:
    return np.maximum(pairs.a, pairs.b), np.minimum(pairs.a, pairs.b)


def _best(kept: Array, pairs: Pairs) -> tuple[Array, Array]:
    later, earlier = _directed(pairs)
    usable = kept[earlier] & ~kept[later]
    later, earlier, score = later[usable], earlier[usable], pairs.score[usable]
    order = np.lexsort((earlier, -score, later))
    first = order[np.flatnonzero(np.diff(later[order], prepend=-1))]
    kept_of = np.full(len(kept), -1, np.int64)
    best = np.zeros(len(kept))
    kept_of[later[first]] = earlier[first]
    best[later[first]] = score[first]
    return kept_of, best


class _HotGroups:
    """Which hot groups a rank is in, and which members of each group were kept so far."""

    def __init__(self, hot: Groups) -> None:
        group = np.repeat(np.arange(len(hot)), hot.members.lengths)
        order = np.lexsort((group, hot.members.values))
        self.rank = hot.members.values[order]
        self.group = group[order]
        self.looks = hot.probes[order].astype(bool)
        self.kept_rank: list[Array] = [np.empty(0, np.int64)] * len(hot)
        self.kept_looks: list[Array] = [np.empty(0, bool)] * len(hot)

    def entries(self, ranks: Array) -> slice:
        """The memberships of a run of consecutive hot ranks."""
        lo = int(np.searchsorted(self.rank, ranks[0], side="left"))
        hi = int(np.searchsorted(self.rank, ranks[-1], side="right"))
        return slice(lo, hi)

    def with_kept(self, part: slice) -> tuple[Array, Array]:
        """Pairs of the members in ``part`` with the kept members of their groups."""
        later, earlier = [], []
        for rank, looks, group in _by_group(self, part):
            kept, kept_looks = self.kept_rank[group], self.kept_looks[group]
            may = looks[:, None] | kept_looks[None, :]
            i, j = np.nonzero(may)
            later.append(rank[i])
            earlier.append(kept[j])
        return _unique_pairs(later, earlier)

    def among(self, part: slice, chosen: Array, against: Array) -> tuple[Array, Array]:
        """Pairs inside ``part``: a member in ``chosen`` with an earlier one in ``against``."""
        later, earlier = [], []
        for rank, looks, _ in _by_group(self, part):
            mine, theirs = np.flatnonzero(chosen[rank]), np.flatnonzero(against[rank])
            may = looks[mine][:, None] | looks[theirs][None, :]
            may &= rank[mine][:, None] > rank[theirs][None, :]
            i, j = np.nonzero(may)
            later.append(rank[mine[i]])
            earlier.append(rank[theirs[j]])
        return _unique_pairs(later, earlier)

    def remember(self, part: slice, kept: Array) -> None:
        for rank, looks, group in _by_group(self, part):
            new = kept[rank].astype(bool)
            self.kept_rank[group] = np.concatenate([self.kept_rank[group], rank[new]])
            self.kept_looks[group] = np.concatenate([self.kept_looks[group], looks[new]])


def _by_group(hot: _HotGroups, part: slice) -> list[tuple[Array, Array, int]]:
    order = np.argsort(hot.group[part], kind="stable")
    group = hot.group[part][order]
    rank, looks = hot.rank[part][order], hot.looks[part][order]
    edges = np.flatnonzero(np.diff(group, prepend=-1, append=-1))
    return [(rank[i:j], looks[i:j], int(group[i])) for i, j in pairwise(edges)]


def _unique_pairs(later: list[Array], earlier: list[Array]) -> tuple[Array, Array]:
    if not later:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    pairs = np.unique(np.stack([np.concatenate(later), np.concatenate(earlier)]), axis=1)
    return np.ascontiguousarray(pairs[0]), np.ascontiguousarray(pairs[1])


def _walk(kept: Array, cold: Pairs, hot: Groups, verify: Callable[[Array, Array], Pairs]) -> Pairs:
    """Decides all ranks; returns cold pairs and those verified on the way."""
    groups = _HotGroups(hot)
    ranks = np.unique(groups.rank)
    seen = [cold]
    later, earlier = _directed(cold)
    by_later = np.argsort(later, kind="stable")
    later, earlier = later[by_later], earlier[by_later]
    marked = np.zeros(len(kept), bool)
    done_edges, start, size = 0, 0, FIRST_BLOCK
    while start < len(ranks):
        block = ranks[start : start + size]
        part = groups.entries(block)
        matched = verify(*groups.with_kept(part))
        marked[block] = True
        marked[matched.a] = False  # verify keeps the order (later, earlier)
        inner = verify(*groups.among(part, marked, marked))
        end = int(np.searchsorted(later, block[-1], side="right"))
        edges_later = np.concatenate([later[done_edges:end], matched.a, inner.a])
        edges_earlier = np.concatenate([earlier[done_edges:end], matched.b, inner.b])
        order = np.argsort(edges_later, kind="stable")
        _native.greedy(edges_later[order], edges_earlier[order], kept)
        # A member that had matched before may match one kept in this very block still better.
        fresh = np.zeros(len(kept), bool)
        fresh[block] = kept[block].astype(bool)
        settled = ~marked
        seen += [matched, inner, verify(*groups.among(part, settled, fresh))]
        groups.remember(part, kept)
        marked[block] = False
        done_edges, start, size = end, start + len(block), min(size * 2, LAST_BLOCK)
    _native.greedy(later[done_edges:], earlier[done_edges:], kept)
    return Pairs.concat(seen).distinct()
