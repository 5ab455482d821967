"""Supershingles: shingles of a sketch (Broder et al. 1997; Henzinger 2006; the lecture).

Several MinHash values are hashed into one 64-bit number, a supershingle; documents with enough
common supershingles are near-duplicates. Supershingles are the only evidence: no set is kept to
verify a pair on. Supershingles of s values are equal with probability about ``r^s``, so only
documents that are nearly equal pass. Small documents have few shingles from which values are drawn,
and an excerpt has different minima than its source, so containment is not supported.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from numpy.lib.stride_tricks import sliding_window_view

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.methods import minhash
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.parameters import MOST_DECIMALS, require, require_one_of, threshold_fraction
from neardup.methods.preparation import prepared, read_words
from neardup.methods.set_measures import prefix_sizes
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

VARIANTS = {"henzinger": 2, "broder": 1}  # equal supershingles that the papers require
MOST_PAIRED = 12  # groups, which have 66 pairs; with more groups, single ones are keys
_SALTS = [np.uint64(x) for x in minhash.stream(0x7375706572, 3)]  # "super"
_SINGLE, _PAIR = _SALTS[1], _SALTS[2]


@dataclass(frozen=True)
class Supershingles(Method):
    """Groups of MinHash values; what shares enough of them is nearly equal.

    ``variant``: "henzinger" (disjoint groups, 2 equal) or "broder" (windows of the sorted values,
    1 in common).
    ``threshold``: the share of supershingles that must be equal; 0 for the variant's own.
    ``words``: how many words make a shingle.
    ``permutations``: MinHash values a document.
    ``size``: how many values make a supershingle; more are stricter.
    ``family``: hash functions: "fast", or "classic" for (Ax + B) mod p.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as the same word.
    """

    variant: str = "henzinger"
    threshold: float = 0.0
    words: int = 8
    permutations: int = 84
    size: int = 14
    family: str = "fast"
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "supershingles"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def __post_init__(self) -> None:
        most = minhash.MOST_VALUES
        require_one_of(VARIANTS, self, "variant")
        require_one_of(minhash.FAMILIES, self, "family")
        require(1 <= self.words <= _native.MOST_SHINGLE_WORDS, self, "words", "from 1 to 32")
        require(8 <= self.permutations <= most, self, "permutations", f"from 8 to {most}")
        require(1 <= self.size <= self.permutations, self, "size", "from 1 to permutations")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        if self.variant == "henzinger":
            whole = self.permutations % self.size == 0 and self.count > 1
            require(whole, self, "size", f"a part of {self.permutations} permutations")
        if not self.threshold:
            object.__setattr__(self, "threshold", self._usual_threshold())
        threshold_fraction(self.threshold)

    @functools.cached_property
    def count(self) -> int:
        """The number of supershingles of a document."""
        if self.variant == "henzinger":
            return self.permutations // self.size
        return self.permutations - self.size + 1

    def _usual_threshold(self) -> float:
        """The variant's own threshold, rounded down to six decimals, so that exactly the required
        number of supershingles reaches it."""
        parts = 10**MOST_DECIMALS
        return float(VARIANTS[self.variant] * parts // self.count / parts)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def needed(self) -> int:
        return math.ceil(self.fraction * self.count)

    @property
    def reason(self) -> str:
        return f"{self.needed} of {self.count} supershingles equal"

    @property
    def score_meaning(self) -> str:
        return f"share of the {self.count} supershingles that are equal"

    def resolved(self) -> dict[str, object]:
        keys = "pairs" if self._paired else "supershingles"
        return {
            "supershingles": self.count,
            "needed": self.needed,
            "keys": keys,
            "miss_rate": self.miss_rate,
        }

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, self.text)
        nothing = np.empty(0, np.uint64)
        of = (self.words, nothing, self.family, self.permutations)
        minima, shingles = minhash.minima(reading.words, *of)
        rows = self.supershingles(minima)
        keys = self._keys(rows)
        short = reading.shorter_than(self.min_words) | (shingles == 0)
        probes = np.full(len(rows), keys.shape[1])
        evidence = np.sort(rows, axis=1)
        return prepared(reading, _ragged(evidence), _ragged(keys), probes, short)

    def supershingles(self, minima: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint64]:
        """One row for each document; disjoint groups have their number mixed in."""
        if self.variant == "broder":
            windows = sliding_window_view(np.sort(minima, axis=1), self.size, axis=1)
            return _hashed(windows, np.zeros(self.count, np.uint64))
        groups = minima.reshape(len(minima), self.count, self.size)
        return _hashed(groups, np.arange(self.count, dtype=np.uint64))

    @property
    def _paired(self) -> bool:
        return self.variant == "henzinger" and self.needed > 1 and self.count <= MOST_PAIRED

    def _keys(self, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        """If e of g supershingles are equal, then two of any g − e + 2 are equal, and one of
        any g − e + 1. Documents that share a single one do not share a key of two."""
        if not self._paired:
            first = int(prefix_sizes("max", self.fraction, np.array([self.count]))[0])
            return _mixed(np.sort(rows, axis=1)[:, :first] ^ _SINGLE)
        some = self.count - self.needed + 2
        pairs = list(itertools.combinations(range(some), 2))
        keys = np.empty((len(rows), len(pairs)), np.uint64)
        for k, (i, j) in enumerate(pairs):
            keys[:, k] = _mixed(rows[:, i] * _PAIR ^ rows[:, j])
        return keys

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The share of equal supershingles. Evidence of short documents has a different size."""
        equal = _native.common_values(evidence.values, evidence.offsets, a, b)
        sizes = np.maximum(evidence.lengths[a], evidence.lengths[b])
        return minhash.shares(equal, sizes, self.fraction)


def _ragged(rows: Array) -> Ragged:
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int64) * width
    return Ragged(np.ascontiguousarray(rows).reshape(-1), offsets)


def _hashed(values: Array, seeds: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The values along the last axis, in order, hashed into one number."""
    total = np.broadcast_to(_mixed(seeds ^ _SALTS[0]), values.shape[:-1])
    for k in range(values.shape[-1]):
        total = _mixed(total ^ values[..., k])
    return np.ascontiguousarray(total)


def _mixed(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64 bits; its constants are those of ``native/hash.hpp``."""
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)
