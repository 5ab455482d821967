"""The edit distance of two texts in words (Levenshtein 1966), as a similarity.

Its cost grows with the product of both lengths, so it is meant for up to ``MOST_WORDS`` words a
text.
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_WORDS = 20_000


def edit_similarity(a: Sequence[str], b: Sequence[str]) -> float:
    """1 − d / max(|a|, |b|), with d the Levenshtein distance in words."""
    from rapidfuzz.distance import Levenshtein

    return float(Levenshtein.normalized_similarity(a, b))
