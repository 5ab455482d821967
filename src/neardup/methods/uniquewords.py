"""Unique words in order (Yalniz, Can & Manmatha 2011): books and other long texts, also in part.

The words that occur once in a document, in the order of the text, are its sequence. Two documents
are compared by the longest common subsequence of their sequences: its share of the shorter one
(``containment``), or of the longer one (``max``). No word is twice in a sequence, so the common
subsequence is the longest increasing run of places, found in n log n steps. Texts of one subject
share unique words, but in another order, and errors of scanning only take words away.

The common subsequence has at most as many words as both sequences have in common, so the prefix
filter on the sets of words misses no pair. Words are common: pairs are counted by how many of the
rarer words they share (``matching/rare.py``).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.methods.base import Method, Prepared, Scores, agreeing
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import Meeting, RarePrefix, Rarity
from neardup.methods.parameters import require, require_one_of, threshold_fraction
from neardup.methods.preparation import SHORT_ENTRIES, prepared, read_words
from neardup.methods.set_measures import (
    keys_counted,
    measured,
    own_set_keys,
    rare_set_keys,
    shared_needed,
)
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text

MEASURES = ("containment", "max")
FEWEST = SHORT_ENTRIES + 1  # fewer would look like the evidence of a short document
_HALF = np.uint64(32)


@dataclass(frozen=True)
class UniqueWords(Method):
    """Words that occur once, aligned in their order; finds books and long texts, also in part.

    ``threshold``: the share of a sequence that duplicates have in common, in the same order.
    ``measure``: "containment" (share of the shorter sequence) or "max" (of the longer one).
    ``min_unique``: documents with fewer unique words are duplicates only of equal ones.
    ``text``: what counts as the same word.
    """

    threshold: float = 0.5
    measure: str = "containment"
    min_unique: int = 20
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "uniquewords"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def __post_init__(self) -> None:
        threshold_fraction(self.threshold)
        require_one_of(MEASURES, self, "measure")
        require(self.min_unique >= FEWEST, self, "min_unique", f"{FEWEST} or more")

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"unique words in order >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        which = "shorter" if self.measure == "containment" else "longer"
        return f"share of the {which} sequence of unique words that both have in the same order"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "prefix", "miss_rate": 0.0}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, self.text)
        evidence = sequences(reading.words)
        keys, probes = own_set_keys(self.measure, self.fraction, _words(evidence))
        return prepared(reading, evidence, keys, probes, evidence.lengths < self.min_unique)

    @property
    def meeting(self) -> Meeting:
        return Meeting(RarePrefix(self.rare_keys, least=self._keys_shared))

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        least = self._keys_shared(evidence.lengths)
        return rare_set_keys(self.measure, self.fraction, _words(evidence), rarity, least)

    def _keys_shared(self, sizes: Array) -> Array:
        return keys_counted(self.measure, self.fraction, sizes)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """Pairs with too few words in common are not aligned."""
        x, y = evidence.lengths[a], evidence.lengths[b]
        needed = shared_needed(self.measure, self.fraction, x, y)
        shared = _in_order(evidence, a, b, needed)
        passed, score = shared >= needed, measured(self.measure, shared, x, y)
        return self._with_short(evidence, a, b, passed, agreeing(score, passed, self.threshold))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        shared, sizes = _in_order(evidence, a, b, np.zeros(len(a), np.int64)), evidence.lengths
        score = measured(self.measure, shared, sizes[a], sizes[b])
        return self._with_short(evidence, a, b, score >= self.threshold, score).score

    def _with_short(
        self, evidence: Ragged, a: Array, b: Array, passed: Array, score: Array
    ) -> Scores:
        """The evidence of a short document is a digest: it is equal or not."""
        short = evidence.lengths == SHORT_ENTRIES
        either = short[a] | short[b]
        if not either.any():
            return Scores(passed, score)
        same = equal_evidence(evidence, a, b)
        return Scores(np.where(either, same, passed), np.where(either, same, score))


def sequences(words: Ragged) -> Ragged:
    """The words that occur once in each document, as sorted ``word << 32 | place``; places are
    counted in the sequence."""
    rows = [_sequence(words[row]) for row in range(len(words))]
    values = np.concatenate([np.empty(0, np.uint64), *rows])
    return Ragged(values, offsets_of(np.array([len(row) for row in rows], np.int64)))


def _sequence(words: Array) -> Array:
    features, first, counts = np.unique(words >> _HALF, return_index=True, return_counts=True)
    once = counts == 1
    places = np.argsort(np.argsort(first[once])).astype(np.uint64)
    return np.asarray(features[once] << _HALF | places)


def _words(evidence: Ragged) -> Ragged:
    return Ragged((evidence.values >> _HALF).astype(np.uint32), evidence.offsets)


def _in_order(evidence: Ragged, a: Array, b: Array, needed: Array) -> Array:
    """The longest common subsequences, where they can have as many words as ``needed``."""
    return _native.overlaps_in_order(evidence.values, evidence.offsets, a, b, needed)
