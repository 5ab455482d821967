"""Measures on weighted sets, decided in integers, and their prefix filters.

Entries are ``feature << 32 | weight``. Each measure on vectors at a threshold ``t`` implies a
cosine of at least ``c``, so one filter on squared weights serves all measures. The features of x
after its prefix have less than ``c²`` of its squared length; by the Cauchy–Schwarz inequality, a
document that shares only these with x has a smaller cosine. Features are in the same order for all
documents, so that the first common one is in both prefixes. An order by weight differs between
documents and would lose pairs.

Shingles may be weighted by their rarity in the collection, so that common ones count little.
Weighted resemblance is ``Σ w(A∩B) / Σ w(A∪B)``. A pair that reaches t shares t of the weight of
either set, so the rarest features of each set are keys until less than t of its weight remains. The
two lowest bits of such a weight are the class of the feature: common, rare, unique, or unique in a
document that is full of unique words (decision 0014).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import Frequencies
from neardup.errors import SettingsError
from neardup.features.vectors import Products, euclidean_score
from neardup.methods.base import Prepared, Scores, agreeing
from neardup.methods.meeting import Rarity
from neardup.methods.preparation import prepared, read_words
from neardup.methods.set_measures import NO_COUNTS
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.methods.shingles import Shingles

WEIGHT = np.uint64(0xFFFFFFFF)
MOST_MEETING = 32  # documents that a single feature may bring together
_CLOSE = 1e-9  # far above the rounding of a few 64-bit operations


def as_sets(evidence: Ragged) -> Ragged:
    """The same features with weight 1, for which the extended Jaccard measure equals Jaccard."""
    return Ragged(evidence.values & ~WEIGHT | np.uint64(1), evidence.offsets)


def squared_lengths(evidence: Ragged) -> npt.NDArray[np.uint64]:
    """x·x of each document."""
    weights = evidence.values & WEIGHT
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weights * weights, dtype=np.uint64)])
    squares: npt.NDArray[np.uint64] = sums[evidence.offsets[1:]] - sums[evidence.offsets[:-1]]
    return squares


def cosine_needed(measure: str, t: Fraction) -> Fraction:
    """The least cosine of a pair for which the measure is at least t; for cosine and euclidean, the
    two conditions are equivalent."""
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
    """Scores from the integers ``xy = x·y``, ``xx = x·x`` and ``yy = y·y`` of each pair."""
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
    """Whether the measure reaches the limit, in integers of any size."""
    num, den = limit.numerator, limit.denominator
    if measure == "dice":
        return 2 * xy * den >= num * (xx + yy)
    if measure == "extended_jaccard":
        return xy * (den + num) >= num * (xx + yy)
    return (xy * den) ** 2 >= num**2 * xx * yy


def rare_vector_keys(
    measure: str, t: Fraction, evidence: Ragged, rarity: Rarity, *, pairs: bool = False
) -> tuple[Ragged, Array]:
    """``rare_keys`` for a measure on vectors. With ``pairs``, features of more than ``COMMON``
    documents are keys only in pairs, which suits vectors of few features."""
    c = cosine_needed(measure, t)
    # Rounded down: a prefix that is longer than necessary loses no pair.
    needed = np.floor(squared_lengths(evidence).astype(np.float64) * float(c * c) * (1 - 1e-12))
    prefixes = evidence.values, evidence.offsets, needed.astype(np.uint64)
    if pairs:
        columns = _native.rare_vector_pairs(*prefixes, rarity.counts, MOST_MEETING, *rarity[1:])
    else:
        columns = _native.rare_weighted_prefixes(*prefixes, True, *rarity)
    keys, ends, probes = columns
    return Ragged(keys, ends), probes


WEIGHTS = ("none", "idf")


def check(method: Shingles) -> None:
    if method.weights == "none":
        if method.frequencies is not None and not method.clip:
            raise SettingsError(
                "shingles: frequencies are given, but shingles are neither weighted nor clipped.",
                hint="add weights='idf' or clip.",
            )
        return
    if method.measure != "resemblance" or method.sampling != "none" or method.keys == "bands":
        raise SettingsError(
            "shingles: weights='idf' is for the resemblance of whole sets, joined completely.",
            hint="leave measure, sampling and keys as they are by default.",
        )


def prepare(method: Shingles, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
    table = artefacts["frequencies"]
    assert isinstance(table, Frequencies)
    reading = read_words(batch, method.text)
    words = reading.words
    sets = _native.sample_features(words.values, words.offsets, method.words, method.ignored, 1, 0)
    evidence = table.weighted(Ragged(*sets))
    short = reading.shorter_than(method.min_words) | (evidence.lengths == 0)
    keys, probes = rare_keys(method, evidence, Rarity(NO_COUNTS))  # heaviest first
    return prepared(reading, evidence, keys, probes, short)


def rare_keys(method: Shingles, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
    return heavy_keys(method.fraction, evidence, rarity)


def heavy_keys(t: Fraction, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
    """Rare features until less than ``t`` of the weight remains, which a partner must share."""
    needed = -(-total_weights(evidence) * t.numerator // t.denominator)
    keys, ends, probes = _native.rare_weighted_prefixes(
        evidence.values, evidence.offsets, needed.astype(np.uint64), False, *rarity
    )
    return Ragged(keys, ends), probes


def score(method: Shingles, evidence: Ragged, a: Array, b: Array) -> Scores:
    t, weights = method.fraction, total_weights(evidence)
    shared = _native.weighted_overlaps(evidence.values, evidence.offsets, a, b, False)
    common = shared.astype(np.int64)
    union = weights[a] + weights[b] - common
    passed = common * t.denominator >= union * t.numerator
    return Scores(passed, agreeing(common / np.maximum(union, 1), passed, method.threshold))


def total_weights(evidence: Ragged) -> Array:
    weights, *_ = _native.sizes_by_rarity(evidence.values, evidence.offsets)
    return weights


# The two lowest bits of a weight (native/features/overlap.hpp).
COMMON, RARE, LONE, NOISE = range(4)
UNIT = 1 << 14  # the weight of an idf of 1, before the class is put below it
LEAST = 0.1  # weight of a feature of all documents, so that copies of one text stay similar
TEMPLATES = ("refuse", "accept")
OWN_FEATURES, OWN_SHARE = 6, 32  # own features of a filled template: a minimum, one in so many
NOISY, NOISY_WORDS = 0.12, 20  # share of unique words in a noisy document, of at least so many
NOISY_DOCUMENTS = 1000  # in a smaller collection every document has many unique words


def full_of_noise(words: Array, lone: Array) -> npt.NDArray[np.bool_]:
    """Whether so many of the distinct words of a document are unique that it is noisy."""
    return np.asarray((words >= NOISY_WORDS) & (lone >= NOISY * words))


def fills_template(own: Array, smaller: Array, shared: Array, rare: Array) -> npt.NDArray[np.bool_]:
    """Whether both documents have features of their own and share hardly any rare ones. ``own`` and
    ``smaller`` are those of the document that has less."""
    goes_on = (own >= OWN_FEATURES) & (own * OWN_SHARE >= smaller)
    return np.asarray(goes_on & (rare < own) & (4 * rare < shared))
