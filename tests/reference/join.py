"""The twin of a whole join: all pairs of Python sets, measured in exact fractions.

A cosine is compared by its square, so that everything stays a fraction.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations


def reaches(measure: str, a: set[str], b: set[str], t: Fraction) -> bool:
    shared, small, large = len(a & b), *sorted((len(a), len(b)))
    if measure == "cosine":
        return Fraction(shared**2, small * large) >= t**2
    below = {
        "jaccard": len(a | b),
        "dice": Fraction(small + large, 2),
        "max": large,
        "containment": small,
    }[measure]
    return Fraction(shared) / below >= t


def score(measure: str, a: set[str], b: set[str]) -> float:
    """For showing."""
    shared, small, large = len(a & b), *sorted((len(a), len(b)))
    below = {
        "jaccard": float(len(a | b)),
        "dice": (small + large) / 2,
        "cosine": math.sqrt(small * large),
        "max": large,
        "containment": small,
    }[measure]
    return shared / below


def pairs(sets: Sequence[set[str]], measure: str, t: Fraction) -> set[tuple[int, int]]:
    places = combinations(range(len(sets)), 2)
    return {(i, j) for i, j in places if reaches(measure, sets[i], sets[j], t)}
