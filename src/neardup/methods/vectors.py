"""Measures on weighted sets, decided in integers, and the prefix filter that serves them all.

Entries are ``feature << 32 | weight``. Each measure at a threshold ``t`` asks for a cosine of at
least ``c``, so one filter on squared weights serves: what is left of x after its prefix has less
than ``c²`` of its squared length, and by Cauchy and Schwarz whoever shares only that with x has a
smaller cosine. Features come in one order for all documents, so that the first common one is in
both prefixes; an order by weight, which each document has for itself, would lose pairs.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.features.vectors import Products, euclidean_score
from neardup.methods.method import Rarity, Scores
from neardup.methods.overlap import agreeing
from neardup.schema import Array, Ragged

WEIGHT = np.uint64(0xFFFFFFFF)
COMMON = 32  # documents that may meet by one feature
_CLOSE = 1e-9  # far above the rounding of a few 64-bit operations


def as_sets(evidence: Ragged) -> Ragged:
    """The same features, each of weight 1: there the extended Jaccard is the Jaccard."""
    return Ragged(evidence.values & ~WEIGHT | np.uint64(1), evidence.offsets)


def squared_lengths(evidence: Ragged) -> npt.NDArray[np.uint64]:
    """x·x of each document."""
    weights = evidence.values & WEIGHT
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weights * weights, dtype=np.uint64)])
    found: npt.NDArray[np.uint64] = sums[evidence.offsets[1:]] - sums[evidence.offsets[:-1]]
    return found


def cosine_needed(measure: str, t: Fraction) -> Fraction:
    """The least cosine of a pair for which the measure is at least t; for cosine and euclidean the
    two are the same question."""
    if measure == "euclidean":  # 1 − √(1 − cos) ≥ t
        return 1 - (1 - t) ** 2
    if measure == "extended_jaccard":  # xy(1 + t) ≥ t(xx + yy) ≥ 2t|x||y|
        return 2 * t / (1 + t)
    return t  # dice: 2xy ≥ t(xx + yy) ≥ 2t|x||y|


def vector_scores(measure: str, t: Fraction, evidence: Ragged, a: Array, b: Array) -> Scores:
    lengths = squared_lengths(evidence)
    xy = _native.weighted_overlaps(evidence.values, evidence.offsets, a, b, True)
    return product_scores(measure, t, xy, lengths[a], lengths[b])


def product_scores(measure: str, t: Fraction, xy: Array, xx: Array, yy: Array) -> Scores:
    """Of whole numbers ``xy = x·y``, ``xx = x·x`` and ``yy = y·y``, one of each a pair."""
    products = Products(*(part.astype(np.float64) for part in (xy, xx, yy)))
    by_angle = measure in ("cosine", "euclidean")
    value = products.cosine if by_angle else getattr(products, measure)
    limit = cosine_needed(measure, t) if by_angle else t
    passed = value >= float(limit)
    for i in np.flatnonzero(np.abs(value - float(limit)) < _CLOSE):
        passed[i] = _reaches(measure, limit, int(xy[i]), int(xx[i]), int(yy[i]))
    score = euclidean_score(value) if measure == "euclidean" else value
    return Scores(passed, agreeing(score, passed, float(t)))


def _reaches(measure: str, limit: Fraction, xy: int, xx: int, yy: int) -> bool:
    """In whole numbers of any size."""
    num, den = limit.numerator, limit.denominator
    if measure == "dice":
        return 2 * xy * den >= num * (xx + yy)
    if measure == "extended_jaccard":
        return xy * (den + num) >= num * (xx + yy)
    return (xy * den) ** 2 >= num**2 * xx * yy


def rare_vector_keys(
    measure: str, t: Fraction, evidence: Ragged, rarity: Rarity, *, pairs: bool = False
) -> tuple[Ragged, Array]:
    """``OverlapMethod.rare_keys`` of a measure on vectors. ``pairs``: features that more than
    ``COMMON`` documents have are keys two by two only, which is for vectors of few features."""
    c = cosine_needed(measure, t)
    # Rounded down: a prefix that is longer than it must be loses nothing.
    needed = np.floor(squared_lengths(evidence).astype(np.float64) * float(c * c) * (1 - 1e-12))
    given = evidence.values, evidence.offsets, needed.astype(np.uint64)
    if pairs:
        made = _native.rare_vector_pairs(*given, rarity.counts, COMMON, *rarity[1:])
    else:
        made = _native.rare_weighted_prefixes(*given, True, *rarity)
    keys, ends, probes = made
    return Ragged(keys, ends), probes
