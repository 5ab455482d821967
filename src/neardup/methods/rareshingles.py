"""Word shingles, each counted by how rare it is among the documents: a calibrated method on words.

It follows from three observations on real collections (docs/decisions/0014-the-usual-method.md).
Shingles of many documents are boilerplate and weak evidence, so a shingle has its idf as weight.
Unique shingles are weak evidence too, whether they are the noise of a scan or an added sentence, so
they count only in part (``lone``). Two documents that share only common shingles, and each continue
with words of their own, fill the same template with different content; they are not duplicates at
any score (``templates``).

Weighted resemblance is ``Σ w(A∩B) / Σ w(A∪B)``, in whole numbers. The rarest features are keys
until the remaining weight is less than a partner must share, so no pair is missed
(``methods/weighted_sets.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.boilerplate import AUTO, BoilerplateNeed
from neardup.artefacts.frequencies import MOST_COUNT, Frequencies, FrequencyNeed, Grams
from neardup.methods import weighted_sets
from neardup.methods.base import Method, Prepared, RareEntries, Scores, agreeing
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.parameters import (
    boilerplate_texts,
    require,
    require_one_of,
    threshold_fraction,
)
from neardup.methods.preparation import least_features, no_keys, prepared, read_words
from neardup.methods.set_measures import NO_COUNTS
from neardup.methods.weighted_sets import (
    COMMON,
    LEAST,
    LONE,
    NOISY_DOCUMENTS,
    RARE,
    TEMPLATES,
    UNIT,
    fills_template,
    full_of_noise,
)
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

REFUSAL = "they share only what many have, and each goes on with words of its own"
LOW_FEATURES = 5  # rare features that a pair below the threshold must share
_NOTHING = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Rareshingles(Method):
    """Word shingles that count by their rarity; templates with other content are told apart.

    ``words``: how many words make a shingle; more are stricter.
    ``threshold``: the share of weight from which two documents are duplicates.
    ``lone``: what a shingle that no other document has counts, from 0 to 1.
    ``common``: in more documents than this a shingle is what many have.
    ``calibrate``: let the collection choose the threshold; ``threshold`` is where it begins.
    ``templates``: "refuse" pairs that share only what many have, or "accept" them.
    ``frequencies``: the file of a run's frequencies, or general; else counted from the input.
    ``vocabulary``: the same of single words, by which noisy documents are known.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``boilerplate``: texts whose shingles are ignored, the file of a run's boilerplate, or "auto",
    which stands for the passages that sources repeat.
    ``text``: what counts as the same word.
    """

    words: int = 3
    threshold: float = 0.4
    calibrate: bool = True
    lone: float = 0.5
    common: int = 20
    templates: str = "refuse"
    frequencies: str | None = None
    vocabulary: str | None = None
    min_words: int = 15
    boilerplate: tuple[str, ...] | str = ()
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "rareshingles"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    general_threshold: ClassVar[float] = 0.5  # docs/decisions/0022-general-tables.md

    def __post_init__(self) -> None:
        require(1 <= self.words <= _native.MOST_SHINGLE_WORDS, self, "words", "from 1 to 32")
        require(0 <= self.lone <= 1, self, "lone", "from 0 to 1")
        require(2 <= self.common < MOST_COUNT, self, "common", f"from 2 to {MOST_COUNT - 1}")
        require_one_of(TEMPLATES, self, "templates")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        object.__setattr__(self, "boilerplate", boilerplate_texts(self.boilerplate, self.name))
        threshold_fraction(self.threshold)

    @property
    def needs(self) -> tuple[Need, ...]:
        return (
            FrequencyNeed(self.frequencies, Grams(self.words), self.text),
            FrequencyNeed(self.vocabulary, Grams(1), self.text, name="vocabulary"),
            *self._boilerplate_need,
        )

    @property
    def asks_boilerplate(self) -> bool:
        return self.boilerplate == AUTO

    @property
    def _boilerplate_need(self) -> tuple[BoilerplateNeed, ...]:
        need = BoilerplateNeed(self.boilerplate, self.words, self.text)
        return (need,) if self.boilerplate else ()

    @functools.cached_property
    def ignored(self) -> Array:
        """The shingle hashes of the boilerplate, sorted."""
        needed = self._boilerplate_need
        return needed[0].ready().hashes if needed else np.empty(0, np.uint64)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"weighted resemblance >= {self.threshold:g}"

    @property
    def exception_reason(self) -> str:
        return "weighted resemblance far above that of all others"

    @property
    def score_meaning(self) -> str:
        return f"resemblance of {self.words}-word shingles, rare ones count for more"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "prefix", "miss_rate": self.miss_rate}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        return self._prepared(batch, artefacts, self._own_keys)

    def prepare_evidence(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
        return self._prepared(batch, artefacts, no_keys)

    def _prepared(
        self,
        batch: pa.RecordBatch,
        artefacts: Artefacts,
        keys_of: Callable[[Ragged], tuple[Ragged, Array]],
    ) -> Prepared:
        table, vocabulary = artefacts["frequencies"], artefacts["vocabulary"]
        assert isinstance(table, Frequencies)
        assert isinstance(vocabulary, Frequencies)
        reading = read_words(batch, self.text)
        sets = _sets(reading.words, self.words, self.ignored)
        weights = table.derived((self.lone, self.common), lambda: self._weights(table))
        evidence = table.entries(sets, weights)
        evidence = _marked(evidence, _noisy(reading.words, vocabulary))
        short = reading.shorter_than(self.min_words) | (evidence.lengths < self._least)
        return prepared(reading, evidence, *keys_of(evidence), short)

    @property
    def _least(self) -> int:
        """The fewest shingles, without boilerplate, that a document needs to be compared."""
        return least_features(self.min_words, self.words) if self.boilerplate else 1

    def _own_keys(self, evidence: Ragged) -> tuple[Ragged, Array]:
        return self.rare_keys(evidence, Rarity(NO_COUNTS))  # heaviest first

    def _weights(self, table: Frequencies) -> Array:
        """The weight of a feature by the number of documents that have it."""
        idf = np.maximum(table.idf, LEAST)
        idf[:2] *= self.lone
        classes = np.full(len(idf), COMMON, np.uint32)
        classes[: self.common + 1] = RARE
        classes[:2] = LONE
        return np.asarray(np.rint(UNIT * idf).astype(np.uint32) << np.uint32(2) | classes)

    @property
    def meeting(self) -> Meeting:
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        return weighted_sets.heavy_keys(self.fraction, evidence, rarity)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        num, den = self.fraction.as_integer_ratio()
        compared = self._compared(evidence, a, b, num, den)
        enough = compared.common * den >= compared.union * num
        passed, refused = enough & ~compared.template, int((enough & compared.template).sum())
        return Scores(passed, agreeing(compared.score, passed, self.threshold), refused)

    def may_be_exceptions(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        _, _, noise = _native.sizes_by_rarity(evidence.values, evidence.offsets)
        return noise > 0

    def rare_entries(self, evidence: Ragged, every: int) -> RareEntries:
        values = evidence.values
        wanted = (values & np.uint64(3)) == RARE
        if every > 1:
            wanted &= (values >> np.uint64(32)) % np.uint64(every) == 0
        ends = np.concatenate([[0], np.cumsum(wanted)])[evidence.offsets]
        weights, _, noise = _native.sizes_by_rarity(values, evidence.offsets)
        return RareEntries(Ragged(values[wanted], ends.astype(np.int64)), weights, noise > 0)

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        return self._compared(evidence, a, b, 0, 1).score

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        num, den = self.fraction.as_integer_ratio()
        compared = self._compared(evidence, a, b, num, den)
        refused = compared.template & (compared.common * den >= compared.union * num)
        return [REFUSAL if is_refused else None for is_refused in refused.tolist()]

    def low_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        compared = self._compared(evidence, a, b, 0, 1)
        union = compared.common + compared.union - compared.rare_weight
        score = np.asarray(compared.rare_weight / np.maximum(union, 1))
        passed = ~compared.template & (compared.rare >= LOW_FEATURES) & compared.noisy
        return Scores(passed, score)

    def _compared(self, evidence: Ragged, a: Array, b: Array, num: int, den: int) -> _Compared:
        """Exact for pairs that reach num/den; the comparison of other pairs may end early with sums
        that are too low."""
        weights, lone, noise = _native.sizes_by_rarity(evidence.values, evidence.offsets)
        # A surplus of unique shingles in one document is new text, not noise: it counts in full.
        more = np.abs(lone[a] - lone[b]) * round(4 * UNIT * (1 - self.lone))
        total = weights[a] + weights[b] + more
        needed = -(-total * num // (num + den))
        common, shared, rare_weight, rare = _native.shared_by_rarity(
            evidence.values, evidence.offsets, weights, a, b, needed
        )
        own, sizes = np.minimum(lone[a], lone[b]), evidence.lengths
        template = fills_template(own, np.minimum(sizes[a], sizes[b]), shared, rare)
        template &= self.templates == "refuse"
        noisy = (noise[a] > 0) | (noise[b] > 0)
        return _Compared(common, total - common, rare_weight, rare, template, noisy)


def _sets(words: Ragged, width: int, ignored: Array = _NOTHING) -> Ragged:
    return Ragged(*_native.sample_features(words.values, words.offsets, width, ignored, 1, 0))


def _noisy(words: Ragged, vocabulary: Frequencies) -> Array:
    """Documents with many unique words. In a small collection every document has many of them, so
    none counts as noisy."""
    if vocabulary.documents < NOISY_DOCUMENTS:
        return np.zeros(len(words), np.bool_)
    different = _sets(words, 1)
    lone = vocabulary.counts_of(different.values) < 2
    ends = np.concatenate([[0], np.cumsum(lone)])[different.offsets]
    sizes = different.lengths
    return full_of_noise(sizes, np.diff(ends))


def _marked(evidence: Ragged, noisy: Array) -> Ragged:
    if not noisy.any():
        return evidence
    of_noisy = np.repeat(noisy, evidence.lengths)
    lone = of_noisy & ((evidence.values & np.uint64(3)) == LONE)
    return Ragged(evidence.values | lone.astype(np.uint64), evidence.offsets)


class _Compared(NamedTuple):
    """``template``: both documents have words of their own and share hardly any rare features."""

    common: Array
    union: Array
    rare_weight: Array
    rare: Array
    template: Array
    noisy: Array

    @property
    def score(self) -> Array:
        return np.asarray(self.common / np.maximum(self.union, 1))
