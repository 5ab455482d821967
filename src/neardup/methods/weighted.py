"""Shingles weighted by their rarity in the collection: what all documents carry counts for little.

Weighted resemblance is ``Σ w(A∩B) / Σ w(A∪B)``. A pair that reaches t shares t of the weight of
either set, so of each set the rarest features are keys until less than t of its weight is left.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.frequencies import Frequencies
from neardup.errors import SettingsError
from neardup.methods.method import Prepared, Rarity, Scores
from neardup.methods.overlap import NO_COUNTS, agreeing
from neardup.methods.preparing import prepared, read_words
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.methods.shingles import Shingles

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
    """Rare features until less than ``t`` of the weight is left, which a partner must share."""
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
