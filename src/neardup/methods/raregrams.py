"""A sample of the character grams of each document, each counted by how rare it is.

Runs of eight characters survive noise and small edits better than words do. A text of any length
gives about ``SAMPLE`` of them: the grams are chosen by hash, at a rate that follows from the length
alone, and what a coarse sample has is in every finer one (``native/features/gram_samples.hpp``).
Two documents are compared at the coarser rate of the two. A gram weighs its idf; a gram that no
other document has weighs nothing, be it noise of a scan or new text.

With the weight C of the common grams and the weights A ≥ B of the known grams of either document
the score is ``C / (.7·A + 1.3·B − C)``: the resemblance, where the rest of the larger document
counts a little less than that of the smaller. It is decided in integers. Two kinds of pairs are
refused whatever they score: those that share a template or have the same words with other figures,
and thin pairs, which share less than half
of the grams of the smaller document; a calibration may list thin pairs that a reader recognises.

Documents meet that share two of their ``RARE_KEYS`` rare grams of smallest hash, or one of 16 bands
of three minima, which brings families of more than ``FEW_MORE`` documents together. Documents that
fill one template do not meet by bands, so that a template costs no square. Where two
documents have a share j of their rare grams in common, they do not meet by keys with the
probability P(Bin(32, j) < 2). A table of other documents does not know what is new, so the grams
that nobody is known to have are keys of their own.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.boilerplate import AUTO, BoilerplateNeed
from neardup.artefacts.frequencies import Frequencies, FrequencyNeed, Grams
from neardup.features.qgrams import check_characters_only, features_of_samples, sampled_grams
from neardup.methods.base import Comparisons, Method, Prepared, Scores, Unweighed, agreeing
from neardup.methods.meeting import Meeting, by_keys
from neardup.methods.minhash import Bands, multipliers
from neardup.methods.parameters import (
    boilerplate_texts,
    require,
    require_one_of,
    threshold_fraction,
)
from neardup.methods.preparation import (
    evidence_digests,
    no_keys,
    prepared,
    read_words,
    replaced,
)
from neardup.methods.weighted_sets import LEAST, TEMPLATES
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

WIDTH, SAMPLE = 8, 512  # characters of a gram, grams of a long document
FEWEST = 8  # grams of the smallest sample that is compared, and of one that has bands
UNIT = 1 << 12  # the weight of an idf of 1
LARGER, SMALLER = 7, 13  # tenths by which the two documents count in the score
FEW, FEW_MORE = 20, 100  # a gram is rare in at most FEW documents, no key in more than FEW_MORE
RARE_KEYS, LONE_KEYS, LEAST_SHARED = 32, 16, 2
BANDS = Bands(16, 3)
MULTIPLIERS = multipliers(BANDS.values)
OWN_GRAMS, OWN_SHARE = 6, 64  # a filled template has as many of its own, one of so many
LOOKING_SHARE = 8  # with one own gram in so many a document is no version of a large family
# So many grams with digits, one gram in so many, make a text of figures; up to 8,192 characters.
FIGURES, FIGURE_SHARE, FIGURE_LEVEL = 80, 25, 3
HELD = 2  # a pair shares at least one of so many grams of its smaller document
LETTERS = 5  # of a word, about: so many grams a word must be left beside boilerplate
MANY_HAVE, FEW_HAVE, ONE_HAS, SOME_HAVE = range(
    4
)  # classes of grams (native/methods/raregrams.hpp)
TEMPLATE = "they share only what many have, and each goes on with text of its own"
OTHER_FIGURES = "they have the same words with other figures"
THIN = "they share less than half of the shorter text"


@dataclass(frozen=True)
class Raregrams(Method):
    """Character grams that count by their rarity; noise and new text count little.

    ``threshold``: the share of weight from which two documents are duplicates.
    ``calibrate``: let the collection choose the threshold; ``threshold`` is where it begins.
    ``templates``: "refuse" pairs that share only what many have, or "accept" them.
    ``frequencies``: the file of a run's frequencies, or general; else counted from the input.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``boilerplate``: texts whose grams are ignored, the file of a run's boilerplate, or "auto",
    which stands for the passages that sources repeat.
    ``text``: what counts as the same character.
    """

    threshold: float = 0.5
    calibrate: bool = True
    templates: str = "refuse"
    frequencies: str | None = None
    min_words: int = 15
    boilerplate: tuple[str, ...] | str = ()
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "raregrams"
    calibration: ClassVar[str] = "consistency"
    added: ClassVar[tuple[str, ...]] = ("boilerplate",)
    weighs_last: ClassVar[bool] = True
    scores_in_place: ClassVar[bool] = True
    refuses_thin: ClassVar[bool] = True
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    meeting: ClassVar[Meeting] = by_keys(LEAST_SHARED)
    exception_reason: ClassVar[str] = "recognised as the same text when read"

    def __post_init__(self) -> None:
        require_one_of(TEMPLATES, self, "templates")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        check_characters_only(self.text, self.name)
        object.__setattr__(self, "boilerplate", boilerplate_texts(self.boilerplate, self.name))
        threshold_fraction(self.threshold)

    @property
    def needs(self) -> tuple[Need, ...]:
        grams = Grams(WIDTH, "characters", sample=SAMPLE)
        return (FrequencyNeed(self.frequencies, grams, self.text), *self._boilerplate_need)

    @property
    def asks_boilerplate(self) -> bool:
        return self.boilerplate == AUTO

    @property
    def _boilerplate_need(self) -> tuple[BoilerplateNeed, ...]:
        need = BoilerplateNeed(self.boilerplate, WIDTH, self.text, "characters")
        return (need,) if self.boilerplate else ()

    @functools.cached_property
    def ignored(self) -> Array:
        """The features of the boilerplate, sorted."""
        needed = self._boilerplate_need
        return needed[0].ready().hashes.astype(np.uint32) if needed else np.empty(0, np.uint32)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def miss_rate(self) -> float:
        """The share of pairs that are missed, among those that have as large a share of their rare
        grams in common as the threshold asks of all grams."""
        j = self.threshold
        return float((1 - j) ** RARE_KEYS + RARE_KEYS * j * (1 - j) ** (RARE_KEYS - 1))

    @property
    def reason(self) -> str:
        return f"weighted resemblance >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        return f"resemblance of {WIDTH}-character grams, rare ones count for more"

    def resolved(self) -> dict[str, object]:
        keys = {"rare": RARE_KEYS, "shared": LEAST_SHARED, **BANDS._asdict()}
        return {"scheme": "rare grams and bands", **keys, "miss_rate": self.miss_rate}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        return self.weigh(self.read_unweighed(batch).prepared, artefacts)

    def read_unweighed(self, batch: pa.RecordBatch) -> Unweighed:
        texts = Ragged.of_strings(batch.column("text"))
        samples = sampled_grams(texts, WIDTH, self.text, SAMPLE)
        # Boilerplate is counted all the same, so that the table does not depend on it.
        counted: dict[str, Any] = {need.name: None for need in self.needs}
        counted["frequencies"] = len(batch), features_of_samples(samples)
        if len(self.ignored):
            samples = _without(samples, self.ignored)
        reading = read_words(batch, self.text, hashes=False)
        short = reading.shorter_than(self.min_words) | (samples.lengths <= FEWEST)
        if len(self.ignored):
            short |= _grams_of(samples) < LETTERS * self.min_words
        unweighed = prepared(reading, samples, *no_keys(samples), short, digested=False)
        return Unweighed(unweighed, counted)

    def weigh(self, prepared: Prepared, artefacts: Artefacts, *, closed: bool = False) -> Prepared:
        table, short = artefacts["frequencies"], prepared.too_short
        assert isinstance(table, Frequencies)
        evidence = prepared.evidence
        weights = table.derived("raregrams", lambda: weight_of_count(table))
        slots = table.counts.low, table.counts.high
        _native.weigh_grams(evidence.values, evidence.offsets, *slots, weights)
        lone_keys = 0 if closed else LONE_KEYS
        keys, probes = gram_keys(evidence, lone_keys, refuse=self.templates == "refuse")
        if short.any():
            keys, probes = replaced(keys, short, prepared.keys), np.where(short, 1, probes)
        return replace(
            prepared,
            keys=keys,
            probes=probes.astype(np.int32),
            evidence=evidence,
            digests=evidence_digests(evidence, short),
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        sums = _compared(evidence, a, b)
        enough = sums.reaches(self.fraction)
        refused = sums.thin | self._template(sums)
        passed = enough & ~refused
        score = agreeing(sums.score, passed, self.threshold)
        return Scores(passed, score, int((enough & refused).sum()))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return _compared(evidence, a, b).score

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        sums = _compared(evidence, a, b)
        enough = sums.reaches(self.fraction)
        template = np.where(sums.other_figures, OTHER_FIGURES, TEMPLATE)
        whys = np.where(self._template(sums), template, np.where(sums.thin, THIN, ""))
        whys = np.where(enough, whys, "")
        return [why or None for why in whys.tolist()]

    def comparisons(self, evidence: Ragged, a: Array, b: Array) -> Comparisons:
        sums = _compared(evidence, a, b)
        return Comparisons(sums.score, self._template(sums), sums.thin)

    def _template(self, sums: _Sums) -> npt.NDArray[np.bool_]:
        return (sums.template | sums.other_figures) & (self.templates == "refuse")


def _grams_of(samples: Ragged) -> Array:
    """About how many grams the texts have of which these are samples."""
    levels = (samples.values[samples.offsets[:-1]] >> np.uint64(2)).astype(np.int64) - 1
    return (samples.lengths - 1) << levels


def _without(samples: Ragged, ignored: Array) -> Ragged:
    """The samples without grams of these features; every row keeps its head."""
    features = (samples.values >> np.uint64(32)).astype(np.uint32)
    stays = ~np.isin(features, ignored)
    stays[samples.offsets[:-1]] = True
    ends = np.concatenate([[0], np.cumsum(stays)])
    return Ragged(samples.values[stays], ends[samples.offsets])


def weight_of_count(table: Frequencies) -> npt.NDArray[np.uint32]:
    """Weight and class of a gram by how many documents have it. A gram that one document alone has
    gets a weight too: it counts if another document turns out to share it."""
    classes = np.full(len(table.idf), MANY_HAVE, np.uint32)
    classes[: FEW_MORE + 1] = SOME_HAVE
    classes[: FEW + 1] = FEW_HAVE
    classes[:2] = ONE_HAS
    weights = np.rint(UNIT * np.maximum(table.idf, LEAST)).astype(np.uint32)
    return np.asarray(weights << np.uint32(2) | classes)


def gram_keys(evidence: Ragged, lone_keys: int, *, refuse: bool) -> tuple[Ragged, Array]:
    """The keys of each document, and with how many of them it looks. Where templates are refused,
    a document with much text of its own does not look with its bands."""
    own = OWN_GRAMS if refuse else SAMPLE * SAMPLE
    keys, ends, probes = _native.gram_keys(
        evidence.values,
        evidence.offsets,
        RARE_KEYS,
        lone_keys,
        *BANDS,
        FEWEST,
        own,
        LOOKING_SHARE,
        MULTIPLIERS,
    )
    return Ragged(keys, ends), probes


class _Sums(NamedTuple):
    """What pairs have at the coarser rate of their documents: ``common``, ``a`` and ``b`` are
    weights, the others numbers of grams; ``own``: grams that no other document has; ``figures``:
    grams with three digits in a row. One gram in 2 to the power of ``level`` was sampled."""

    common: Array
    a: Array
    b: Array
    shared: Array
    rare: Array
    smaller: Array
    own: Array
    figures: Array
    common_figures: Array
    level: Array
    lone: Array
    apart: Array

    @property
    def _tenths(self) -> Array:
        larger, smaller = np.maximum(self.a, self.b), np.minimum(self.a, self.b)
        return np.asarray(LARGER * larger + SMALLER * smaller - 10 * self.common)

    def reaches(self, t: Fraction) -> npt.NDArray[np.bool_]:
        enough = 10 * self.common * t.denominator >= t.numerator * self._tenths
        return np.asarray(enough & (self.common > 0))

    @property
    def score(self) -> Array:
        return np.asarray(10 * self.common / np.maximum(self._tenths, 1))

    @property
    def thin(self) -> npt.NDArray[np.bool_]:
        return np.asarray(HELD * self.shared < self.smaller)

    @property
    def template(self) -> npt.NDArray[np.bool_]:
        """Both go on with grams of their own, and hardly anything that they share is rare. Where
        one of two versions changes a word, the other has what many have there instead; what fills
        a template takes the place of nothing."""
        goes_on = (self.own >= OWN_GRAMS) & (self.own * OWN_SHARE >= self.smaller)
        added = 10 * self.apart < 17 * self.lone
        return np.asarray(goes_on & added & (self.rare < self.own) & (4 * self.rare < self.shared))

    @property
    def other_figures(self) -> npt.NDArray[np.bool_]:
        """Most words are the same, and of the many figures hardly half as many: reports in series,
        such as prices or infections of different days. Long texts are versions even so."""
        words, common_words = self.smaller - self.figures, self.shared - self.common_figures
        many = (self.figures << self.level >= FIGURES) & (
            self.figures * FIGURE_SHARE >= self.smaller
        )
        alike = (self.level <= FIGURE_LEVEL) & (10 * common_words >= 7 * words)
        apart = 2 * self.common_figures * words < self.figures * common_words
        return np.asarray(many & alike & apart)


def _compared(evidence: Ragged, a: Array, b: Array) -> _Sums:
    sums = _native.compare_grams(evidence.values, evidence.offsets, a, b)
    return _Sums(*sums.reshape(-1, len(_Sums._fields)).T)
