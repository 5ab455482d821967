"""A slow, obvious twin of average-link clustering and of the consistency of its groups: exact
fractions, all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations

Scores = Mapping[tuple[int, int], Fraction]  # of pairs, the smaller document first
Merge = tuple[int, int, Fraction]
EXPECTED = Fraction(6, 10)


def similarity(scores: Scores, one: frozenset[int], other: frozenset[int]) -> Fraction:
    pairs = [(min(a, b), max(a, b)) for a in one for b in other]
    return sum((scores.get(pair, Fraction(0)) for pair in pairs), Fraction(0)) / len(pairs)


def average_link(documents: int, scores: Scores, least: Fraction) -> list[Merge]:
    """The smallest documents of the clusters that are merged, and their similarity."""
    clusters = [frozenset([document]) for document in range(documents)]
    merges = []
    while len(clusters) > 1:
        options = [(similarity(scores, a, b), a, b) for a, b in combinations(clusters, 2)]
        height, a, b = min(options, key=lambda o: (-o[0], *sorted((min(o[1]), min(o[2])))))
        if height < least:
            break
        merges.append((*sorted((min(a), min(b))), height))
        clusters = [one for one in clusters if one not in (a, b)] + [a | b]
    return merges


def groups(documents: int, scores: Scores, threshold: Fraction) -> list[frozenset[int]]:
    """The groups that are left when nothing as similar as the threshold can be merged."""
    group = {document: frozenset([document]) for document in range(documents)}
    for a, b, _ in average_link(documents, scores, threshold):
        merged = group[a] | group[b]
        group |= dict.fromkeys(merged, merged)
    return list(dict.fromkeys(group.values()))


def consistency(documents: int, scores: Scores, threshold: Fraction) -> tuple[Fraction, int]:
    """J at the threshold, and how many documents are in groups."""
    total, linked = Fraction(0), 0
    for group in groups(documents, scores, threshold):
        for document in group if len(group) > 1 else ():
            with_ = {
                other: scores.get((min(document, other), max(document, other)), Fraction(0))
                for other in range(documents)
                if other != document
            }
            near = [s for other, s in with_.items() if other in group and s >= threshold]
            outside = max(
                (s for other, s in with_.items() if other not in group), default=Fraction()
            )
            complete = Fraction(len(near), len(group) - 1)
            apart = 1 - outside / (sum(near) / len(near)) if near else Fraction(0)
            total += complete * apart - EXPECTED
            linked += 1
    return total, linked
