"""Exact set-similarity join: finds every pair at or above the threshold, by any of five measures.

The keys of a set are a prefix of its features, rarest first (Chaudhuri et al. 2006, Bayardo et al.
2007); unique features are no keys. The comparison of two sets ends early if their sizes differ too
much, or as soon as they cannot reach the threshold any more, so the join is complete. With
``every`` or ``most`` the sets are selections of the features, as in sif (Manber 1994) and in
Heintze's selective fingerprints (1996); the join is complete on these.
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
from neardup.features import chunks
from neardup.features.qgrams import check_characters_only, qgram_sets
from neardup.methods.base import Method, PairScorer, Prepared, Scores
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.parameters import require, require_one_of, threshold_fraction
from neardup.methods.preparation import prepared, read_words
from neardup.methods.set_measures import (
    MEASURES,
    own_set_keys,
    pair_scorer,
    rare_set_keys,
    set_scores,
    whole_set_score,
)
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

# Words or characters in a feature.
SIZES = {
    "shingles": 5,
    "words": 1,
    "qgrams": 4,
    "windows": 50,
    "sentences": 1,
    "pauses": 1,
    "skips": 3,
    "sentence_shingles": 3,
}
SINGLE = ("words", "sentences", "pauses")
OF_CHARACTERS = ("qgrams", "windows")
WHAT = {
    "sentences": "whole sentences",
    "pauses": "the words between two pause marks",
    "skips": "{} words with one left out between two",
    "sentence_shingles": "{}-word runs within sentences",
}
OTHER_NAMES = {"overlap": "containment"}
MOST_SIZE = _native.MOST_SHINGLE_WORDS
LARGEST_WINDOW = 1000


@dataclass(frozen=True)
class Join(Method):
    """All pairs of sets at the threshold, none missed, for any of five measures.

    ``features``: "shingles" (words in a row), "words" or "qgrams" (characters in a row); "windows"
    (many characters), "sentences", "pauses" (what stands between pause marks), "skips" (words with
    one left out between two) or "sentence_shingles" (words in a row within a sentence).
    ``size``: how many words or characters make a feature; 5 for shingles, 4 for q-grams.
    ``every``: one feature in so many is compared, chosen by its hash; 1 for all.
    ``most``: the most features of a document, those of smallest hash; 0 for no limit.
    ``measure``: "jaccard", "dice", "cosine", "max" or "containment", also called "overlap".
    ``threshold``: the value of the measure from which two documents are duplicates.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as the same word.
    """

    features: str = "shingles"
    size: int | None = None
    measure: str = "jaccard"
    threshold: float = 0.8
    every: int = 1
    most: int = 0
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "join"
    added: ClassVar[tuple[str, ...]] = ("every", "most")
    groups_choose: ClassVar[bool] = True
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        require_one_of(SIZES, self, "features")
        object.__setattr__(self, "measure", OTHER_NAMES.get(self.measure, self.measure))
        require_one_of(MEASURES, self, "measure")
        most = LARGEST_WINDOW if self.features == "windows" else MOST_SIZE
        most = 1 if self.features in SINGLE else most
        expected = f"from 1 to {most}" if most > 1 else "1, or features='shingles'"
        require(1 <= self.width <= most, self, "size", expected)
        require(1 <= self.every < 1 << 32, self, "every", "from 1 to 4294967295")
        require(self.most >= 0, self, "most", "0 or more")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        if self.features in OF_CHARACTERS:
            check_characters_only(self.text, self.name)
        threshold_fraction(self.threshold)

    @property
    def width(self) -> int:
        return SIZES[self.features] if self.size is None else self.size

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"{self.measure} >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        unit = "character" if self.features in OF_CHARACTERS else "word"
        what = WHAT.get(self.features, f"{{}}-{unit} runs").format(self.width)
        selected = ", a selection of them" * (self.every > 1 or self.most > 0)
        return f"{self.measure} of the sets of {what}{selected}"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "prefix", "size": self.width, "miss_rate": 0.0}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        whole = self.every == 1 and not self.most
        if self.features in ("shingles", "words") and whole:
            return self._of_words(batch)
        reading = read_words(batch, self.text)
        sets = self._sets(Ragged.of_strings(batch.column("text")), reading.words)
        short = reading.shorter_than(self.min_words) | (sets.lengths == 0)
        return prepared(reading, sets, *self._own_keys(sets), short)

    def _sets(self, texts: Ragged, words: Ragged) -> Ragged:
        if self.features == "windows":  # which are selected with their places
            sets = chunks.window_sets(texts, self.width, self.every, self.text)
            return chunks.selected(sets, 1, self.most)
        return chunks.selected(self._all(texts, words), self.every, self.most)

    def _all(self, texts: Ragged, words: Ragged) -> Ragged:
        match self.features:
            case "qgrams":
                return qgram_sets(texts, self.width, self.text).features
            case "sentences":
                return chunks.sentence_sets(texts, self.text)
            case "pauses":
                return chunks.pause_sets(texts, self.text)
            case "skips":
                return chunks.skip_sets(texts, self.width, self.text)
            case "sentence_shingles":
                return chunks.sentence_shingle_sets(texts, self.width, self.text)
        return chunks.shingle_sets(words, self.width)

    def _of_words(self, batch: pa.RecordBatch) -> Prepared:
        """Uses the kernel of ``shingles`` for sets and digests; the keys depend on the measure."""
        texts = Ragged.of_strings(batch.column("text"))
        columns = _native.prepare_shingles(
            texts.values,
            texts.offsets,
            self.text.native(),
            word_map(texts.values, texts.offsets, self.text),
            self.width,
            self.min_words,
            "prefix",
            multipliers=np.empty(0, np.uint32),
            bands=0,
            rows=0,
            threshold_num=1,
            threshold_den=1,
            ignored=np.empty(0, np.uint64),
        )
        evidence = Ragged(columns["features"], columns["feature_offsets"])
        keys, probes = self._own_keys(evidence)
        return Prepared(
            keys=keys,
            probes=probes,
            evidence=evidence,
            digests=columns["set_digests"].reshape(-1, 2),
            text_digests=columns["text_digests"],
            normal_digests=columns["normal_digests"],
            flags=columns["too_short"],
        )

    def _own_keys(self, evidence: Ragged) -> tuple[Ragged, Array]:
        return own_set_keys(self.measure, self.fraction, evidence)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        return set_scores(self.measure, self.fraction, evidence, a, b)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return whole_set_score(self.measure, evidence, a, b)

    def pair_scorer(self) -> PairScorer | None:
        return pair_scorer(self.measure, self.fraction)

    @property
    def meeting(self) -> Meeting:
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        return rare_set_keys(self.measure, self.fraction, evidence, rarity)
