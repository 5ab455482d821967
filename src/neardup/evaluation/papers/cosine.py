"""How alike returned pairs are by their words: the cosine of term frequencies (Williams & Giles,
Table 1), whatever the method that returned them."""

from __future__ import annotations

import functools

import numpy as np

from neardup.features.vectors import Products
from neardup.schema import Array, Ragged


class Cosines:
    """``words``: hashes of the words of each document. A vector is made when a pair asks for it."""

    def __init__(self, words: Ragged) -> None:
        self._words = words
        self._vector = functools.lru_cache(maxsize=4096)(self._counted)

    def _counted(self, document: int) -> tuple[Array, Array]:
        words, counts = np.unique(self._words[document], return_counts=True)
        return words, counts.astype(np.float64)

    def of(self, a: int, b: int) -> float:
        (x, n), (y, m) = self._vector(a), self._vector(b)
        _, in_x, in_y = np.intersect1d(x, y, assume_unique=True, return_indices=True)
        return float(Products(n[in_x] @ m[in_y], n @ n, m @ m).cosine)

    def mean(self, a: Array, b: Array) -> float | None:
        if not len(a):
            return None
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return float(np.mean([self.of(i, j) for i, j in pairs]))
