"""Labelled pairs as numbers: what every step of training works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.schema import Array


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
