"""Measures between two texts that need no collection, each as defined by its paper.

``measure`` computes resemblance and containment of shingles of 1, 3 and 5 words (Broder 1997),
``doc_4`` of q-grams (Montanari & Puglisi) and the vector measures of word counts (Raveena & Nandini
2014, without idf). A text of fewer than w words has one shingle, which holds all its words. Texts
without words share nothing, and their similarities are 0. Shingles are compared by 64-bit hashes
and q-grams by 32-bit hashes; everything else is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup import _native
from neardup.features.qgrams import qgram_sets
from neardup.features.vectors import Products
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import buffers, word_hashes


@dataclass(frozen=True)
class Overlap:
    """The sizes of two sets of ``w``-word shingles, A and B, and of their intersection."""

    w: int
    a: int
    b: int
    shared: int

    @property
    def resemblance(self) -> float:
        """r(A, B) = |A∩B| / |A∪B|; 1 − r is a metric."""
        return self.shared / max(self.a + self.b - self.shared, 1)

    @property
    def a_in_b(self) -> float:
        """c(A in B) = |A∩B| / |A|."""
        return self.shared / max(self.a, 1)

    @property
    def b_in_a(self) -> float:
        """c(B in A) = |A∩B| / |B|."""
        return self.shared / max(self.b, 1)


def resemblance(a: str, b: str, *, words: int = 5, text: Text | None = None) -> float:
    """r(A, B) on sets of ``words``-word shingles."""
    return shingle_overlaps(a, b, (words,), text)[0].resemblance


def containment(a: str, b: str, *, words: int = 5, text: Text | None = None) -> float:
    """c(A in B): the share of A's shingles that B contains."""
    return shingle_overlaps(a, b, (words,), text)[0].a_in_b


def estimated_resemblance(a: Sequence[int], b: Sequence[int]) -> float:
    """r(A, B) as two sketches of one length estimate it: the share of positions that agree."""
    sketches = np.array([*a, *b], np.uint32)
    offsets = np.array([0, len(a), len(a) + len(b)], np.int64)
    first, second = np.array([0], np.int64), np.array([1], np.int64)
    return int(_native.equal_places(sketches, offsets, first, second)[0]) / max(len(a), 1)


def shingle_overlaps(
    a: str, b: str, widths: tuple[int, ...], text: Text | None = None
) -> tuple[Overlap, ...]:
    """One overlap per width; the texts are tokenized once."""
    hashes = word_hashes(Ragged(*buffers([a, b])), text or Text())
    return tuple(_overlap(hashes, w) for w in widths)


def _overlap(hashes: Ragged, w: int) -> Overlap:
    a, b = (_native.shingle_set(hashes[i], w) for i in range(2))
    return Overlap(w, len(a), len(b), len(np.intersect1d(a, b, assume_unique=True)))


WIDTHS = (1, 3, 5)
Q = 4


@dataclass(frozen=True)
class Measures:
    """``doc_q`` is |A∩B| / max(|A|, |B|) of the q-grams; ``euclidean`` is a distance."""

    shingles: tuple[Overlap, ...]
    doc_q: float
    cosine: float
    extended_jaccard: float
    dice: float
    euclidean: float

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "shingles": [_overlap_data(overlap) for overlap in self.shingles]}


def measure(a: str, b: str, options: Text | None = None) -> Measures:
    text = options or Text()
    products = _products(a, b, text)
    return Measures(
        shingles=shingle_overlaps(a, b, WIDTHS, text),
        doc_q=_doc_q(a, b, text),
        cosine=float(products.cosine),
        extended_jaccard=float(products.extended_jaccard),
        dice=float(products.dice),
        euclidean=float(products.euclidean),
    )


def _doc_q(a: str, b: str, text: Text) -> float:
    grams = qgram_sets(Ragged(*buffers([a, b])), Q, text).features
    shared = np.intersect1d(grams[0], grams[1], assume_unique=True)
    return len(shared) / max(len(grams[0]), len(grams[1]), 1)


def _products(a: str, b: str, text: Text) -> Products:
    """The products of the two vectors of word counts."""
    hashes = word_hashes(Ragged(*buffers([a, b])), text)
    (word_a, x), (word_b, y) = (_word_counts(hashes[i]) for i in range(2))
    _, in_a, in_b = np.intersect1d(word_a, word_b, assume_unique=True, return_indices=True)
    return Products(float(x[in_a] @ y[in_b]), float(x @ x), float(y @ y))


def _word_counts(hashes: Array) -> tuple[Array, Array]:
    word, count = np.unique(hashes, return_counts=True)
    return word, count.astype(np.float64)


def _overlap_data(overlap: Overlap) -> dict[str, Any]:
    return {
        **vars(overlap),
        "resemblance": overlap.resemblance,
        "a_in_b": overlap.a_in_b,
        "b_in_a": overlap.b_in_a,
    }
