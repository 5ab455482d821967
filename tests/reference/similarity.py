"""The similarity vector the slow and obvious way: families are dictionaries, ratios fractions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from reference.rarity import COMMON, LONE, RARE

Exact = Fraction | float


class Entry(NamedTuple):
    weight: int
    kind: int  # COMMON, RARE, LONE or NOISE, which is lone too


Features = Mapping[int, Entry]  # of one family


def row_of(profile: Sequence[Features]) -> list[int]:
    """As a profile is stored."""
    counts = [len(family) for family in profile]
    return counts + [
        feature << 32 | entry.weight << 2 | entry.kind
        for family in profile
        for feature, entry in sorted(family.items())
    ]


def sizes(x: Features) -> list[int]:
    weights = [entry.weight for entry in x.values()]
    rare = [entry.weight for entry in x.values() if entry.kind == RARE]
    lone = [entry.weight for entry in x.values() if entry.kind >= LONE]
    squares = sum(weight**2 for weight in weights)
    return [len(x), sum(weights), squares, len(rare), sum(rare), len(lone), sum(lone)]


def sums(x: Features, y: Features) -> list[int]:
    both = x.keys() & y.keys()
    least = {feature: min(x[feature].weight, y[feature].weight) for feature in both}
    product = sum(x[feature].weight * y[feature].weight for feature in both)
    rare = [least[feature] for feature in both if x[feature].kind != COMMON]
    lone = [least[feature] for feature in both if x[feature].kind >= LONE]
    return [len(both), sum(least.values()), product, len(rare), sum(rare), sum(lone)]


def over(part: Exact, whole: Exact) -> Exact:
    return part / whole if whole else Fraction(0)


def least(x: Features, y: Features) -> Fraction:
    return Fraction(sum(min(x[f].weight, y[f].weight) for f in x.keys() & y.keys()))


def weight(x: Features) -> int:
    return sum(entry.weight for entry in x.values())


def of_union(x: Features, y: Features) -> Exact:
    shared = least(x, y)
    return over(shared, weight(x) + weight(y) - shared)


def of_smaller(x: Features, y: Features) -> Exact:
    return over(least(x, y), min(weight(x), weight(y)))


def plain(x: Features) -> Features:
    """As a set."""
    return {feature: Entry(1, entry.kind) for feature, entry in x.items()}


def but_lone(x: Features, y: Features) -> Features:
    """What another document has; the other of the two is one, as far as it goes."""
    shared = {f: min(x[f].weight, y[f].weight) for f in x.keys() & y.keys()}
    return {
        feature: entry if entry.kind < LONE else Entry(shared[feature], entry.kind)
        for feature, entry in x.items()
        if entry.kind < LONE or feature in shared
    }


def uncommon(x: Features) -> Features:
    return {feature: entry for feature, entry in x.items() if entry.kind != COMMON}


def idf(x: Features, y: Features) -> Exact:
    """The text of its own that both have, as far as both have it, counts half."""
    noise = min(weight(one) - weight(but_lone(one, other)) for one, other in ((x, y), (y, x)))
    shared = least(x, y)
    return over(shared, weight(x) + weight(y) - noise - shared)


def dice(x: Features, y: Features) -> Exact:
    return Fraction(2 * len(x.keys() & y.keys()), len(x) + len(y)) if x or y else Fraction(1)


def of_larger(x: Features, y: Features) -> Exact:
    return over(Fraction(len(x.keys() & y.keys())), max(len(x), len(y)))


def dot(x: Features, y: Features) -> int:
    return sum(x[feature].weight * y[feature].weight for feature in x.keys() & y.keys())


def cosine(x: Features, y: Features) -> float:
    return float(over(dot(x, y), math.sqrt(dot(x, x) * dot(y, y))))


def euclidean(x: Features, y: Features) -> float:
    """1 − d/√2, d² = 2 − 2 cos."""
    return 1 - math.sqrt(max(1 - cosine(x, y), 0))


def extended_jaccard(x: Features, y: Features) -> Exact:
    return over(Fraction(dot(x, y)), dot(x, x) + dot(y, y) - dot(x, y))


MADE_OF: dict[str, Callable[[Features, Features], Exact]] = {
    "jaccard": lambda x, y: of_union(plain(x), plain(y)),
    "containment": lambda x, y: of_smaller(plain(x), plain(y)),
    "of_larger": of_larger,
    "dice": dice,
    "idf": idf,
    "idf_containment": of_smaller,
    "known": lambda x, y: of_union(but_lone(x, y), but_lone(y, x)),
    "known_containment": lambda x, y: of_smaller(but_lone(x, y), but_lone(y, x)),
    "rare": lambda x, y: of_union(uncommon(but_lone(x, y)), uncommon(but_lone(y, x))),
    "rare_containment": lambda x, y: of_smaller(uncommon(but_lone(x, y)), uncommon(but_lone(y, x))),
    "cosine": cosine,
    "euclidean": euclidean,
    "extended_jaccard": extended_jaccard,
}
