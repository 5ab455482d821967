"""Term vectors, for duplicates that are not identical (Conrad et al. 2003, §7).

The vector of a document is its date, its length in tokens and its 60 terms of highest idf. Two
documents are compared only if their dates are at most 42 days apart and the shorter one has at
least .8 of the length of the longer. They are duplicates if 48 of 60 terms are common. For vectors
with fewer terms, a and b, ``score = (common + 60 − max(a, b)) / 60``, and the common terms must
also be .8 of max(a, b).

A document with a terms shares at least ⌈.8a⌉ of them with every duplicate. At most ⌈.8a⌉ − 2 of the
common terms are not among the first ``a − ⌈.8a⌉ + 2`` by rank, rarest first, so the two rarest
common terms are among the first ones of both documents. Every two of these are a key, and no pair
is missed. If these would be too many keys (low thresholds), each of the first ``a − ⌈.8a⌉ + 1``
terms is a key.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.idf import FILTERS, IdfNeed, IdfTable
from neardup.features.dates import NO_DATE, check_dates, days
from neardup.features.terms import LAST_DAY, MOST_TOKENS, Vector, pack, unpack
from neardup.methods.base import UNDATED, UNRELIABLE, Method, Prepared, Scores, StoreForm, agreeing
from neardup.methods.idf_terms import (
    check_lexicon,
    equal_evidence,
    number_flags,
    read_terms,
    table_of,
)
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.parameters import require, require_one_of, threshold_fraction
from neardup.methods.preparation import SHORT_ENTRIES, prepared
from neardup.methods.set_measures import NO_COUNTS, prefix_sizes
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

MOST_TERMS = 1000
NO_TESTS = -1, (0, 1), (0, 1)  # days, lengths and common terms exclude no pair
HEAD = 2  # day and length stand before the terms
FEWEST_TERMS = SHORT_ENTRIES - HEAD + 1  # fewer would look like the evidence of a short document
MOST_KEYS = 150  # a document
FEW_TERMS = 20  # fewer are compared, but flagged
DAY_ZERO = 1 << 31  # days are stored from here, and no day as 0


@dataclass(frozen=True)
class TermVector(Method):
    """Date, length and the 60 rarest terms; finds rewritten and extended versions of a story.

    ``size``: how many terms are compared, those of highest idf.
    ``threshold``: the share of them that duplicates have in common.
    ``length_ratio``: shorter / longer in tokens; below it documents are not compared.
    ``date``: the column of the date; on the command line also ``--date``.
    ``max_days``: documents whose dates are further apart are not compared.
    ``min_count``: terms that occur in fewer documents of the idf table do not count.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``packed``: dates and lengths have two bytes, and an index stores a vector in 184, as the paper.
    ``idf``: the file of an idf table, or general; without one, terms of the input are counted.
    ``terms``: "alpha" (three letters or more), "alnum+" (also at&t, e-mail) or "words".
    ``text``: what counts as the same word; neither stop words nor stems.
    """

    size: int = 60
    threshold: float = 0.8
    length_ratio: float = 0.8
    date: str | None = None
    max_days: int = 42
    min_count: int = 1
    min_words: int = 15
    packed: bool = False
    idf: str | None = None
    terms: str = "alpha"
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "termvector"
    added: ClassVar[tuple[str, ...]] = ("packed",)
    groups_choose: ClassVar[bool] = True
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        threshold_fraction(self.threshold)
        require(FEWEST_TERMS <= self.size <= MOST_TERMS, self, "size", f"3 to {MOST_TERMS}")
        require(0 < self.length_ratio <= 1, self, "length_ratio", "above 0 and up to 1")
        threshold_fraction(self.length_ratio)
        require(0 <= self.max_days < 1 << 31, self, "max_days", "0 or more")
        require(self.min_count >= 1, self, "min_count", "1 or more")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        require_one_of(FILTERS, self, "terms")
        _ = self.needs  # refuses text options that no idf table has

    @property
    def needs(self) -> tuple[Need, ...]:
        return (IdfNeed(self.idf, self.terms, self.text),)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.date,) if self.date else ()

    def remarks(self, too_short: int) -> list[str]:
        undated = (
            f"No date column was named, so the limit of {self.max_days} days is not applied. "
            "Hint: --date COLUMN."
        )
        rare = (
            f"Terms of fewer than {self.min_count} documents do not count (min_count), so "
            "documents of a small collection have too few. Hint: --set min_count=1, or a table of "
            "a larger collection (--set idf=FILE)."
        )
        return [undated] * (self.date is None) + [rare] * (self.min_count > 1 and too_short > 0)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"common terms >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        return f"share of {self.size} rarest terms in common, those that neither has included"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "pairs" if self._paired else "prefix", "miss_rate": 0.0}

    def _candidates(self, table: IdfTable) -> range:
        return table.ranks(min_count=self.min_count)

    def check_columns(self, first: pa.RecordBatch) -> None:
        if self.date:
            check_dates(first.column(self.date), self.date)

    def check_artefacts(self, artefacts: Artefacts) -> None:
        table = table_of(artefacts)
        limits = f"a count of {self.min_count} or more"
        check_lexicon(self.name, table, self._candidates(table), limits)
        if self.packed and len(table):
            pack(Vector(None, 0, (len(table) - 1,)))  # refuses ranks of more than three bytes

    @property
    def store_form(self) -> StoreForm | None:
        return StoreForm(_packed, self._unpacked) if self.packed else None

    def _unpacked(self, stored: bytes) -> tuple[Array, Array]:
        day, length, terms = unpack(stored)
        evidence = np.array([0 if day is None else day + DAY_ZERO, length, *terms], np.uint32)
        rows = Ragged(evidence, np.array([0, len(evidence)], np.int64))
        return self.rare_keys(rows, Rarity(NO_COUNTS))[0].values, evidence

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        table = table_of(artefacts)
        reading, terms = read_terms(batch, self.text, table, self._candidates(table), self.size)
        day, flags = self._days(batch)
        tokens = np.minimum(terms.tokens, MOST_TOKENS) if self.packed else terms.tokens
        evidence = Ragged(
            *_native.term_vectors(terms.ranks.values, terms.ranks.offsets, day, tokens, self.size)
        )
        count = evidence.lengths - HEAD
        keys, probes = self.rare_keys(evidence, Rarity(NO_COUNTS))
        return prepared(
            reading,
            evidence=evidence,
            keys=keys,
            probes=probes,
            short=reading.shorter_than(self.min_words) | (count < FEWEST_TERMS),
            flags=flags | number_flags(batch) | np.where(count < FEW_TERMS, UNRELIABLE, 0),
        )

    def _days(self, batch: pa.RecordBatch) -> tuple[npt.NDArray[np.uint32], Array]:
        """Days as they are stored, and flags of documents without a date, if there is a date
        column."""
        if not self.date:
            return np.zeros(batch.num_rows, np.uint32), np.zeros(batch.num_rows, np.uint8)
        since = days(batch.column(self.date), self.date)
        none = since == NO_DATE
        since = np.clip(since, 0, LAST_DAY) if self.packed else since
        stored = np.where(none, 0, since.astype(np.int64) + DAY_ZERO).astype(np.uint32)
        return stored, np.where(none, UNDATED, 0)

    @property
    def _paired(self) -> bool:
        """Whether keys are pairs of terms: duplicates always share two, and the pairs are few."""
        looked_at = self.size - math.ceil(self.fraction * self.size) + 2
        return self.fraction * FEWEST_TERMS > 1 and math.comb(looked_at, 2) <= MOST_KEYS

    @property
    def meeting(self) -> Meeting:
        """The engine makes the keys when it has all documents, one part of the key space at a
        time."""
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        """Keys in the order of the ranks of the table, whatever the documents at hand."""
        count = evidence.lengths - HEAD
        sizes = prefix_sizes("max", self.fraction, count) + self._paired
        keys, ends = _native.vector_keys(
            evidence.values, evidence.offsets, sizes, self._paired, rarity.part, rarity.parts
        )
        return Ragged(keys, ends), np.diff(ends).astype(np.int32)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        common, needed = self._common(evidence, a, b)
        score = np.where(common < 0, 0.0, self._share(evidence, a, b, common))
        passed = common >= needed
        if (either := _short(evidence, a, b)).any():
            same = equal_evidence(evidence, a, b)
            passed = np.where(either, same, passed)
            score = np.where(either, same, score)
        return Scores(passed, agreeing(score, passed, self.threshold))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        """Scores without the tests of dates, lengths and threshold, so that every pair is
        compared."""
        common, _ = _common_terms(evidence, a, b, *NO_TESTS)
        score = self._share(evidence, a, b, common)
        either = _short(evidence, a, b)
        return np.where(either, equal_evidence(evidence, a, b), score) if either.any() else score

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        pairs = zip(a.tolist(), b.tolist(), _short(evidence, a, b).tolist(), strict=True)
        return [
            None if short else self._refusal(vector_of(evidence[i]), vector_of(evidence[j]))
            for i, j, short in pairs
        ]

    def _refusal(self, one: Vector, other: Vector) -> str | None:
        if one.day is not None and other.day is not None:
            apart = abs(one.day - other.day)
            if apart > self.max_days:
                return f"the dates are {apart:,} days apart, at most {self.max_days:,} are compared"
        shorter, longer = sorted((one.length, other.length))
        if shorter < threshold_fraction(self.length_ratio) * longer:
            return (
                f"the shorter has {shorter / longer:.4g} of the tokens of the longer, "
                f"from {self.length_ratio:g} on they are compared"
            )
        return self._too_few(len({*one.terms} & {*other.terms}), one, other)

    def _too_few(self, common: int, one: Vector, other: Vector) -> str | None:
        """Pairs of incomplete vectors that reach the score with too few common terms."""
        larger = max(len(one.terms), len(other.terms))
        needed = math.ceil(self.fraction * larger)
        if common >= needed or common + self.size - larger < self.fraction * self.size:
            return None
        return f"{common} of {larger} terms are common, {needed} are needed"

    def _common(self, evidence: Ragged, a: Array, b: Array) -> tuple[Array, Array]:
        length = threshold_fraction(self.length_ratio).as_integer_ratio()
        tests = self.max_days, length, self.fraction.as_integer_ratio()
        return _common_terms(evidence, a, b, *tests)

    def _share(self, evidence: Ragged, a: Array, b: Array, common: Array) -> Array:
        sizes = evidence.lengths - HEAD
        return np.asarray((common + self.size - np.maximum(sizes[a], sizes[b])) / self.size)


def _common_terms(
    evidence: Ragged,
    a: Array,
    b: Array,
    days: int,
    length: tuple[int, int],
    shared: tuple[int, int],
) -> tuple[Array, Array]:
    """The number of common terms and the number needed; −1 if dates or lengths exclude the pair."""
    return _native.common_terms(evidence.values, evidence.offsets, a, b, days, length, shared)


def _short(evidence: Ragged, a: Array, b: Array) -> Array:
    """Pairs in which at least one document is too short, so that its evidence is a digest."""
    short = evidence.lengths == SHORT_ENTRIES
    return np.asarray(short[a] | short[b])


def _packed(evidence: Array) -> bytes:
    return pack(vector_of(evidence))


def vector_of(evidence: Array) -> Vector:
    """The evidence of one document in readable form."""
    day, length, *terms = evidence.tolist()
    return Vector(day - DAY_ZERO if day else None, length, tuple(terms))
