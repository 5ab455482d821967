"""How much two feature sets have in common, exactly and with the letters of the papers.

``S(A, w)`` is the set of w-word shingles of A (Broder 1997); a text of fewer than w words has one
shingle, all its words. Texts without words share nothing: both measures are 0.

Every measure between two texts that needs no collection, each by its paper's definition.

Shingles w = 1, 3, 5 (Broder 1997), q-grams ``doc_4`` (Montanari & Puglisi), and the vectors of word
counts (Raveena & Nandini 2014, without idf). Shingles and q-grams are compared by hashes of 64 and
32 bits, everything else is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup import _native
from neardup.features.qgrams import qgram_sets
from neardup.features.vectors import Products
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import buffers, word_map


@dataclass(frozen=True)
class Overlap:
    """Sizes of two sets ``A`` and ``B`` and of what they share; ``w`` words make a feature."""

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
    """c(A in B): the share of A's shingles that are found in B."""
    return shingle_overlaps(a, b, (words,), text)[0].a_in_b


def shingle_overlaps(
    a: str, b: str, widths: tuple[int, ...], text: Text | None = None
) -> tuple[Overlap, ...]:
    """The words are cut once for all widths."""
    options = text or Text()
    values, offsets = buffers([a, b])
    words = word_map(values, offsets, options)
    hashes, ends = _native.word_hashes(values, offsets, options.native(), words)
    both = hashes[: ends[1]], hashes[ends[1] :]
    return tuple(_overlap(w, *(_native.shingle_set(one, w) for one in both)) for w in widths)


def _overlap(w: int, a: Array, b: Array) -> Overlap:
    shared = np.intersect1d(a, b, assume_unique=True)
    return Overlap(w, len(a), len(b), len(shared))


WIDTHS = (1, 3, 5)
Q = 4


@dataclass(frozen=True)
class Measures:
    """``doc_q``: |A∩B| / max(|A|, |B|) of the q-grams. ``euclidean`` is a distance."""

    shingles: tuple[Overlap, ...]
    doc_q: float
    cosine: float
    extended_jaccard: float
    dice: float
    euclidean: float

    def to_dict(self) -> dict[str, Any]:
        said = {name: value for name, value in vars(self).items() if name != "shingles"}
        return {"shingles": [_overlap_data(one) for one in self.shingles], **said}


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
    found = qgram_sets(Ragged(*buffers([a, b])), Q, text).features
    shared = np.intersect1d(found[0], found[1], assume_unique=True)
    return len(shared) / max(len(found[0]), len(found[1]), 1)


def _products(a: str, b: str, text: Text) -> Products:
    """Of the vectors that count each word."""
    values, offsets = buffers([a, b])
    hashes, ends = _native.word_hashes(
        values, offsets, text.native(), word_map(values, offsets, text)
    )
    (word_a, x), (word_b, y) = (_counted(part) for part in (hashes[: ends[1]], hashes[ends[1] :]))
    _, at, there = np.intersect1d(word_a, word_b, assume_unique=True, return_indices=True)
    return Products(float(x[at] @ y[there]), float(x @ x), float(y @ y))


def _counted(hashes: Array) -> tuple[Array, Array]:
    word, count = np.unique(hashes, return_counts=True)
    return word, count.astype(np.float64)


def _overlap_data(overlap: Overlap) -> dict[str, Any]:
    return {
        **vars(overlap),
        "resemblance": overlap.resemblance,
        "a_in_b": overlap.a_in_b,
        "b_in_a": overlap.b_in_a,
    }
