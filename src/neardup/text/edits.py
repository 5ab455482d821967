"""The edit distance of two texts in words, and the passages it leaves equal.

A passage is a run of words; the alignment is the cheapest one in words inserted, deleted and
replaced (Levenshtein 1966). Its cost grows with the product of both lengths, so it is offered up
to ``MOST_WORDS`` words a text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

MOST_WORDS = 20_000


class Passage(NamedTuple):
    """The words of either text; one of them is empty where words were inserted or deleted."""

    a: tuple[str, ...]
    b: tuple[str, ...]

    @property
    def shared(self) -> bool:
        return self.a == self.b


def can_align(a: Sequence[str], b: Sequence[str]) -> bool:
    return max(len(a), len(b)) <= MOST_WORDS


def align(a: Sequence[str], b: Sequence[str]) -> tuple[Passage, ...]:
    """All words of both texts, in order, cut into shared and differing passages."""
    from rapidfuzz.distance import Levenshtein

    steps = Levenshtein.opcodes(a, b)
    joined: list[tuple[bool, list[str], list[str]]] = []
    for step in steps:
        same = step.tag == "equal"
        # A deletion beside a replacement is one differing passage to a reader.
        if not joined or joined[-1][0] != same:
            joined.append((same, [], []))
        joined[-1][1].extend(a[step.src_start : step.src_end])
        joined[-1][2].extend(b[step.dest_start : step.dest_end])
    return tuple(Passage(tuple(x), tuple(y)) for _, x, y in joined)


def edit_similarity(a: Sequence[str], b: Sequence[str]) -> float:
    """1 − d / max(|a|, |b|), with d the Levenshtein distance in words."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(a, b))
