"""Word w-shingles: resemblance and containment (Broder 1997; Williams & Giles; the lecture).

Resemblance is ``r = |A∩B| / |A∪B|`` of two sets of w-word shingles; containment is
``|A∩B| / min(|A|, |B|)``, the share of the shorter document that the longer one contains. Keys are
MinHash bands if they serve the threshold, otherwise the first features of the sorted set (prefix
filter), which miss no pair. Every pair that meets is scored on the full sets of 32-bit features,
whose error is stated in ``native/features/shingles.hpp``. With ``sampling``, a sample represents
the set, as in the papers (``methods/minhash.py``); with ``weights``, rare shingles count more
(``methods/weighted_sets.py``).

The sets exclude boilerplate and, with ``clip``, the shingles that more than a share or a number of
the documents have (Montanari & Puglisi, §6); the counts are an artefact. In a small collection a
share could be less than the copies of one text, so it means at least 20 documents. A document with
fewer remaining shingles than the shortest comparable text is a duplicate only of an equal one,
because two of three common shingles would be no evidence.

With ``fields``, shingles of other columns are in the set too, those of a column of weight w as w
features each (Williams & Giles §5: titles and authors weigh more than the text).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefact, Artefacts, Need
from neardup.artefacts.boilerplate import AUTO, BoilerplateNeed
from neardup.artefacts.frequencies import MOST_COUNT, Frequencies, FrequencyNeed, Grams
from neardup.errors import SettingsError
from neardup.features.chunks import shingle_sets, united
from neardup.methods import minhash, weighted_sets
from neardup.methods.base import Method, PairScorer, Prepared, PreparedText, Scores, TextReader
from neardup.methods.meeting import Meeting, Rarity, by_keys, by_rare_prefix
from neardup.methods.parameters import (
    boilerplate_texts,
    require,
    require_one_of,
    threshold_fraction,
    weighted_fields,
)
from neardup.methods.preparation import field_texts, least_features, prepared, read_words
from neardup.methods.set_measures import (
    NO_COUNTS,
    pair_scorer,
    rare_set_keys,
    set_scores,
    whole_set_score,
)
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text
from neardup.text.words import word_map

FEWEST = 20
MOST_FIELDS = 64
FIELD_SALT = np.uint32(0x9E3779B1)


def check(method: Shingles) -> None:
    if method.fields and (method.sampling != "none" or method.weights != "none" or method.clip):
        raise SettingsError(
            "shingles: fields are for whole sets in which every shingle counts the same.",
            hint="leave sampling, weights and clip as they are by default.",
        )
    if method.clip and (method.sampling != "none" or method.keys == "bands"):
        raise SettingsError(
            "shingles: clip is for whole sets, joined completely.",
            hint="leave sampling and keys as they are by default.",
        )


def most_documents(clip: float, documents: int) -> int:
    """The largest number of documents that may have a shingle which still counts."""
    most = int(clip) if clip >= 1 else max(int(clip * documents), FEWEST)
    return min(most, MOST_COUNT - 1)  # counts end there


def clipped(sets: Ragged, table: Frequencies, clip: float) -> Ragged:
    left = table.counts_of(sets.values) <= most_documents(clip, table.documents)
    ends = np.concatenate([[0], np.cumsum(left)])[sets.offsets]
    return Ragged(sets.values[left], offsets_of(np.diff(ends)))


def prepare(method: Shingles, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
    reading = read_words(batch, method.text)
    words = reading.words
    sets = _native.sample_features(words.values, words.offsets, method.words, method.ignored, 1, 0)
    evidence = _left(method, Ragged(*sets), artefacts.get("frequencies"))
    for number, (name, weight) in enumerate(method.fields, 1):
        evidence = _with_field(method, evidence, batch.column(name), number, weight)
    few = evidence.lengths < least_features(method.min_words, method.words)
    keys, probes = _own_keys(method, evidence)
    return prepared(reading, evidence, keys, probes, reading.shorter_than(method.min_words) | few)


def _with_field(
    method: Shingles, sets: Ragged, column: pa.Array, number: int, weight: int
) -> Ragged:
    """The sets with the shingles of a column, each of them ``weight`` times. Copy c of a feature of
    field n is mixed with n and c, so that it equals that copy in that field only."""
    found = shingle_sets(method._words(field_texts(column)), method.words)
    salts = (np.arange(1, weight + 1) * MOST_FIELDS + number).astype(np.uint32) * FIELD_SALT
    features = (found.values[:, None] ^ salts).reshape(-1)
    owner = np.repeat(np.arange(len(found)), found.lengths * weight)
    both = Ragged.concat([sets, Ragged(features, found.offsets * weight)], np.uint32)
    rows = np.concatenate([np.repeat(np.arange(len(sets)), sets.lengths), owner])
    return united(both.values, rows, len(sets))


def _left(method: Shingles, sets: Ragged, table: Artefact | None) -> Ragged:
    if not isinstance(table, Frequencies):
        return sets
    left = clipped(sets, table, method.clip) if method.clip else sets
    return left if method.weights == "none" else table.weighted(left)


def _own_keys(method: Shingles, evidence: Ragged) -> tuple[Ragged, Array]:
    if method.bands:
        return minhash.band_keys(evidence, method.bands)
    return method.rare_keys(evidence, Rarity(NO_COUNTS))


MEASURES = ("resemblance", "containment")
KEYS = ("auto", "bands", "prefix", "all")


@dataclass(frozen=True)
class Shingles(Method):
    """Sets of word shingles; the defaults find copies with small edits.

    ``words``: how many words make a shingle; more are stricter.
    ``threshold``: the share from which two documents are duplicates.
    ``measure``: "resemblance", or "containment" for excerpts in longer documents.
    ``permutations``: MinHash values a document; more allow stricter bands.
    ``miss_rate_limit``: how many pairs at the threshold may be missed; a prefix join misses none.
    ``keys``: "auto", "bands" (MinHash) or "prefix" (complete); "all" for every value of a sample.
    ``weights``: "none", or "idf": a shingle counts by its rarity in the collection.
    ``frequencies``: the file of a run's frequencies for weights "idf", or general; else counted.
    ``sampling``: "none" compares whole sets; "minima", "mod" and "bottom" compare sketches.
    ``family``: hash functions of "minima": "fast", or "classic" for (Ax + B) mod p.
    ``modulus``: one of so many features is in a "mod" sample.
    ``sample_limit``: the most features in a "mod" or "bottom" sample; 0 for no limit.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``clip``: what more documents have is ignored: a share such as 0.05, or a number; 0 for none.
    ``fields``: columns whose shingles count beside those of the text, each with its weight.
    ``boilerplate``: texts whose shingles are ignored, the file of a run's boilerplate, or "auto",
    which stands for the passages that sources repeat.
    ``text``: what counts as the same word.
    """

    words: int = 5
    threshold: float = 0.8
    measure: str = "resemblance"
    permutations: int = 128
    miss_rate_limit: float = 0.001
    keys: str = "auto"
    weights: str = "none"
    frequencies: str | None = None
    sampling: str = "none"
    family: str = "fast"
    modulus: int = 25
    sample_limit: int = 400
    min_words: int = 15
    clip: float = 0.0
    fields: tuple[tuple[str, int], ...] = ()
    boilerplate: tuple[str, ...] | str = ()
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "shingles"
    added: ClassVar[tuple[str, ...]] = ("fields",)
    groups_choose: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(1 <= self.words <= _native.MOST_SHINGLE_WORDS, self, "words", "from 1 to 32")
        require_one_of(MEASURES, self, "measure")
        require_one_of(KEYS, self, "keys")
        require(
            8 <= self.permutations <= minhash.MOST_VALUES, self, "permutations", "from 8 to 4096"
        )
        require(0 < self.miss_rate_limit < 1, self, "miss_rate_limit", "between 0 and 1")
        require_one_of(minhash.SAMPLINGS, self, "sampling")
        require_one_of(minhash.FAMILIES, self, "family")
        require_one_of(weighted_sets.WEIGHTS, self, "weights")
        require(1 <= self.modulus < 1 << 32, self, "modulus", "from 1 to 4294967295")
        require(self.sample_limit >= 0, self, "sample_limit", "0 or more")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        threshold_fraction(self.threshold)
        require(
            0 <= self.clip < 1 or (self.clip >= 2 and self.clip == int(self.clip)),
            self,
            "clip",
            "a share below 1, or a number of documents from 2 on",
        )
        object.__setattr__(self, "boilerplate", boilerplate_texts(self.boilerplate, self.name))
        object.__setattr__(self, "fields", weighted_fields(self.fields, self.name))
        require(len(self.fields) < MOST_FIELDS, self, "fields", f"fewer than {MOST_FIELDS}")
        minhash.check(self)
        weighted_sets.check(self)
        check(self)
        if self.keys == "bands" and self.bands is None:
            raise SettingsError(
                f"keys='bands' cannot serve {self.measure} ≥ {self.threshold} "
                f"with a miss rate of {self.miss_rate_limit}.",
                hint="leave keys='auto', which takes a prefix join there.",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.fields)

    @property
    def needs(self) -> tuple[Need, ...]:
        counts = FrequencyNeed(self.frequencies, Grams(self.words), self.text)
        counted = (counts,) if self.weights != "none" or self.clip else ()
        return (*counted, *self._boilerplate_need)

    @property
    def asks_boilerplate(self) -> bool:
        return self.boilerplate == AUTO

    @property
    def _boilerplate_need(self) -> tuple[BoilerplateNeed, ...]:
        need = BoilerplateNeed(self.boilerplate, self.words, self.text)
        return (need,) if self.boilerplate else ()

    @property
    def evidence_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.uint32 if self.weights == "none" else np.uint64)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @functools.cached_property
    def bands(self) -> minhash.Bands | None:
        """The bands of keys; None if a prefix join is used: for containment, low thresholds,
        samples, weights, clipped sets, or on request."""
        whole = self.measure == "resemblance" and self.weights == "none" and not self.sampled
        if self.keys == "prefix" or self.clip or not whole:
            return None
        return minhash.choose_bands(self.threshold, self.permutations, self.miss_rate_limit)

    @property
    def sampled(self) -> bool:
        return self.sampling != "none"

    @functools.cached_property
    def ignored(self) -> Array:
        """The shingle hashes of the boilerplate, sorted."""
        needed = self._boilerplate_need
        return needed[0].ready().hashes if needed else np.empty(0, np.uint64)

    def _words(self, texts: Ragged) -> Ragged:
        words = word_map(texts.values, texts.offsets, self.text)
        options = self.text.native()
        return Ragged(*_native.word_hashes(texts.values, texts.offsets, options, words))

    @property
    def reason(self) -> str:
        how = "estimated " * self.sampled + "weighted " * (self.weights != "none")
        return f"{how}{self.measure} >= {self.threshold:g}"

    @property
    def scheme(self) -> str:
        if self.bands:
            return "bands"
        if self.keys == "all":
            return "all"
        return "containment" if self.measure == "containment" else "prefix"

    @property
    def miss_rate(self) -> float:
        return self.bands.miss_rate(self.threshold) if self.bands else 0.0

    @property
    def score_meaning(self) -> str:
        """A description of the sets, if they are not all shingles of the text."""
        how = [
            "estimated from a sample" * self.sampled,
            "rare ones count for more" * (self.weights != "none"),
            "common ones left out" * bool(self.clip),
            "boilerplate left out" * bool(self.boilerplate),
            f"those of {', '.join(self.columns)} included" * bool(self.fields),
        ]
        return ", ".join([f"{self.measure} of {self.words}-word shingles", *filter(None, how)])

    def resolved(self) -> dict[str, object]:
        bands = self.bands._asdict() if self.bands else {}
        error = minhash.standard_error(self)
        sketch = {} if error is None else {"standard_error": error}
        return {"scheme": self.scheme, **bands, **sketch, "miss_rate": self.miss_rate}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        if self.sampled:
            return minhash.prepare(self, batch)
        if self.clip or self.boilerplate or self.fields:
            return prepare(self, batch, artefacts)
        if self.weights != "none":
            return weighted_sets.prepare(self, batch, artefacts)
        texts = Ragged.of_strings(batch.column("text"))
        words = word_map(texts.values, texts.offsets, self.text)
        columns = _native.prepare_shingles(texts.values, texts.offsets, *self._kernel(words))
        return Prepared(
            keys=Ragged(columns["keys"], columns["key_offsets"]),
            probes=columns["probes"],
            evidence=Ragged(columns["features"], columns["feature_offsets"]),
            digests=columns["set_digests"].reshape(-1, 2),
            text_digests=columns["text_digests"],
            normal_digests=columns["normal_digests"],
            flags=columns["too_short"],
        )

    def _kernel(self, words: _native.WordMap | None) -> tuple[Any, ...]:
        """The arguments of the kernels."""
        bands = self.bands or minhash.Bands(0, 0)
        return (
            self.text.native(),
            words,
            self.words,
            self.min_words,
            self.scheme,
            minhash.multipliers(bands.values),
            bands.bands,
            bands.rows,
            self.fraction.numerator,
            self.fraction.denominator,
            self.ignored,
        )

    def reader(self, artefacts: Artefacts) -> TextReader | None:
        beside = self.clip or self.fields
        if self.sampled or self.weights != "none" or self.text.stem is not None or beside:
            return None
        words = word_map(np.empty(0, np.uint8), np.zeros(1, np.int64), self.text)
        read = _native.ShingleReader(*self._kernel(words)).read
        return lambda text: PreparedText._make(read(text))

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        if self.sampled:
            return minhash.score(self, evidence, a, b)
        if self.weights != "none":
            return weighted_sets.score(self, evidence, a, b)
        return set_scores(self.set_measure, self.fraction, evidence, a, b)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        if self.sampled:
            return minhash.whole_score(self, evidence, a, b)
        if self.weights != "none":
            return weighted_sets.score(self, evidence, a, b).score
        return whole_set_score(self.set_measure, evidence, a, b)

    def pair_scorer(self) -> PairScorer | None:
        plain = not self.sampled and self.weights == "none"
        return pair_scorer(self.set_measure, self.fraction) if plain else None

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        if self.weights != "none":
            return weighted_sets.rare_keys(self, evidence, rarity)
        return rare_set_keys(self.set_measure, self.fraction, evidence, rarity)

    @property
    def set_measure(self) -> str:
        return "jaccard" if self.measure == "resemblance" else "containment"

    @property
    def meeting(self) -> Meeting:
        """Prefix keys may be replaced by rarer features if an engine has all evidence at hand."""
        if self.bands is None and self.keys != "all":
            return by_rare_prefix(self.rare_keys)
        return by_keys(rare_keys=self.rare_keys)

    def signatures(self, texts: pa.LargeStringArray) -> Array:
        """The MinHash values alone, one row for each document: the sketch that other tools call a
        signature."""
        ragged = Ragged.of_strings(texts)
        if self.family != "fast":
            words = self._words(ragged)
            of = (self.words, self.ignored, self.family, self.permutations)
            return minhash.minima(words, *of)[0]
        family = minhash.multipliers(self.permutations)
        values = _native.shingle_signatures(
            ragged.values,
            ragged.offsets,
            self.text.native(),
            word_map(ragged.values, ragged.offsets, self.text),
            self.words,
            self.ignored,
            family,
        )
        rows: Array = values.reshape(len(ragged), len(family))[:, : self.permutations]
        return rows
