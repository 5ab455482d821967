"""Character q-grams (Montanari & Puglisi 2012): for flows of short news, in any script.

The score is ``doc_q = |A∩B| / max(|A|, |B|)`` on the distinct q-grams of the normal form, always
exact. A score of 1 means equal sets of q-grams, not equal texts. Q-grams are so common that with
the prefix filter, which is complete, most documents of a language meet. An engine with all evidence
therefore finds pairs by paths (``matching/paths.py``), an index by a bitmap window
(``matching/window.py``). The keys of a single document are MinHash bands: ``doc_q ≥ t`` implies a
resemblance of at least ``t / (2 − t)``.

If one set has less than t of the size of the other, ``|A∩B| ≥ t·max(|A|, |B|)`` cannot hold. Sizes
are therefore divided into classes such that the partner of a set is in the same class or the next.
Each set has its band keys under the number of its class and of the next one, so only sets of
similar size share a key.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.features.qgrams import MOST_CHARACTERS, check_characters_only, qgram_sets
from neardup.methods import minhash
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.meeting import (
    SPREAD,
    Meeting,
    RarePrefix,
    Rarity,
    SharedKeys,
    SharedPaths,
    SharedWindow,
)
from neardup.methods.parameters import require, require_one_of, threshold_fraction
from neardup.methods.preparation import no_keys, prepared, read_words
from neardup.methods.set_measures import own_set_keys, rare_set_keys, set_scores, whole_set_score
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text


def sized_keys(keys: Ragged, sizes: Array, t: Fraction) -> tuple[Ragged, Array]:
    """Band keys under the class of the size and the next one: twice as many, and all search."""
    classes = np.repeat(size_classes(sizes, t), keys.lengths)
    both = np.stack([_mixed(keys.values, classes), _mixed(keys.values, classes + 1)], axis=1)
    return Ragged(both.reshape(-1), keys.offsets * 2), keys.lengths * 2


def size_classes(sizes: Array, t: Fraction) -> Array:
    if t == 1 or not len(sizes):
        return sizes
    return np.searchsorted(_edges(t, int(sizes.max()).bit_length()), sizes, side="right")


@lru_cache(maxsize=64)
def _edges(t: Fraction, bits: int) -> npt.NDArray[np.int64]:
    """The first size of each class. A class ends at the largest size that its first size can match,
    so the partners of every size in a class are before the end of the next class."""
    edges = [1]
    while edges[-1] < 1 << bits:
        edges.append(edges[-1] * t.denominator // t.numerator + 1)
    return np.array(edges, np.int64)


def _mixed(keys: npt.NDArray[np.uint64], classes: Array) -> npt.NDArray[np.uint64]:
    mixed: npt.NDArray[np.uint64] = keys ^ (classes.astype(np.uint64) + np.uint64(1)) * SPREAD
    return mixed


MEASURE = "max"
KEYS = ("auto", "bands", "prefix")


@dataclass(frozen=True)
class Qgrams(Method):
    """Sets of character q-grams; small edits inside words cost little, in any script.

    ``q``: how many characters make a q-gram; more are stricter.
    ``threshold``: the share of the larger set from which two documents are duplicates.
    ``keys``: "auto" (paths; in an index a bitmap window), "bands" (MinHash) or "prefix" (complete).
    ``permutations``: MinHash values a document, for bands; more allow stricter ones.
    ``miss_rate_limit``: how many pairs at the threshold may be missed; a prefix join misses none.
    ``min_chars``: documents with fewer characters are duplicates only of equal ones.
    ``text``: what counts as the same character.
    """

    q: int = 4
    threshold: float = 0.8
    keys: str = "auto"
    permutations: int = 1400
    miss_rate_limit: float = 0.001
    min_chars: int = 20
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "qgrams"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        require(1 <= self.q <= MOST_CHARACTERS, self, "q", f"from 1 to {MOST_CHARACTERS}")
        require(self.min_chars >= 0, self, "min_chars", "0 or more")
        require_one_of(KEYS, self, "keys")
        require(8 <= self.permutations <= minhash.MOST_VALUES, self, "permutations", "8 to 4096")
        require(0 < self.miss_rate_limit < 1, self, "miss_rate_limit", "between 0 and 1")
        check_characters_only(self.text, self.name)
        threshold_fraction(self.threshold)
        served = self.keys != "bands" or self.bands is not None
        require(served, self, "keys", f"'auto' or 'prefix': no bands serve {self.threshold}")

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @functools.cached_property
    def bands(self) -> minhash.Bands | None:
        """The bands of keys; None if the prefix filter is used. |A∪B| ≤ 2m − tm if |A∩B| ≥ tm,
        where m is the larger size."""
        if self.keys == "prefix":
            return None
        return minhash.choose_bands(self._resemblance, self.permutations, self.miss_rate_limit)

    @property
    def _resemblance(self) -> float:
        return self.threshold / (2 - self.threshold)

    @property
    def meeting(self) -> Meeting:
        arrival = SharedWindow(self.fraction) if self.keys == "auto" else SharedKeys()
        if self._by_paths:
            paths = SharedPaths(self.fraction, self.miss_rate_limit, self.rare_keys)
            return Meeting(paths, arrival)
        bands = SharedKeys(rare_keys=self.rare_keys)
        return Meeting(bands if self.bands else RarePrefix(self.rare_keys), arrival)

    @property
    def _by_paths(self) -> bool:
        return self.keys == "auto" and self.bands is not None

    @property
    def miss_rate(self) -> float:
        """An upper bound: the worst case for bands is sets of equal size, for paths it is long
        paths."""
        if self._by_paths:
            return self.miss_rate_limit
        return self.bands.miss_rate(self._resemblance) if self.bands else 0.0

    @property
    def reason(self) -> str:
        return f"doc_{self.q} >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        return f"share of the larger set of {self.q}-grams of characters"

    def resolved(self) -> dict[str, object]:
        if self._by_paths:
            return {"scheme": "paths", "miss_rate": self.miss_rate}
        bands = {"scheme": "bands", **self.bands._asdict()} if self.bands else {"scheme": "prefix"}
        return {**bands, "miss_rate": self.miss_rate}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        return self._prepared(batch, self._own_keys)

    def prepare_evidence(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
        return self._prepared(batch, no_keys)

    def _prepared(
        self, batch: pa.RecordBatch, keys_of: Callable[[Ragged], tuple[Ragged, Array]]
    ) -> Prepared:
        texts = Ragged.of_strings(batch.column("text"))
        least = max(self.min_chars, self.q)
        sets = qgram_sets(texts, self.q, self.text, least)
        short = sets.characters < least
        reading = read_words(batch, self.text, hashes=False)
        return prepared(reading, sets.features, *keys_of(sets.features), short)

    def _own_keys(self, sets: Ragged) -> tuple[Ragged, Array]:
        if self.bands:
            return sized_keys(minhash.band_keys(sets, self.bands)[0], sets.lengths, self.fraction)
        return own_set_keys(MEASURE, self.fraction, sets)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        return set_scores(MEASURE, self.fraction, evidence, a, b)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return whole_set_score(MEASURE, evidence, a, b)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        return rare_set_keys(MEASURE, self.fraction, evidence, rarity)
