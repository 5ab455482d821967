"""The slow, obvious twin of native/features/sketch and of supershingles: sets and big integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

PRIME = 2**32 - 5


def classic(hashes: Iterable[int], a: Sequence[int], b: Sequence[int]) -> list[int]:
    """The least (Ax + B) mod p of the upper halves, for each A and B."""
    x = [hash_ >> 32 for hash_ in hashes]
    return [
        min(((A * f + B) % PRIME for f in x), default=2**32 - 1) for A, B in zip(a, b, strict=True)
    ]


def agreeing(one: Sequence[int], other: Sequence[int]) -> int:
    """Positions, not values: the same value in another place is another thing."""
    return sum(x == y for x, y in zip(one, other, strict=True)) if len(one) == len(other) else 0


def kept(hashes: Iterable[int], modulus: int) -> set[int]:
    return {hash_ >> 32 for hash_ in hashes if (hash_ >> 32) % modulus == 0}


def smallest(features: Iterable[int], limit: int) -> list[int]:
    return sorted(features)[: limit or None]


def estimate(one: set[int], other: set[int], limit: int) -> Fraction:
    """From the sets before they were cut: what their sketches must be able to say."""
    if not limit or max(len(one), len(other)) < limit:
        return Fraction(len(one & other), len(one | other) or 1)
    return Fraction(len(one & other & {*smallest(one | other, limit)}), limit)


def groups(minima: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Henzinger: disjoint, each with its place."""
    starts = range(0, len(minima), size)
    return [(place, *minima[start : start + size]) for place, start in enumerate(starts)]


def windows(minima: Sequence[int], size: int) -> list[tuple[int, ...]]:
    """Broder: overlapping, of the sorted sketch."""
    ordered = sorted(minima)
    return [tuple(ordered[i : i + size]) for i in range(len(ordered) - size + 1)]


def common(one: Sequence[object], other: Sequence[object]) -> int:
    return (Counter(one) & Counter(other)).total()
