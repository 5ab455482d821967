"""Thresholds as exact fractions, so that a pair exactly at the threshold passes on any machine."""

from __future__ import annotations

import math
from fractions import Fraction

from neardup.errors import SettingsError

MOST_DECIMALS = 6  # keeps inter · denominator inside 64 bits for sets of 10¹² features


def moved(probability: float, by: float) -> float:
    """A probability so many log-odds further, as a threshold: rounded down to what one may have."""
    steps: int = 10**MOST_DECIMALS
    odds = probability / max(1 - probability, 1 / steps) * math.exp(by)
    return max(math.floor(odds / (1 + odds) * steps), 1) / steps


def threshold_fraction(threshold: float) -> Fraction:
    """The decimal number that was written, not its binary neighbour: 0.8 is 4/5."""
    try:
        fraction = Fraction(str(threshold))
    except ValueError:  # nan, inf, not a number at all
        fraction = Fraction(0)
    if not 0 < fraction <= 1 or 10**MOST_DECIMALS % fraction.denominator:
        raise SettingsError(
            f"threshold is {threshold}; expected a number above 0 and up to 1 "
            f"with at most {MOST_DECIMALS} decimals.",
            hint="0.8 finds copies with small edits, 0.5 also revised versions.",
        )
    return fraction
