"""A model that was trained on labelled pairs decides, in place of a threshold set by hand
(Raveena & Nandini 2014).

Documents that share character grams meet (``methods/profiles.py``). For each pair the similarity
vector is computed, and the model estimates the probability that the two are duplicates. The order
in which a model puts pairs holds in different collections too, its threshold less so: a collection
may move it a little, to where the fewest duplicates are in doubt.

Without a model file the method takes the general model that comes with the package. It is
calibrated as ``rareshingles`` is: pairs that share more than a quotation pass below the threshold
where they are far more alike than all other neighbours of both documents.

Two kinds of pairs are refused, however alike. Documents that share only what many have, and each go
on with words of their own, fill one template with different content (docs/decisions/0014). To the
general model, documents that share only a quotation are no duplicates: half of the smaller must be
in the other or, where one is noisy, a fifth of what other documents know of it. A model that was
trained on labels is not overruled so.

A model knows what its documents looked like (``artefacts/outline.py``). In a collection that is
unlike them the method reports it, and only pairs that reach the model's own threshold pass.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts import outline
from neardup.artefacts.artefact import GENERAL, NO_ARTEFACTS, Artefacts, Need, shipped
from neardup.artefacts.frequencies import Frequencies
from neardup.artefacts.model import Model, ModelNeed, load_model
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
    section_places,
)
from neardup.methods.base import UNDATED, Method, Prepared, RareEntries, Scores
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import Meeting, by_keys
from neardup.methods.parameters import require, require_one_of
from neardup.methods.preparation import no_keys, prepared, read_words
from neardup.methods.profiles import (
    LEAST_SHARED,
    MISS_RATE,
    check_date,
    frequency_name,
    keys_of,
    needs,
    profiles,
)
from neardup.methods.thresholds import MOST_DECIMALS, moved, threshold_fraction
from neardup.methods.weighted_sets import (
    LONE,
    NOISE,
    NOISY_DOCUMENTS,
    RARE,
    TEMPLATES,
    fills_template,
    full_of_noise,
)
from neardup.schema import Array, Ragged


def smaller(family: Family) -> Array:
    """How many features the one has that has fewer."""
    return np.asarray(np.minimum(family.a[FEATURES], family.b[FEATURES]))


def held(family: Family) -> Array:
    """The share of the smaller that is in the other, whatever else it has that is its own."""
    return np.asarray(family.shared[FEATURES] / np.maximum(smaller(family), 1))


def is_template(shingles: Family) -> Array:
    """Whether both go on with words of their own, and hardly anything they share is rare."""
    own = np.minimum(shingles.a[LONES], shingles.b[LONES])
    shared = shingles.shared[FEATURES], shingles.shared[RARES]
    return fills_template(own, smaller(shingles), *shared)


def rare_share(family: Family) -> Array:
    """Rare features that both have, in all that other documents know of the two."""
    shared = family.shared[RARE_WEIGHT]
    known = sum(side[WEIGHT] - side[LONE_WEIGHT] for side in (family.a, family.b))
    return np.asarray(shared / np.maximum(known - shared, np.maximum(shared, 1)))


def place_of(model: str | None) -> str | None:
    """The absolute path of the file of a model; None for the general model."""
    return None if model in (None, GENERAL) else str(Path(str(model)).absolute())


def check_reached(model: Model, threshold: float) -> None:
    """Refuses a threshold that not even documents with everything in common would reach."""
    most = float(model.probability(np.ones((1, len(model.measures))))[0])
    if model.discriminant.monotone() and threshold > most:
        raise SettingsError(
            f"learned: threshold is {threshold:g}, but no probability of this model is above "
            f"{most:.4f}.",
            hint="take a lower one, or the method exact for equal texts.",
        )


def model_at(path: str | None) -> Model:
    """The general model, or one from a file, read once; another file of that name is read again."""
    if path is None:
        return _general()
    try:
        there = Path(path).stat()
    except OSError:
        return load_model(Path(path))  # says what is wrong
    return _read(path, there.st_dev, there.st_ino, there.st_mtime_ns, there.st_size)


@functools.cache
def _general() -> Model:
    with shipped("general.arrow") as file:
        return load_model(file)


@functools.lru_cache(maxsize=8)
def _read(path: str, *_: int) -> Model:
    return load_model(Path(path))


def cut_of(model: Model) -> float:
    """Rounded down to as many decimals as a threshold may have: what was at it stays above it."""
    steps: int = 10**MOST_DECIMALS
    return max(math.floor(model.threshold * steps), 1) / steps


GRAMS, WORDS, SHINGLES = "chars8", "words1", "words3"  # sought by; noise is told by; templates by
ALWAYS = (f"{GRAMS}_known", "length_ratio", f"{SHINGLES}_known")  # one measure of each of these
LOW_FEATURES, LOW_SCORE, LOW_GRAMS = 5, 0.05, 150  # the least that an exception has
LOW_LIMIT = 0.5  # a pair that shares so many of the rare grams is no background
QUOTING = 0.05  # the most that a quotation scores
HELD = 0.5  # of the grams of the smaller of two clean documents, that the other must have
NOISY_HELD = 0.2  # where one is noisy, of the weight of what the smaller has and others know
TEMPLATE = "they share only a template: what many documents have, with words of their own"
QUOTATION = f"too little of the smaller is in the other, so the score is at most {QUOTING:g}"
REACH = 2.5  # log-odds below the threshold of a model, from which pairs may move it


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
    miss_rate: ClassVar[float] = MISS_RATE
    follows: ClassVar[dict[str, tuple[str, ...]]] = {
        "model": ("threshold", "calibrate"),
        "date": (),  # nothing follows, but a model of dates cannot be without it
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
        """The threshold of the general model stays: it was chosen with its calibration."""
        assert self.threshold is not None
        return self.threshold if self._contrasts else moved(self.threshold, -REACH)

    @property
    def _contrasts(self) -> bool:
        """Whether there are exceptions: what labels taught is not overruled."""
        return self.model is None

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.date,) if self.date else ()

    def check_columns(self, first: pa.RecordBatch) -> None:
        if self.date:
            check_dates(first.column(self.date), self.date)

    @property
    def meeting(self) -> Meeting:
        """Grams are weak keys: one alone says little, so documents meet that share several."""
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
        return "stands out in this collection"

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
        """What was stored was decided by the model of that time, whatever the file is now."""
        there = artefacts.get(ModelNeed.name)
        if there is not None and there.digest != self.discriminant.digest:
            raise SignatureError(
                f"The model {self.model or GENERAL} is not the one that was decided by.",
                hint="put that model back, or build what was made with it again.",
            )

    def unlike(self, artefacts: Artefacts) -> tuple[str, ...]:
        """In which ways the collection differs from the training, where the model knows it."""
        seen = artefacts.get(outline.NAME)
        if not isinstance(seen, Outline):
            return ()
        return outline.unlike(seen, self.discriminant.trained.get(outline.NAME))

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        text = self.discriminant.text
        reading = read_words(batch, text)
        made = profiles(batch, artefacts, text, self.measures, date=self.date)
        evidence = self._marked(made, artefacts)
        entries = section(evidence, self.families, GRAMS)
        grams = Ragged((entries.values >> np.uint64(32)).astype(np.uint32), entries.offsets)
        table = artefacts[frequency_name(GRAMS)]
        assert isinstance(table, Frequencies)
        short = reading.shorter_than(self.min_words) | (grams.lengths == 0)
        keys, probes = keys_of(grams, table) if len(grams.values) else no_keys(grams)
        return prepared(reading, evidence, keys, probes, short, self._flags(evidence))

    def _flags(self, evidence: Ragged) -> Array | None:
        """Flags documents without a date, where dates are compared."""
        if not self.date:
            return None
        days = section(evidence, self.families, similarity.DATE_FAMILY)
        return np.where(days.lengths == 0, UNDATED, 0)

    def _marked(self, evidence: Ragged, artefacts: Artefacts) -> Ragged:
        """Lone words of noisy documents say so. Of few documents, any has many such words."""
        table = artefacts[frequency_name(WORDS)]
        assert isinstance(table, Frequencies)
        if table.documents < NOISY_DOCUMENTS:
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
        found = self._judged(evidence, a, b)
        enough = found.probability >= self.threshold
        passed, refused = enough & ~found.template, int((enough & found.template).sum())
        return Scores(passed, found.probability, refused)

    def exception_limit(self, threshold: float) -> float:
        return LOW_LIMIT

    def may_be_exceptions(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        long = section(evidence, self.families, GRAMS).lengths >= LOW_GRAMS
        return long & self._contrasts

    def rare_entries(self, evidence: Ragged, every: int) -> RareEntries:
        grams = section(evidence, self.families, GRAMS)
        long = np.repeat(grams.lengths >= LOW_GRAMS, grams.lengths)
        wanted = long & ((grams.values & np.uint64(3)) == RARE)
        if every > 1:
            wanted &= (grams.values >> np.uint64(32)) % np.uint64(every) == 0
        ends = np.concatenate([[0], np.cumsum(wanted)])[grams.offsets]
        sizes = self._sizes(evidence)
        # The unit of a weight is that of an entry: its class stands below it.
        known = 4 * (sizes[similarity.WEIGHT] - sizes[similarity.LONE_WEIGHT])
        entries = Ragged(grams.values[wanted], ends.astype(np.int64))
        return RareEntries(entries, known, grams.lengths >= LOW_GRAMS)

    def _sizes(self, evidence: Ragged) -> Array:
        everyone = np.arange(len(evidence))
        return similarity.summed(evidence, everyone, everyone, self.families)[GRAMS].a

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return self._judged(evidence, a, b).probability

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        found = self._judged(evidence, a, b)
        template = found.template & (found.probability >= self.threshold)
        both = zip(template.tolist(), found.lowered.tolist(), strict=True)
        return [TEMPLATE if one else QUOTATION if other else None for one, other in both]

    def low_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The share of rare grams in all that is known: there unlike documents differ most."""
        found = self._judged(evidence, a, b)
        grams = found.sums[GRAMS]
        score, enough = rare_share(grams), smaller(grams) >= LOW_GRAMS
        alike = ~found.quoting & ~found.template & self._contrasts
        passed = alike & enough & (score >= LOW_SCORE)
        return Scores(passed & (grams.shared[similarity.RARES] >= LOW_FEATURES), score)

    def _judged(self, evidence: Ragged, a: Array, b: Array) -> _Judged:
        found = similarity.compared(evidence, a, b, self.families)
        probability = self.discriminant.probability(
            similarity.measured(found, self.discriminant.measures)
        )
        noisy = self._noisy(evidence)
        quoting = _quotes(found.sums[GRAMS], noisy[a] | noisy[b]) & self._contrasts
        lowered = quoting & (probability > QUOTING)
        probability = np.where(quoting, np.minimum(probability, QUOTING), probability)
        template = is_template(found.sums[SHINGLES]) & (self.templates == "refuse")
        equal = equal_evidence(evidence, a, b)  # short documents have no profile to measure
        return _Judged(
            np.where(equal, 1.0, probability),
            found.sums,
            template & ~equal,
            quoting,
            lowered & ~equal,
        )


def _quotes(grams: Family, noisy: Array) -> Array:
    """Whether too little of the smaller is in the other."""
    known = similarity.MADE_OF["known_containment"](grams)
    return np.where(noisy, known < NOISY_HELD, held(grams) < HELD)


class _Judged(NamedTuple):
    """``template``: both go on with words of their own, and hardly anything they share is rare.
    ``quoting``: too little of the smaller is in the other, to the general model; ``lowered``: the
    model alone would give more."""

    probability: Array
    sums: dict[str, Family]
    template: Array
    quoting: Array
    lowered: Array
