"""Agreement of sets, by looking at every two of them (Conrad et al. 2003, Table 8)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

Sets = list[frozenset[int]]


def as_sets(numbers: list[int]) -> Sets:
    there = sorted({number for number in numbers if number >= 0})
    return [frozenset(i for i, n in enumerate(numbers) if n == one) for one in there]


def agreement(
    gold: Sets, found: Sets, refused: Callable[[int, int], bool]
) -> dict[str, int | float | None]:
    exact = [one for one in gold if one in found]
    partial = [one for one in gold if one not in exact and any(len(one & f) > 1 for f in found)]
    others = [one for one in found if one not in exact]
    overlapping = [one for one in others if any(len(one & g) > 1 for g in gold)]
    alone = [one for one in others if one not in overlapping]
    over = [one for one in alone if any(refused(a, b) for a, b in combinations(sorted(one), 2))]
    judged = len(exact) + len(overlapping) + len(over)
    return {
        "gold_sets": len(gold),
        "agreement": len(exact),
        "partial": len(partial),
        "misses": len(gold) - len(exact) - len(partial),
        "overlapping": len(overlapping),
        "over_identified": len(over),
        "unjudged": len(alone) - len(over),
        "recall": len(exact) / len(gold) if gold else None,
        "precision": len(exact) / judged if judged else None,
    }
