"""The slow, obvious twin of native/features/spots: walk on from every antecedent, count spots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction


def spots(
    words: Sequence[str],
    antecedents: Collection[str],
    distance: int,
    chain: int,
    stop_words: Collection[str] = (),
) -> list[str]:
    found = []
    for start, antecedent in enumerate(words):
        if antecedent not in antecedents:
            continue
        taken, at = [antecedent], start
        for _ in range(chain):
            left = distance
            while left and at + 1 < len(words):
                at += 1
                left -= words[at] not in antecedents and words[at] not in stop_words
            if left:
                break
            taken.append(words[at])
        if len(taken) == chain + 1:
            found.append(":".join(taken))
    return found


def similarity(a: Sequence[str], b: Sequence[str]) -> Fraction:
    """Σmin / Σmax of the multisets."""
    one, other = Counter(a), Counter(b)
    return Fraction((one & other).total(), (one | other).total() or 1)
