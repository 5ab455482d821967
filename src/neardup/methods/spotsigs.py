"""Spot signatures (Theobald, Siddharth & Paepcke 2008): pages that carry the same running text.

A document is the multiset of its spots (``methods/spotsigs.py``). Two documents are duplicates if
``Σmin / Σmax`` of the counts of their spots reaches the threshold. If every occurrence is a
separate element of the set, this is the Jaccard measure, so the prefix filter of all set methods is
exact. The partitions by length of the paper correspond to its length filter: sets of too different
sizes are not compared.

Spot signatures: a stop word and content words that follow it (Theobald et al. 2008).

An antecedent is a stop word at which spots begin. A spot consists of an antecedent and ``chain``
content words, each ``distance`` content words after the one before; antecedents and stop words are
skipped. If the text ends earlier, there is no spot. Navigation, headlines and lists have few stop
words and therefore few spots, so the comparison is based on running text.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.errors import SettingsError
from neardup.methods.base import Method, PairScorer, Prepared, Scores
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.parameters import require, threshold_fraction
from neardup.methods.preparation import prepared, read_words
from neardup.methods.set_measures import (
    own_set_keys,
    pair_scorer,
    rare_set_keys,
    set_scores,
    whole_set_score,
)
from neardup.schema import Array, Ragged
from neardup.text.text_options import STOP_WORDS, Text, language
from neardup.text.words import buffers, words

AUTO = "auto"
Antecedents = tuple[str, ...] | str


def checked_antecedents(value: object) -> Antecedents:
    """``value`` is "auto", names of languages separated by commas, or the words themselves."""
    if isinstance(value, str):
        names = [AUTO if name.strip() == AUTO else language(name) for name in value.split(",")]
        unknown = [name for name in names if name != AUTO and name not in STOP_WORDS]
        if not unknown:
            return ",".join(names)
        raise SettingsError(
            f"There is no list of antecedents for {unknown[0]!r}.",
            hint=f"the lists are {', '.join(sorted(STOP_WORDS))}; or give the words as a list.",
        )
    if isinstance(value, tuple | list | set | frozenset) and value:
        listed = sorted(value) if isinstance(value, set | frozenset) else value
        if all(isinstance(word, str) for word in listed):
            return tuple(listed)
    raise SettingsError(
        f"Antecedents are {value!r}; expected a language or words.",
        hint="for example antecedents='german' or antecedents=('the', 'is', 'a').",
    )


@lru_cache(maxsize=64)
def antecedent_words(antecedents: Antecedents, text: Text) -> frozenset[str]:
    """The antecedents, tokenized, normalised and stemmed like the texts."""
    if not isinstance(antecedents, str):
        listed = list(antecedents)
    else:
        names = STOP_WORDS if AUTO in antecedents.split(",") else antecedents.split(",")
        listed = [word for name in names for word in STOP_WORDS[name]]
    return frozenset(words(" ".join(listed), replace(text, stop_words=())))


@lru_cache(maxsize=64)
def antecedent_hashes(antecedents: Antecedents, text: Text) -> npt.NDArray[np.uint64]:
    return np.sort(_native.hash_words(*buffers(antecedent_words(antecedents, text))))


@lru_cache(maxsize=64)
def spot_text(antecedents: Antecedents, text: Text) -> Text:
    """The text options without those stop words that are antecedents: these must stay in the text
    to begin spots, and are skipped as content words anyway."""
    if not text.stop_words:
        return text
    listed = STOP_WORDS[text.stop_words] if isinstance(text.stop_words, str) else text.stop_words
    all_words = replace(text, stop_words=())
    unstemmed = replace(all_words, stem=None)
    begins = antecedent_words(antecedents, text)
    tokens = [word for entry in listed for word in words(entry, unstemmed)]
    skipped = tuple(word for word in tokens if not begins.intersection(words(word, all_words)))
    return replace(text, stop_words=skipped)


def spot_sets(
    hashes: Ragged, antecedents: npt.NDArray[np.uint64], distance: int, chain: int
) -> Ragged:
    """Multisets of spots as sets of 32-bit features: the n-th occurrence of a spot in a text is a
    feature of its own."""
    return Ragged(*_native.spot_sets(hashes.values, hashes.offsets, antecedents, distance, chain))


def spots(
    text: str,
    antecedents: Antecedents = AUTO,
    *,
    distance: int = 1,
    chain: int = 2,
    options: Text | None = None,
) -> list[str]:
    """The spots of a text in order, as ``antecedent:word:word``."""
    antecedents, options = checked_antecedents(antecedents), options or Text()
    begins = antecedent_words(antecedents, options)
    content: list[str] = []
    occurrences = []  # antecedents, each with the number of content words before it
    for word in words(text, spot_text(antecedents, options)):
        if word in begins:
            occurrences.append((word, len(content)))
        else:
            content.append(word)
    reach = distance * chain
    return [
        ":".join([word, *content[before + distance - 1 : before + reach : distance]])
        for word, before in occurrences
        if before + reach <= len(content)
    ]


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
