"""Every measure between two texts that needs no collection, each by its paper's definition.

Shingles w = 1, 3, 5 (Broder 1997), q-grams ``doc_4`` (Montanari & Puglisi), and the vectors of word
counts (Raveena & Nandini 2014, without idf). Shingles and q-grams are compared by hashes of 64 and
32 bits, everything else is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup import _native
from neardup.features.measures import Overlap, shingle_overlaps
from neardup.features.qgrams import qgram_sets
from neardup.features.vectors import Products
from neardup.schema import Array, Ragged
from neardup.text.options import Text
from neardup.text.words import buffers, word_map

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
        return {"shingles": [_overlap(one) for one in self.shingles], **said}


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


def _overlap(overlap: Overlap) -> dict[str, Any]:
    return {
        **vars(overlap),
        "resemblance": overlap.resemblance,
        "a_in_b": overlap.a_in_b,
        "b_in_a": overlap.b_in_a,
    }
