"""SimHash, the slow and obvious way: sums of ±weight, and all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations


def fingerprint(votes: Sequence[tuple[int, int]], bits: int) -> int:
    """``votes``: (hash of the feature, weight), a feature as often as it occurs."""
    sums = [sum(w if h >> bit & 1 else -w for h, w in votes) for bit in range(bits)]
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)


def near(prints: Sequence[int], distance: int) -> set[tuple[int, int]]:
    return {
        (i, j)
        for (i, x), (j, y) in combinations(enumerate(prints), 2)
        if (x ^ y).bit_count() <= distance
    }
