"""Measures of an evaluation by walking over all pairs and documents."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations


def average_precision(pairs: Sequence[tuple[float, int]], positives: int) -> Fraction:
    """``pairs``: (score, class); at each distinct score all pairs from it on are predicted."""
    known = [(score, found) for score, found in pairs if found >= 0]
    total, before = Fraction(0), 0
    for cut in sorted({score for score, _ in known}, reverse=True):
        taken = [found for score, found in known if score >= cut]
        hits = sum(taken)
        total += (hits - before) * Fraction(hits, len(taken))
        before = hits
    return total / positives


def b_cubed(
    predicted: Sequence[int], true: Sequence[int], same: Sequence[int]
) -> tuple[Fraction, Fraction]:
    """Mean precision and recall over documents whose true cluster is known."""
    known = [i for i, cluster in enumerate(true) if cluster >= 0]
    precision, recall = [], []
    for i in known:
        mates = [j for j in known if i == j or (predicted[i] == predicted[j] >= 0)]
        good = [j for j in mates if true[j] == true[i]]
        counted = [j for j in mates if true[j] == true[i] or same[j] != same[i]]
        precision.append(Fraction(len(good), len(counted)))
        recall.append(Fraction(len(good), sum(true[j] == true[i] for j in known)))
    return sum(precision, Fraction(0)) / len(known), sum(recall, Fraction(0)) / len(known)


def adjusted_rand(predicted: Sequence[int], true: Sequence[int]) -> Fraction | None:
    known = [i for i, cluster in enumerate(true) if cluster >= 0]
    both = ours = theirs = total = 0
    for i, j in combinations(known, 2):
        one, other = predicted[i] == predicted[j] >= 0, true[i] == true[j]
        both, ours, theirs, total = both + (one and other), ours + one, theirs + other, total + 1
    if not total:
        return None
    expected, most = Fraction(ours * theirs, total), Fraction(ours + theirs, 2)
    return Fraction(1) if most == expected else (both - expected) / (most - expected)
