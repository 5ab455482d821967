"""The one rule as it is stated, over all pairs: the twin of decisions/ and of whole runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

# The score of a verified pair; None where the two do not match.
Match = Callable[[int, int], Any]


def decide(order: Sequence[int], match: Match) -> dict[int, tuple[int, Any] | None]:
    """Document → None if it is kept, else what it was set aside for and the score."""
    kept: list[int] = []
    decided: dict[int, tuple[int, Any] | None] = {}
    for document in order:
        best: tuple[int, Any] | None = None
        for earlier in kept:  # in order, so the first of the best scores stays
            score = match(document, earlier)
            if score is not None and (best is None or score > best[1]):
                best = earlier, score
        decided[document] = best
        if best is None:
            kept.append(document)
    return decided


def from_scores(scores: dict[tuple[int, int], Any]) -> Match:
    return lambda a, b: scores.get((min(a, b), max(a, b)))


def components(count: int, pairs: Sequence[tuple[int, int]]) -> list[set[int]]:
    """Of two or more, by their smallest member."""
    parts = [{i} for i in range(count)]
    for a, b in pairs:
        one = next(part for part in parts if a in part)
        other = next(part for part in parts if b in part)
        if one is not other:
            parts.remove(other)
            one |= other
    return sorted((part for part in parts if len(part) > 1), key=min)
