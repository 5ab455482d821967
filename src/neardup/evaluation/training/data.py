"""Labelled pairs as numbers: what every step of training works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.decisions.clusters import components
from neardup.schema import Array

MOST_PAIRS = 40_000  # that a model is trained on


@dataclass(frozen=True)
class Data:
    """Pairs of documents ``a`` and ``b`` (numbers), whether they are duplicates (``y``, 0 or 1) and
    their similarity vectors, a row each with all measures."""

    a: Array
    b: Array
    y: Array
    x: Floats

    def __len__(self) -> int:
        return len(self.y)

    def at(self, rows: Array) -> Data:
        return Data(self.a[rows], self.b[rows], self.y[rows], self.x[rows])

    @property
    def documents(self) -> int:
        return len(np.unique(np.concatenate([self.a, self.b])))

    @property
    def positives(self) -> int:
        return int(self.y.sum())

    @property
    def negatives(self) -> int:
        return len(self) - self.positives

    @property
    def both(self) -> bool:
        """Whether there is a pair of either class."""
        return 0 < self.positives < len(self)

    def drawn(self, most: int, seed: int) -> Data:
        """At most so many of the pairs, as they come with this seed."""
        if len(self) <= most:
            return self
        rows = np.random.default_rng([seed, 1]).choice(len(self), most, replace=False)
        return self.at(np.sort(rows))

    def balanced(self, most: int, seed: int) -> Data:
        """At most so many of the pairs, half of them duplicates as far as there are, and of these
        the same of every cluster. At random nearly all could be easy and of no duplicates, or of
        one large cluster."""
        if len(self) <= most:
            return self
        mixed = np.random.default_rng([seed, 8]).permutation(len(self))
        yes, no = (mixed[self.y[mixed] == y] for y in (1, 0))
        duplicates = min(len(yes), max(most // 2, most - len(no)))
        taken = self._in_turn(yes)[:duplicates], no[: most - duplicates]
        return self.at(np.sort(np.concatenate(taken)))

    def _in_turn(self, rows: Array) -> Array:
        """Rows of duplicates: the first of each cluster, the second of each, and so on."""
        if not len(rows):
            return rows
        a, b = self.a[rows], self.b[rows]
        cluster = components(int(max(a.max(), b.max())) + 1, a, b)[a]
        order = np.argsort(cluster, kind="stable")
        starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
        rank = np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))
        return rows[order[np.argsort(rank, kind="stable")]]
