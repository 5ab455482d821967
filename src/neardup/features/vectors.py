"""Vectors: measures between two of them, text vectors without a model, and random hyperplanes.

``Products`` computes the measures of Raveena & Nandini (2014, eq. 2–5) from xy, xx and yy, which
may be numbers or arrays. Similarities of vectors without any weight are 0.

``Hashing`` turns a text into a vector by feature hashing (Weinberger et al. 2009; Kane & Nelson
2014). Inner products of such vectors are those of the word counts plus a small random error. The
vectors are lexical: texts with the same words are near, regardless of word order and meaning.

``sides`` returns the side of each random hyperplane on which a vector lies (Charikar 2002). Two
vectors at the angle θ are on the same side with probability 1 − θ/π. Vectors and normals are
integers (the normals binomial, close to a normal distribution), so the products are exact in any
order of addition and the bits are the same on every machine.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neardup.classes import dataclass
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

MEASURES = ("cosine", "euclidean", "extended_jaccard", "dice")


@dataclass(frozen=True)
class Products:
    """``xy = x·y``, ``xx = x·x``, ``yy = y·y``, in 64-bit floats."""

    xy: Any
    xx: Any
    yy: Any

    @classmethod
    def of_vectors(cls, x: Sequence[float], y: Sequence[float]) -> Products:
        left, right = np.asarray(x, np.float64), np.asarray(y, np.float64)
        return cls(float(left @ right), float(left @ left), float(right @ right))

    @classmethod
    def of_sets(cls, x: Collection[Any], y: Collection[Any]) -> Products:
        """Sets as vectors of 0 and 1: EJ is then the Jaccard J, and Dice is 2J / (1 + J)."""
        left, right = set(x), set(y)
        return cls(float(len(left & right)), float(len(left)), float(len(right)))

    @property
    def cosine(self) -> Any:
        """C = xy / (|x| |y|)."""
        return _ratio(self.xy, np.sqrt(self.xx) * np.sqrt(self.yy))

    @property
    def euclidean(self) -> Any:
        """Ec = √((x − y)·(x − y)): a distance, 0 for equal vectors."""
        return np.sqrt(np.maximum(self.xx + self.yy - 2 * self.xy, 0))

    @property
    def extended_jaccard(self) -> Any:
        """EJ = xy / (xx + yy − xy)."""
        return _ratio(self.xy, self.xx + self.yy - self.xy)

    @property
    def dice(self) -> Any:
        """D = 2xy / (xx + yy)."""
        return _ratio(2 * self.xy, self.xx + self.yy)


def euclidean_score(cosine: Any) -> Any:
    """1 − d/√2, where d is the distance of the unit vectors: 1 if the vectors have the same
    direction, 0 if they share nothing."""
    return 1 - np.sqrt(np.maximum(1 - cosine, 0))


def _ratio(part: Any, whole: Any) -> Any:
    return np.minimum(part / np.where(whole > 0, whole, 1), 1.0)


DIMENSIONS = 512
_PLACES = 4  # entries of the vector to which a word adds
_GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)


def scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The output function of SplitMix64 (Steele, Lea & Flood 2014)."""
    x = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


class Hashing:
    """The encoder that needs no model; the bits do not depend on the machine or the batch size."""

    length: ClassVar[int] = 0  # reads a text of any length as a whole
    threads: ClassVar[bool] = True

    def encode(self, texts: list[str]) -> npt.NDArray[np.float64]:
        """One vector per text. Each word adds the signed root of its count at the places that its
        hash selects; a text without words becomes zeros."""
        words = word_hashes(Ragged.of_texts(texts), Text())
        rows, hashes, counts = _word_counts(words)
        vectors = np.zeros(len(words) * DIMENSIONS)
        for step in np.arange(1, _PLACES + 1, dtype=np.uint64) * _GOLDEN_RATIO:
            drawn = scrambled(hashes + step)
            place = (drawn >> np.uint64(1)) % np.uint64(DIMENSIONS)
            signed = np.where(drawn & np.uint64(1), 1.0, -1.0) * np.sqrt(counts)
            vectors += np.bincount(
                rows * DIMENSIONS + place.astype(np.int64), signed, len(words) * DIMENSIONS
            )
        return vectors.reshape(len(words), DIMENSIONS)


def _word_counts(
    words: Ragged,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """The distinct words of each text as columns: text number, word hash, count."""
    hashes = words.values.copy()
    for begin, end in pairwise(words.offsets.tolist()):
        hashes[begin:end].sort()
    rows = np.repeat(np.arange(len(words)), words.lengths)
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    starts = np.flatnonzero(new)
    return rows[starts], hashes[starts], np.diff(starts, append=len(rows))


MOST_DIMENSIONS = 4096  # 127 · 32 · dimensions stays below 2²⁴, which is exact in 32-bit floats
LARGEST = 127
_SEED = np.uint64(0x706C616E6573)  # "planes"
_ROWS = 1024  # vectors that are multiplied at once
_FEW = 4  # below this number of vectors, starting the threads of a BLAS costs more than it saves


def quantised(vectors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int8]:
    """Each vector scaled so that its largest entry is ±127, and rounded. The error of an entry is
    at most 1/2, so that of the angle is at most √d / (2|q|) for d entries."""
    largest = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    scaled = vectors * (LARGEST / np.where(largest > 0, largest, 1))
    return np.rint(scaled).astype(np.int8)


@functools.lru_cache(maxsize=8)
def planes(count: int, dimensions: int) -> npt.NDArray[np.float32]:
    """The normals, one row per plane. More planes or dimensions only add rows or columns."""
    number = np.arange(count, dtype=np.uint64) * np.uint64(MOST_DIMENSIONS)
    place = np.arange(1, dimensions + 1, dtype=np.uint64)
    drawn = scrambled(_SEED + (number[:, None] + place) * _GOLDEN_RATIO)
    return (_ones(drawn).astype(np.int8) - 32).astype(np.float32)


def sides(vectors: npt.NDArray[np.int8], count: int) -> npt.NDArray[np.bool_]:
    """One row per vector, one column per plane; False for a vector on the plane itself."""
    positive = np.empty((len(vectors), count), np.bool_)
    normals = planes(count, vectors.shape[1])
    for begin in range(0, len(vectors), _ROWS):
        part = vectors[begin : begin + _ROWS].astype(np.float32)
        np.greater(_products(part, normals), 0, out=positive[begin : begin + _ROWS])
    return positive


def _products(
    vectors: npt.NDArray[np.float32], normals: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    if len(vectors) < _FEW:
        return np.asarray(np.einsum("ij,kj->ik", vectors, normals))
    return vectors @ normals.T


def _ones(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The number of one bits, 0 to 64 (``np.bitwise_count`` needs numpy 2.0)."""
    one, two, four, bytes_ = (
        np.uint64(mask)
        for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
    )
    x = numbers - (numbers >> np.uint64(1) & one)
    x = (x & two) + (x >> np.uint64(2) & two)
    x = x + (x >> np.uint64(4)) & four
    return np.asarray(x * bytes_ >> np.uint64(56))
