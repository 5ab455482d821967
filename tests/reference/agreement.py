"""Rank correlation and signature changes, the slow and obvious way."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from reference import terms as twin


def mid_rank(values: Sequence[int], value: int) -> Fraction:
    below = sum(other < value for other in values)
    return below + Fraction(sum(other == value for other in values) + 1, 2)


def spearman(a: Sequence[int], b: Sequence[int]) -> float | None:
    """Formula (2) of the paper, letter by letter."""
    n = len(a)
    cube = n**3 - n
    f = sum(k**3 - k for k in Counter(a).values())
    g = sum(m**3 - m for m in Counter(b).values())
    if not cube or cube in (f, g):
        return None
    pairs = zip(a, b, strict=True)
    d = sum((mid_rank(a, x) - mid_rank(b, y)) ** 2 for x, y in pairs)
    above = 1 - Fraction(6, cube) * (d + Fraction(f, 12) + Fraction(g, 12))
    return float(above) / math.sqrt((1 - Fraction(f, cube)) * (1 - Fraction(g, cube)))


def signature(text: str, table: list[tuple[str, int]], n: int) -> list[str]:
    ranks = {term: rank for rank, (term, _) in enumerate(table)}
    found = twin.document_terms(text, "words", ranks)
    return [table[rank][0] for rank, _, _ in found[:n]]


def changed(
    text: str, a: list[tuple[str, int]], b: list[tuple[str, int]], n: int
) -> tuple[bool, bool]:
    """(as a set, as a ranked list)"""
    first, second = signature(text, a, n), signature(text, b, n)
    return set(first) != set(second), first != second
