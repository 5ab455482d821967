"""Vectors, planes and cosines, the slow and obvious way: one number after the other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def scrambled(x: int) -> int:
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def hashed(words: Sequence[int], dimensions: int) -> list[float]:
    """``words`` are hashes, a word as often as it occurs."""
    vector = [0.0] * dimensions
    for word, count in Counter(words).items():
        for number in range(1, 5):
            drawn = scrambled((word + number * GOLDEN) & MASK)
            sign = 1 if drawn & 1 else -1
            vector[(drawn >> 1) % dimensions] += sign * math.sqrt(count)
    return vector


def normal(plane: int, dimensions: int) -> list[int]:
    """Of a plane: how many of 64 random bits are 1, less 32."""
    return [
        scrambled((0x706C616E6573 + (plane * 4096 + place) * GOLDEN) & MASK).bit_count() - 32
        for place in range(1, dimensions + 1)
    ]


def key(vector: Sequence[int], table: int, bits: int) -> int:
    planes = [normal(table * bits + bit, len(vector)) for bit in range(bits)]
    above = [sum(x * n for x, n in zip(vector, plane, strict=True)) > 0 for plane in planes]
    packed = sum(1 << bit for bit, one in enumerate(above) if one)
    mixed = ((table + 1) * GOLDEN & MASK ^ packed) * 0xBF58476D1CE4E5B9 & MASK
    return mixed ^ mixed >> 29


def passes(x: Sequence[int], y: Sequence[int], threshold: Fraction) -> bool:
    """cos(x, y) ≥ threshold > 0, without a root."""
    xy, xx, yy = (
        sum(a * b for a, b in zip(p, q, strict=True)) for p, q in ((x, y), (x, x), (y, y))
    )
    return xy > 0 and Fraction(xy * xy) >= threshold**2 * xx * yy
