"""Slow, obvious twins of what rareshingles and its calibration compute: dictionaries and loops."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

COMMON, RARE, LONE, NOISE = range(4)


class Shared(NamedTuple):
    weight: int
    features: int
    rare_weight: int
    rare: int


def shared_by_rarity(a: Mapping[int, int], b: Mapping[int, int]) -> Shared:
    """Sets as feature → weight; the weight is that of ``a``, which is that of ``b``."""
    both = [a[feature] for feature in a if feature in b]
    rare = [weight for weight in both if weight % 4 != COMMON]
    return Shared(sum(both), len(both), sum(rare), len(rare))


def sizes_by_rarity(one: Mapping[int, int]) -> tuple[int, int, int]:
    classes = [weight % 4 for weight in one.values()]
    return sum(one.values()), sum(c in (LONE, NOISE) for c in classes), classes.count(NOISE)


def sharing_pairs(groups: Sequence[Sequence[int]], least: int) -> dict[tuple[int, int], int]:
    met = Counter(pair for group in groups for pair in combinations(sorted(group), 2))
    return {pair: count for pair, count in met.items() if count >= least}


def most_shared(met: Mapping[tuple[int, int], int], most: int) -> set[tuple[int, int]]:
    """For each later document the pairs that share most, of equal ones those with the latest."""
    chosen = set()
    for later in {b for _, b in met}:
        pairs = sorted((-count, -a) for (a, b), count in met.items() if b == later)
        chosen |= {(-a, later) for _, a in pairs[:most]}
    return chosen


def weighted_prefix(
    entries: Mapping[int, int], needed: int, counts: Sequence[int], *, squared: bool
) -> list[int]:
    """Features in the order of count and number, as long as what is left could be enough. What one
    document alone has comes first and is no key."""

    def mass(feature: int) -> int:
        return entries[feature] ** (2 if squared else 1)

    order = sorted((counts[f % len(counts)], f) for f in entries)
    order = [(count, feature) for count, feature in order if count != 1]
    left, found = sum(mass(feature) for _, feature in order), []
    for _, feature in order:
        if left < max(needed, 1):
            break
        left -= mass(feature)
        found.append(feature)
    return found


def idf(n: int, documents: int) -> float:
    return math.log((documents + 0.5) / n) / math.log(documents + 1)


class Settings(NamedTuple):
    threshold: Fraction
    lone: float
    common: int
    refuse: bool


def weights(sets: Sequence[set[int]], slots: int, settings: Settings) -> list[dict[int, int]]:
    """By the definition, with counts of slots; the class stands in the two lowest bits."""
    counts = Counter(feature % slots for one in sets for feature in one)

    def weight(feature: int) -> int:
        n = counts[feature % slots]
        value = max(idf(n, len(sets)), 0.1) * (settings.lone if n == 1 else 1)
        kind = LONE if n == 1 else RARE if n <= settings.common else COMMON
        return round((1 << 14) * value) * 4 + kind

    return [{feature: weight(feature) for feature in one} for one in sets]


def is_template(a: Mapping[int, int], b: Mapping[int, int]) -> bool:
    """Both go on with words of their own, and hardly anything they share is rare."""
    shared, own = shared_by_rarity(a, b), min(sizes_by_rarity(a)[1], sizes_by_rarity(b)[1])
    goes_on = own >= 6 and Fraction(own, min(len(a), len(b))) >= Fraction(1, 32)
    return goes_on and shared.rare < own and 4 * shared.rare < shared.features


def pairs(
    sets: Sequence[set[int]], slots: int, settings: Settings
) -> dict[tuple[int, int], Fraction]:
    weighted = weights(sets, slots, settings)
    found = {}
    for (i, a), (j, b) in combinations(enumerate(weighted), 2):
        common = shared_by_rarity(a, b).weight
        more = abs(sizes_by_rarity(a)[1] - sizes_by_rarity(b)[1])
        more *= round(4 * (1 << 14) * (1 - settings.lone))
        score = Fraction(common, sum(a.values()) + sum(b.values()) + more - common)
        if score >= settings.threshold and not (settings.refuse and is_template(a, b)):
            found[i, j] = score
    return found


def own_thresholds(
    documents: int, scores: Mapping[tuple[int, int], float], usual: float
) -> list[float]:
    """The third best score below the usual one, and one and a half more in log-odds."""
    cuts = []
    for document in range(documents):
        mine = sorted((s for pair, s in scores.items() if document in pair and s < usual))
        background = max(mine[-3], 0.005) if len(mine) > 2 else 0.005
        logit = math.log(background / (1 - background)) + 1.5
        cut = max(1 / (1 + math.exp(-logit)), 0.02)
        cuts.append(cut if cut < usual else math.inf)
    return cuts
