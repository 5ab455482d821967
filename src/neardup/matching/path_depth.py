"""How deep paths go, and how many repetitions of them keep a miss rate."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from neardup.schema import Array

LEAST_DEPTH, MOST_DEPTH = 3, 15
# Where paths are short, repetitions are cheap: pairs above the threshold are then all but certain.
FEWEST_REPETITIONS = 33
STILL_OPEN = 0.5  # paths of one repetition that are cut off at the deepest, about


def repetitions(depth: int, miss_rate: float) -> int:
    """So many that two sets share no path of this depth with probability ``miss_rate`` at most: a
    branching process of mean 1 (``native/matching/paths.hpp``)."""
    alive = 1.0
    for _ in range(depth):
        alive = -math.expm1(-alive)
    needed = math.ceil(math.log(miss_rate) / math.log1p(-alive))
    return max(needed, FEWEST_REPETITIONS)


def path_depth(count: int, few_bits: int, share: Fraction, rarities: Array) -> int:
    """So deep that few paths of ``count`` sets have more than 2^``few_bits`` on them. ``rarities``
    says how many features have which rarity, in eighths of a bit."""
    wanted = 8 * max((count - 1).bit_length() - few_bits, 1)
    chances = rarities / max(rarities.sum(), 1)
    open_ = np.eye(1, wanted)[0]  # by the rarity of the path so far
    for depth in range(1, MOST_DEPTH):
        open_ = np.convolve(open_, chances)[:wanted]
        if open_.sum() / float(share) ** depth < STILL_OPEN:
            return max(depth, LEAST_DEPTH)
    return MOST_DEPTH
