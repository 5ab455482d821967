"""The slow, obvious twin of native/features/minhash."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MASK = (1 << 32) - 1


def value(feature: int, a: int) -> int:
    x, y = feature & MASK, feature >> 32
    return (y + a * x) & MASK


def minima(features: Iterable[int], multipliers: Sequence[int]) -> list[int]:
    features = list(features)
    return [min((value(f, a) for f in features), default=MASK) for a in multipliers]


def bands(values: Sequence[int], count: int, rows: int) -> list[tuple[int, ...]]:
    return [(b, *values[b * rows : (b + 1) * rows]) for b in range(count)]
