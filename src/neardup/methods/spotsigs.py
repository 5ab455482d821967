"""Spot signatures (Theobald, Siddharth & Paepcke 2008): pages that carry the same running text.

A document is the multiset of its spots (``features/spots.py``). Two documents are duplicates if
``Σmin / Σmax`` of the counts of their spots reaches the threshold. If every occurrence is a
separate element of the set, this is the Jaccard measure, so the prefix filter of all set methods is
exact. The partitions by length of the paper correspond to its length filter: sets of too different
sizes are not compared.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.features.spots import (
    AUTO,
    antecedent_hashes,
    checked_antecedents,
    spot_sets,
    spot_text,
)
from neardup.methods.base import Method, PairScorer, Prepared, Scores
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.overlap import (
    own_set_keys,
    pair_scorer,
    rare_set_keys,
    set_scores,
    whole_set_score,
)
from neardup.methods.parameters import require, threshold_fraction
from neardup.methods.preparation import prepared, read_words
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

MEASURE = "jaccard"
MOST_STEPS = 32


@dataclass(frozen=True)
class SpotSigs(Method):
    """Stop words with the content words after them; what has no running text is not compared.

    ``antecedents``: words that begin a spot: "auto", a language (or several, with commas), or the
    words themselves.
    ``distance``: how many content words to go on for each word of a spot.
    ``chain``: how many words a spot has after its antecedent.
    ``threshold``: the share Σmin / Σmax from which two documents are duplicates.
    ``min_spots``: documents with fewer spots are duplicates only of equal ones.
    ``text``: what counts as the same word; its stop words are skipped as antecedents are.
    """

    antecedents: tuple[str, ...] | str = AUTO
    distance: int = 1
    chain: int = 2
    threshold: float = 0.44
    min_spots: int = 8
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "spotsigs"
    groups_choose: ClassVar[bool] = True
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "antecedents", checked_antecedents(self.antecedents))
        require(1 <= self.distance <= MOST_STEPS, self, "distance", f"from 1 to {MOST_STEPS}")
        require(1 <= self.chain <= MOST_STEPS, self, "chain", f"from 1 to {MOST_STEPS}")
        require(self.min_spots >= 0, self, "min_spots", "0 or more")
        threshold_fraction(self.threshold)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"spots >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        return "resemblance of the sets of spots"

    def resolved(self) -> dict[str, object]:
        count = len(antecedent_hashes(self.antecedents, self.text))
        return {"scheme": "prefix", "antecedents": count, "miss_rate": 0.0}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, spot_text(self.antecedents, self.text))
        begins = antecedent_hashes(self.antecedents, self.text)
        sets = spot_sets(reading.words, begins, self.distance, self.chain)
        keys, probes = own_set_keys(MEASURE, self.fraction, sets)
        return prepared(reading, sets, keys, probes, sets.lengths < max(self.min_spots, 1))

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        return set_scores(MEASURE, self.fraction, evidence, a, b)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return whole_set_score(MEASURE, evidence, a, b)

    def pair_scorer(self) -> PairScorer | None:
        return pair_scorer(MEASURE, self.fraction)

    @property
    def meeting(self) -> Meeting:
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        return rare_set_keys(MEASURE, self.fraction, evidence, rarity)
