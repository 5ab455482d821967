"""How alike two vectors are, with the letters of Raveena & Nandini (2014, eq. 2–5).

All measures follow from the three products ``xy``, ``xx`` and ``yy``, which may be numbers or
arrays. On sets, as vectors of 0 and 1, the extended Jaccard is the Jaccard ``J`` and Dice is
``2J / (1 + J)``. Vectors without any weight share nothing: similarities are 0.

A text as a vector of its words, without any model: feature hashing (Weinberger et al. 2009).

Each word adds the root of its count, with a sign, at a few of the places that its hash names; inner
products of such vectors are those of the word counts but for a small random part (Kane & Nelson
2014). It is lexical: texts are near that use the same words, whatever they mean, in whatever order.

Random hyperplanes: the side on which a vector lies is one bit (Charikar 2002).

Two vectors with the angle θ lie on the same side of a random plane with probability 1 − θ/π. The
normals of the planes are whole numbers, binomial and so close to the normal distribution that the
formula asks for; vectors are taken as whole numbers too. Their products are then exact, whatever
the order in which a machine adds them, and the bits are the same everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Ragged
from neardup.text.text_options import Text

MEASURES = ("cosine", "euclidean", "extended_jaccard", "dice")


@dataclass(frozen=True)
class Products:
    """``xy = x·y``, ``xx = x·x``, ``yy = y·y``, in 64-bit floats."""

    xy: Any
    xx: Any
    yy: Any

    @classmethod
    def of_vectors(cls, x: Sequence[float], y: Sequence[float]) -> Products:
        one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
        return cls(float(one @ other), float(one @ one), float(other @ other))

    @classmethod
    def of_sets(cls, x: Collection[Any], y: Collection[Any]) -> Products:
        one, other = set(x), set(y)
        return cls(float(len(one & other)), float(len(one)), float(len(other)))

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
    """1 − d/√2, where d is the distance of the vectors brought to length 1: 1 if they point the
    same way, 0 if they share nothing."""
    return 1 - np.sqrt(np.maximum(1 - cosine, 0))


def _ratio(part: Any, whole: Any) -> Any:
    return np.minimum(part / np.where(whole > 0, whole, 1), 1.0)


DIMENSIONS = 512
_PLACES = 4  # of a word
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finish of SplitMix64 (Steele, Lea & Flood 2014)."""
    x = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


class Hashing:
    """The encoder that needs no model; the same bits on every machine, in batches of any size."""

    length: ClassVar[int] = 0  # reads a text of any length as a whole
    threads: ClassVar[bool] = True

    def encode(self, texts: list[str]) -> npt.NDArray[np.float64]:
        """One vector a text; zeros for a text without words."""
        given = Ragged.of_texts(texts)
        words = Ragged(*_native.word_hashes(given.values, given.offsets, Text().native(), None))
        rows, hashes, counts = _counted(words)
        made = np.zeros(len(words) * DIMENSIONS)
        for number in range(1, _PLACES + 1):
            drawn = scrambled(hashes + np.uint64(number * _GOLDEN & _MASK))
            place = (drawn >> np.uint64(1)) % np.uint64(DIMENSIONS)
            signed = np.where(drawn & np.uint64(1), 1.0, -1.0) * np.sqrt(counts)
            made += np.bincount(
                rows * DIMENSIONS + place.astype(np.int64), signed, len(words) * DIMENSIONS
            )
        return made.reshape(len(words), DIMENSIONS)


def _counted(
    words: Ragged,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Each distinct word of each text once: the number of the text, its hash, its count."""
    hashes = words.values.copy()
    for begin, end in pairwise(words.offsets.tolist()):
        hashes[begin:end].sort()
    rows = np.repeat(np.arange(len(words)), words.lengths)
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    starts = np.flatnonzero(new)
    return rows[starts], hashes[starts], np.diff(starts, append=len(rows))


MOST_DIMENSIONS = 4096  # so that 127 · 32 · dimensions stays below 2²⁴: exact as 32-bit floats
LARGEST = 127
_SEED = np.uint64(0x706C616E6573)  # "planes"
_GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
_ROWS = 1024  # vectors that are multiplied at once
_FEW = 4  # for which the threads of a BLAS cost more than they do


def quantised(vectors: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.int8]:
    """Each vector scaled so that its largest entry is ±127; angles change by rounding only. Entries
    are off by at most 1/2, so the angle by at most √d / (2|q|) for d entries."""
    largest = np.abs(vectors).max(axis=1, initial=0, keepdims=True)
    scaled = vectors * (LARGEST / np.where(largest > 0, largest, 1))
    return np.rint(scaled).astype(np.int8)


@functools.lru_cache(maxsize=8)
def planes(count: int, dimensions: int) -> npt.NDArray[np.float32]:
    """One row a plane. More planes or dimensions add rows or columns and change none."""
    number = np.arange(count, dtype=np.uint64) * np.uint64(MOST_DIMENSIONS)
    place = np.arange(1, dimensions + 1, dtype=np.uint64)
    drawn = scrambled(_SEED + (number[:, None] + place) * _GOLDEN_RATIO)
    return (_ones(drawn).astype(np.int8) - 32).astype(np.float32)


def sides(vectors: npt.NDArray[np.int8], count: int) -> npt.NDArray[np.bool_]:
    """One row a vector, one column a plane; on the plane itself is False."""
    made = np.empty((len(vectors), count), np.bool_)
    normals = planes(count, vectors.shape[1])
    for begin in range(0, len(vectors), _ROWS):
        part = vectors[begin : begin + _ROWS].astype(np.float32)
        np.greater(_products(part, normals), 0, out=made[begin : begin + _ROWS])
    return made


def _products(
    vectors: npt.NDArray[np.float32], normals: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    if len(vectors) < _FEW:
        return np.asarray(np.einsum("ij,kj->ik", vectors, normals))
    return vectors @ normals.T


def _ones(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """How many bits are 1, 0 to 64 (numpy has it from 2.0 on)."""
    one, two, four, bytes_ = (
        np.uint64(mask)
        for mask in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
    )
    x = numbers - (numbers >> np.uint64(1) & one)
    x = (x & two) + (x >> np.uint64(2) & two)
    x = x + (x >> np.uint64(4)) & four
    return np.asarray(x * bytes_ >> np.uint64(56))
