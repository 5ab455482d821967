"""Random hyperplanes: the side on which a vector lies is one bit (Charikar 2002).

Two vectors with the angle θ lie on the same side of a random plane with probability 1 − θ/π. The
normals of the planes are whole numbers, binomial and so close to the normal distribution that the
formula asks for; vectors are taken as whole numbers too. Their products are then exact, whatever
the order in which a machine adds them, and the bits are the same everywhere.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.features.hashing import scrambled

MOST_DIMENSIONS = 4096  # so that 127 · 32 · dimensions stays below 2²⁴: exact as 32-bit floats
LARGEST = 127
_SEED = np.uint64(0x706C616E6573)  # "planes"
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
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
    drawn = scrambled(_SEED + (number[:, None] + place) * _GOLDEN)
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
