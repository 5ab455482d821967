"""Unique words in order (Yalniz, Can & Manmatha 2011): books and other long texts, also in part.

The words that occur once in a document, in the order of the text, are its sequence. Two documents
are compared by the longest common subsequence of their sequences: its share of the shorter one
(``containment``), or of the longer one (``max``). No word is twice in a sequence, so the common
subsequence is the longest increasing run of places, found in n log n steps. Texts of one subject
share unique words, but in another order, and errors of scanning only take words away.

The common subsequence has at most as many words as both sequences have in common, so the prefix
filter on the sets of words misses no pair.
"""

from __future__ import annotations

import bisect
import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.overlap import NO_COUNTS, agreeing, measured, rare_set_keys, shared_needed
from neardup.methods.parameters import require, require_one_of
from neardup.methods.preparation import SHORT_ENTRIES, prepared, read_words
from neardup.methods.thresholds import threshold_fraction
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
        keys, probes = self.rare_keys(evidence, Rarity(NO_COUNTS))
        return prepared(reading, evidence, keys, probes, evidence.lengths < self.min_unique)

    @property
    def meeting(self) -> Meeting:
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        return rare_set_keys(self.measure, self.fraction, _words(evidence), rarity)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """Pairs with too few words in common are not aligned."""
        sizes = evidence.lengths
        x, y = sizes[a], sizes[b]
        needed = shared_needed(self.measure, self.fraction, x, y)
        words = _words(evidence)
        shared = _native.overlaps(words.values, words.offsets, a, b, needed)
        for pair in np.flatnonzero(shared >= needed).tolist():
            shared[pair] = in_order(evidence[int(a[pair])], evidence[int(b[pair])])
        passed, score = shared >= needed, measured(self.measure, shared, x, y)
        return self._with_short(evidence, a, b, passed, agreeing(score, passed, self.threshold))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        shared = np.array([in_order(evidence[i], evidence[j]) for i, j in pairs], np.int64)
        sizes = evidence.lengths
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
    """Of each document ``word << 32 | place`` of the words that occur once, sorted; places are
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


def in_order(one: Array, other: Array) -> int:
    """The length of the longest common subsequence of two sequences without repeats."""
    _, mine, theirs = np.intersect1d(
        one >> _HALF, other >> _HALF, assume_unique=True, return_indices=True
    )
    low = np.uint64(0xFFFFFFFF)
    places = (other[theirs] & low)[np.argsort(one[mine] & low)]
    ends: list[int] = []  # of increasing runs, by length: the smallest last place
    for place in places.tolist():
        at = bisect.bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)
