"""Decides pairs by a model that was trained on labelled pairs (Raveena & Nandini 2014).

Documents that share character grams meet (``methods/profiles.py``). For each pair the similarity
vector is computed, from which the model estimates the probability that the two are duplicates. The
ranking of pairs by a model is valid in other collections too, but its threshold less so; a
collection may therefore move it slightly, to where the fewest pairs are in doubt.

Without a model file, the method uses the general model that comes with the package. It is
calibrated in the same way as ``rareshingles``: a pair below the threshold passes if it shares more
than a quotation and is far more similar than all other neighbours of both documents.

Two kinds of pairs are refused at any score. Documents that share only common features, and each
continue with words of their own, fill one template with different content (docs/decisions/0014).
The general model also refuses documents that share only a quotation: the larger document must
contain half of the smaller one or, if one of the two is noisy, a fifth of the weight of its known
features. This rule does not apply to models that were trained on labels.

A model stores the outline of its training documents (``artefacts/outline.py``). If a collection is
unlike them, the method reports it, and only pairs that reach the model's own threshold pass.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts import outline
from neardup.artefacts.artefact import GENERAL, NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.frequencies import Frequencies
from neardup.artefacts.model import Model, ModelNeed, model_at, place_of
from neardup.artefacts.outline import Outline, OutlineNeed
from neardup.errors import SettingsError, SignatureError
from neardup.features import similarity
from neardup.features.dates import check_dates
from neardup.features.similarity import (
    FEATURES,
    LONE_WEIGHT,
    LONES,
    RARE_WEIGHT,
    RARES,
    WEIGHT,
    Family,
    section,
    section_lengths,
    section_places,
)
from neardup.methods import profiles
from neardup.methods.base import UNDATED, Method, Prepared, RareEntries, Scores, Unweighed
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import Meeting, by_keys
from neardup.methods.parameters import (
    MOST_DECIMALS,
    moved,
    require,
    require_one_of,
    threshold_fraction,
)
from neardup.methods.preparation import (
    Reading,
    evidence_digests,
    no_keys,
    prepared,
    read_words,
    replaced,
)
from neardup.methods.profiles import (
    LEAST_SHARED,
    MISS_RATE,
    check_date,
    frequency_name,
    keys_of,
    needs,
)
from neardup.methods.weighted_sets import (
    LONE,
    NOISE,
    TEMPLATES,
    fills_template,
    full_of_noise,
)
from neardup.schema import Array, Ragged


def smaller(family: Family) -> Array:
    """The number of features of the smaller document."""
    return np.asarray(np.minimum(family.a[FEATURES], family.b[FEATURES]))


def held(family: Family) -> Array:
    """The share of the features of the smaller document that the larger one has."""
    return np.asarray(family.shared[FEATURES] / np.maximum(smaller(family), 1))


def is_template(shingles: Family) -> Array:
    """Whether both documents have words of their own and share hardly any rare features."""
    own = np.minimum(shingles.a[LONES], shingles.b[LONES])
    shared = shingles.shared[FEATURES], shingles.shared[RARES]
    return fills_template(own, smaller(shingles), *shared)


def rare_share(family: Family) -> Array:
    """The weight of the shared rare features, as a share of the known features of both
    documents."""
    shared = family.shared[RARE_WEIGHT]
    known = sum(side[WEIGHT] - side[LONE_WEIGHT] for side in (family.a, family.b))
    return np.asarray(shared / np.maximum(known - shared, np.maximum(shared, 1)))


def check_reached(model: Model, threshold: float) -> None:
    """Refuses a threshold that not even equal documents would reach."""
    most = float(model.probability(np.ones((1, len(model.measures))))[0])
    if model.discriminant.monotone() and threshold > most:
        raise SettingsError(
            f"learned: threshold is {threshold:g}, but no probability of this model is above "
            f"{most:.4f}.",
            hint="take a lower one, or the method exact for equal texts.",
        )


def cut_of(model: Model) -> float:
    """The threshold of the model, rounded down to the decimals that a threshold may have, so that a
    pair exactly at it still passes."""
    steps: int = 10**MOST_DECIMALS
    return max(math.floor(model.threshold * steps), 1) / steps


GRAMS, WORDS, SHINGLES = "chars8", "words1", "words3"  # used for keys, noise and templates
ALWAYS = (f"{GRAMS}_known", "length_ratio", f"{SHINGLES}_known")  # one measure of each of these
LOW_FEATURES, LOW_SCORE, LOW_GRAMS = 5, 0.05, 150  # the minima for an exception
LOW_LIMIT = 0.5  # a pair that shares so many of its rare grams does not count as background
QUOTING = 0.05  # the highest score of a quotation
HELD = 0.5  # the share of the smaller document's grams that the larger one must have
NOISY_HELD = 0.2  # if one is noisy: the same share, of the weight of known grams
TEMPLATE = "they share only a template: what many documents have, with words of their own"
QUOTATION = f"too little of the smaller is in the other, so the score is at most {QUOTING:g}"
REACH = 2.5  # pairs up to so many log-odds below the threshold of a model may move it


@dataclass(frozen=True)
class Learned(Method):
    """A discriminant that was learned from labelled pairs; the general model needs no labels.

    ``model``: the file of a model (`neardup train`); None, or general, takes the general one.
    ``threshold``: the probability from which a pair is one; None takes the model's.
    ``calibrate``: let the collection move the model's threshold a little, or, with the general one,
    let unusually similar pairs pass below it; None: unless a threshold is named.
    ``templates``: "refuse" pairs that share only what many have, or "accept" them.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``date``: the column of the date, where the model compares dates; also ``--date``.
    """

    model: str | None = None
    # Both are None only as written; __post_init__ puts the model's in their place.
    threshold: float | None = None  # type: ignore[assignment]
    calibrate: bool | None = None  # type: ignore[assignment]
    templates: str = "refuse"
    min_words: int = 15
    date: str | None = None

    name: ClassVar[str] = "learned"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    reads_features: ClassVar[bool] = True
    miss_rate: ClassVar[float] = MISS_RATE
    follows: ClassVar[dict[str, tuple[str, ...]]] = {
        "model": ("threshold", "calibrate"),
        "date": (),  # no default follows from it, but a model of dates cannot be built without it
    }

    def __post_init__(self) -> None:
        require_one_of(TEMPLATES, self, "templates")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        require(self.model != "", self, "model", "the file of a model, or general")
        object.__setattr__(self, "model", place_of(self.model))
        check_date(self.discriminant.measures, self.date, f"The model {self.model}")
        if not similarity.needs_date(self.discriminant.measures):  # other dates change nothing
            object.__setattr__(self, "date", None)
        if self.calibrate is None:
            object.__setattr__(self, "calibrate", self.threshold is None)
        if self.threshold is None:
            object.__setattr__(self, "threshold", cut_of(self.discriminant))
        assert self.threshold is not None
        threshold_fraction(self.threshold)
        check_reached(self.discriminant, self.threshold)

    @functools.cached_property
    def discriminant(self) -> Model:
        return model_at(self.model)

    @property
    def reach(self) -> float:
        """The lowest score that calibration needs. The threshold of the general model does not
        move: it was chosen together with its calibration."""
        assert self.threshold is not None
        return self.threshold if self._contrasts else moved(self.threshold, -REACH)

    @property
    def _contrasts(self) -> bool:
        """Whether exceptions exist; a model that was trained on labels is not overruled."""
        return self.model is None

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.date,) if self.date else ()

    def check_columns(self, first: pa.RecordBatch) -> None:
        if self.date:
            check_dates(first.column(self.date), self.date)

    @property
    def meeting(self) -> Meeting:
        """Documents must share several grams to meet, because a single gram is a weak key."""
        return by_keys(LEAST_SHARED)

    @functools.cached_property
    def measures(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.discriminant.measures, *ALWAYS)))

    @functools.cached_property
    def families(self) -> tuple[str, ...]:
        return similarity.families_of(self.measures)

    @property
    def needs(self) -> tuple[Need, ...]:
        text = self.discriminant.text
        return (*needs(text, self.measures), OutlineNeed(text), ModelNeed(self.discriminant))

    @property
    def reason(self) -> str:
        return f"probability >= {self.threshold:g}"

    @property
    def exception_reason(self) -> str:
        return "unusually similar in this collection"

    @property
    def score_meaning(self) -> str:
        return "probability that the two are duplicates, as the model estimates it"

    def resolved(self) -> dict[str, object]:
        return {
            "model": "general" if self.model is None else self.model,
            "discriminant": self.discriminant.discriminant.kind,
            "measures": list(self.discriminant.measures),
            "miss_rate": self.miss_rate,
        }

    def check_artefacts(self, artefacts: Artefacts) -> None:
        """Refuses a model file that differs from the model with which stored documents were
        decided."""
        stored = artefacts.get(ModelNeed.name)
        if stored is not None and stored.digest != self.discriminant.digest:
            raise SignatureError(
                f"The model {self.model or GENERAL} is not the one that was decided by.",
                hint="put that model back, or build what was made with it again.",
            )

    def unlike(self, artefacts: Artefacts) -> tuple[str, ...]:
        """The ways in which the collection differs from the training documents, if the model stores
        them."""
        seen = artefacts.get(outline.NAME)
        if not isinstance(seen, Outline):
            return ()
        return outline.unlike(seen, self.discriminant.trained.get(outline.NAME))

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        if self.weighs_last:
            return self.weigh(self._read(batch).prepared, artefacts)
        text = self.discriminant.text
        reading = read_words(batch, text)
        profile_rows = profiles.profiles(batch, artefacts, text, self.measures, date=self.date)
        evidence = self._marked(profile_rows, artefacts)
        entries = section(evidence, self.families, GRAMS)
        grams = Ragged((entries.values >> np.uint64(32)).astype(np.uint32), entries.offsets)
        table = artefacts[frequency_name(GRAMS)]
        assert isinstance(table, Frequencies)
        short = self._short(reading, grams)
        keys, probes = keys_of(grams, table) if len(grams.values) else no_keys(grams)
        return prepared(reading, evidence, keys, probes, short, self._flags(evidence))

    def _short(self, reading: Reading, grams: Ragged) -> npt.NDArray[np.bool_]:
        return np.asarray(reading.shorter_than(self.min_words) | (grams.lengths == 0))

    @functools.cached_property
    def weighs_last(self) -> bool:
        return profiles.weighs_last(self.families)

    def _read(self, batch: pa.RecordBatch) -> _Read:
        text = self.discriminant.text
        reading = read_words(batch, text)
        sets = profiles.feature_sets(batch, reading.words, text, self.families)
        rows, short = profiles.unweighed(sets), self._short(reading, sets[GRAMS])
        return _Read(prepared(reading, rows, *no_keys(rows), short, digested=False), reading, sets)

    def read_unweighed(self, batch: pa.RecordBatch) -> Unweighed:
        read = self._read(batch)
        counted: dict[str, Any] = {ModelNeed.name: None}
        for name, rows in read.sets.items():
            counted[frequency_name(name)] = len(batch), rows.values
        words, distinct = read.reading.words.lengths, read.sets[WORDS].lengths
        texts = Ragged.of_strings(batch.column("text"))
        counted[outline.NAME] = outline.statistics(texts, words, distinct)
        return Unweighed(read.prepared, counted)

    def weigh(self, prepared: Prepared, artefacts: Artefacts, *, closed: bool = False) -> Prepared:
        rows, short = prepared.evidence, prepared.too_short
        evidence, keys = profiles.weigh(rows, self.families, artefacts, GRAMS, closed=closed)
        if short.any():
            keys = replaced(keys, short, prepared.keys)
        return replace(
            prepared,
            keys=keys,
            probes=keys.lengths.astype(np.int32),
            evidence=evidence,
            digests=evidence_digests(evidence, short),
        )

    def _flags(self, evidence: Ragged) -> Array | None:
        """Flags documents without a date if dates are compared."""
        if not self.date:
            return None
        days = section(evidence, self.families, similarity.DATE_FAMILY)
        return np.where(days.lengths == 0, UNDATED, 0)

    def _marked(self, evidence: Ragged, artefacts: Artefacts) -> Ragged:
        """Marks the unique words of noisy documents."""
        if not profiles.marks_noise(artefacts):
            return evidence
        places, ends = section_places(evidence, self.families, WORDS)
        lone = (evidence.values[places] & np.uint64(3)) == LONE
        sizes, alone = np.diff(ends), np.diff(np.concatenate([[0], np.cumsum(lone)])[ends])
        noisy = full_of_noise(sizes, alone)
        evidence.values[places[lone & np.repeat(noisy, sizes)]] |= np.uint64(NOISE)
        return evidence

    def _noisy(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        words = section(evidence, self.families, WORDS)
        marked = (words.values & np.uint64(3)) == NOISE
        return np.diff(np.concatenate([[0], np.cumsum(marked)])[words.offsets]) > 0

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        judged = self._judged(evidence, a, b)
        enough = judged.probability >= self.threshold
        passed, refused = enough & ~judged.template, int((enough & judged.template).sum())
        return Scores(passed, judged.probability, refused)

    def exception_limit(self, threshold: float) -> float:
        return LOW_LIMIT

    def may_be_exceptions(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        long = section_lengths(evidence, self.families, GRAMS) >= LOW_GRAMS
        return np.asarray(long & self._contrasts)

    def rare_entries(self, evidence: Ragged, every: int) -> RareEntries:
        layout = len(self.families), self.families.index(GRAMS)
        values, ends, known, sizes = _native.rare_grams(
            evidence.values, evidence.offsets, *layout, LOW_GRAMS, every
        )
        # The weight of an entry is above the two bits of its class, hence the factor.
        return RareEntries(Ragged(values, ends), 4 * known, sizes >= LOW_GRAMS)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return self._judged(evidence, a, b).probability

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        judged = self._judged(evidence, a, b)
        template = judged.template & (judged.probability >= self.threshold)
        both = zip(template.tolist(), judged.lowered.tolist(), strict=True)
        return [TEMPLATE if one else QUOTATION if other else None for one, other in both]

    def low_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The weight of shared rare grams among all known grams: the measure that separates
        low-scoring pairs best."""
        judged = self._judged(evidence, a, b)
        grams = judged.sums[GRAMS]
        score, enough = rare_share(grams), smaller(grams) >= LOW_GRAMS
        alike = ~judged.quoting & ~judged.template & self._contrasts
        passed = alike & enough & (score >= LOW_SCORE)
        return Scores(passed & (grams.shared[similarity.RARES] >= LOW_FEATURES), score)

    def _judged(self, evidence: Ragged, a: Array, b: Array) -> _Judged:
        compared = similarity.compared(evidence, a, b, self.families)
        probability = self.discriminant.probability(
            similarity.measured(compared, self.discriminant.measures)
        )
        noisy = self._noisy(evidence)
        quoting = _quotes(compared.sums[GRAMS], noisy[a] | noisy[b]) & self._contrasts
        lowered = quoting & (probability > QUOTING)
        probability = np.where(quoting, np.minimum(probability, QUOTING), probability)
        template = is_template(compared.sums[SHINGLES]) & (self.templates == "refuse")
        equal = equal_evidence(evidence, a, b)  # short documents have no profile to measure
        return _Judged(
            np.where(equal, 1.0, probability),
            compared.sums,
            template & ~equal,
            quoting,
            lowered & ~equal,
        )


def _quotes(grams: Family, noisy: Array) -> Array:
    """Whether too little of the smaller document is in the larger one."""
    known = similarity.MADE_OF["known_containment"](grams)
    return np.where(noisy, known < NOISY_HELD, held(grams) < HELD)


class _Read(NamedTuple):
    """A batch before its tables are known."""

    prepared: Prepared
    reading: Reading
    sets: dict[str, Ragged]


class _Judged(NamedTuple):
    """``template``: both documents have words of their own and share hardly any rare features.
    ``quoting``: for the general model, too little of the smaller document is in the larger one.
    ``lowered``: the probability was reduced for this reason."""

    probability: Array
    sums: dict[str, Family]
    template: Array
    quoting: Array
    lowered: Array
