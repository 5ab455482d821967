"""Measures on two sets, decided in integers, and the prefix filter of each.

With ``s = |A∩B|``, ``a = |A|``, ``b = |B|``:

- jaccard ``s / (a + b − s)``, called resemblance for shingles
- dice ``2s / (a + b)``
- cosine ``s / √(ab)``
- max ``s / max(a, b)``, called ``doc_q`` in the DDD system of Montanari & Puglisi 2012
- containment ``s / min(a, b)``, the share of the smaller set that is in the larger; the literature
  on joins calls it overlap
"""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np

from neardup import _native
from neardup.methods.base import PairScorer, Scores, agreeing
from neardup.methods.meeting import Rarity
from neardup.schema import Array, Ragged

MEASURES = ("jaccard", "dice", "cosine", "max", "containment")


def set_scores(measure: str, t: Fraction, evidence: Ragged, a: Array, b: Array) -> Scores:
    """Exact scores of pairs that pass. The comparison of other pairs ends early, so their score may
    be too low; ``whole_set_score`` is the one to show."""
    sizes = evidence.lengths
    x, y = sizes[a], sizes[b]
    needed = shared_needed(measure, t, x, y)
    shared = _native.overlaps(evidence.values, evidence.offsets, a, b, needed)
    passed = shared >= needed
    return Scores(passed, agreeing(measured(measure, shared, x, y), passed, float(t)))


def whole_set_score(measure: str, evidence: Ragged, a: Array, b: Array) -> Array:
    """The exact measure of every pair; no comparison ends early."""
    sizes = evidence.lengths
    nothing = np.zeros(len(a), np.int64)
    shared = _native.overlaps(evidence.values, evidence.offsets, a, b, nothing)
    return measured(measure, shared, sizes[a], sizes[b])


def pair_scorer(measure: str, t: Fraction) -> PairScorer | None:
    """``set_scores`` for one pair at a time, which is faster for few pairs. None for measures
    other than ``jaccard``."""
    return functools.partial(_resemblance, t) if measure == "jaccard" else None


def _resemblance(t: Fraction, one: Array, other: Array) -> float | None:
    both = len(one) + len(other)
    needed = -(-both * t.numerator // (t.numerator + t.denominator))
    shared = _native.overlap(one, other, needed)
    return max(shared / max(both - shared, 1), float(t)) if shared >= needed else None


def passing_scores(measure: str, t: Fraction, shared: Array, a: Array, b: Array) -> Array:
    """``set_scores`` of pairs that are known to pass, from the number of features they share."""
    return np.maximum(measured(measure, shared, a, b), float(t))


def shared_needed(measure: str, t: Fraction, a: Array, b: Array) -> Array:
    """The smallest integer s for which the measure is at least t."""
    num, den = t.numerator, t.denominator
    if measure == "jaccard":  # s / (a + b − s) ≥ t  ⇔  s ≥ t(a + b) / (1 + t)
        return _ceil((a + b) * num, num + den)
    if measure == "dice":
        return _ceil((a + b) * num, 2 * den)
    if measure == "max":
        return _ceil(np.maximum(a, b) * num, den)
    if measure == "containment":
        return _ceil(np.minimum(a, b) * num, den)
    return _root_needed(t, a, b)


def _root_needed(t: Fraction, a: Array, b: Array) -> Array:
    """⌈t√(ab)⌉. The floating-point root may be off by one; integers correct it: s²·den² ≥
    num²·ab."""
    num, den = t.numerator**2, t.denominator**2
    product = a.astype(object) * b
    need = np.floor(float(t) * np.sqrt(a.astype(np.float64) * b)).astype(np.int64)
    need = np.maximum(need - 1, 0)
    for _ in range(3):
        need = need + (need.astype(object) ** 2 * den < num * product).astype(np.int64)
    return need


def measured(measure: str, s: Array, a: Array, b: Array) -> Array:
    """The measure of sets of ``a`` and ``b`` elements that share ``s``."""
    if measure == "jaccard":
        return np.asarray(s / np.maximum(a + b - s, 1))
    if measure == "dice":
        return np.asarray(2 * s / np.maximum(a + b, 1))
    if measure == "max":
        return s / np.maximum(np.maximum(a, b), 1)
    if measure == "containment":
        return s / np.maximum(np.minimum(a, b), 1)
    return np.minimum(s / np.maximum(np.sqrt(a.astype(np.float64) * b), 1), 1.0)


def prefix_sizes(measure: str, t: Fraction, sizes: Array, keys: Array | int = 1) -> Array:
    """How many features of each set are its keys (prefix filter): in any fixed order, every partner
    that passes has at least ``keys`` of these first ones. The number is |A| − least shared + keys.
    ``keys`` is never more than a partner must share."""
    return np.asarray(sizes - np.maximum(_least_shared(measure, t, sizes), 1) + keys)


def keys_counted(measure: str, t: Fraction, sizes: Array) -> Array:
    """How many keys a set and its partner must have in common to be compared: half of what the set
    shares with any larger partner. Few pairs have so many in common, and the most frequent features
    are not among the keys."""
    return np.asarray(np.maximum(_least_shared(measure, t, sizes) + 1 >> 1, 1))


def _least_shared(measure: str, t: Fraction, a: Array) -> Array:
    """The least number of features that a set of ``a`` features shares with a partner that passes,
    whatever the size of the partner; for containment, with a partner that is not smaller."""
    if measure == "dice":  # s ≥ t(a + b)/2 and b ≥ s  ⇒  s ≥ ta / (2 − t)
        bound = t / (2 - t)
    elif measure == "cosine":  # s ≥ t√(ab) and b ≥ s  ⇒  s ≥ t²a
        bound = t * t
    else:
        # jaccard and max: s ≥ ta. For containment only the smaller set must share as many of its
        # features, so it searches by its prefix, and all features of the larger one are keys.
        bound = t
    return _ceil(sizes_times(a, bound.numerator), bound.denominator)


def sizes_times(sizes: Array, factor: int) -> Array:
    """The product without overflow: a squared threshold can have 12 decimals, and times the size of
    a large set it exceeds 64 bits."""
    if factor < 1 << 31:
        return sizes * factor
    return sizes.astype(object) * factor


def _ceil(values: Array, by: int) -> Array:
    return np.asarray(-(-values // by)).astype(np.int64)


def rare_set_keys(
    measure: str, t: Fraction, evidence: Ragged, rarity: Rarity, keys: Array | int = 1
) -> tuple[Ragged, Array]:
    """``rare_keys`` for a measure on sets; partners share at least ``keys`` of them."""
    sizes = prefix_sizes(measure, t, evidence.lengths, keys)
    everything = measure == "containment"
    made, ends, probes = _native.rare_prefixes(
        evidence.values, evidence.offsets, sizes, rarity.counts, everything, *rarity[1:]
    )
    return Ragged(made, ends), probes


NO_COUNTS = np.empty(0, np.uint8)


def own_set_keys(measure: str, t: Fraction, evidence: Ragged) -> tuple[Ragged, Array]:
    """Keys from the document alone: nothing is counted, so features are ordered by their value."""
    return rare_set_keys(measure, t, evidence, Rarity(NO_COUNTS))
