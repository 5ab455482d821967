"""Weighted keywords: terms of greatest tf·idf of a document or sentence (Raveena & Nandini 2014).

A document is the vector of its ``k`` heaviest terms, or of those of all its sentences; with
``unit="tuple"``, it is the set of ordered k-tuples. The idf comes from a frozen table, which is
counted from the input if no file is named. Weights are whole numbers below 2²⁰
(``native/methods/keywords.hpp``), so pairs are decided in integers. Keys are prefixes, which miss
no pair.

``order`` has the lexical signatures of Park et al. 2002 (as Conrad et al. describe them): terms of
greatest tf, of smallest df, of greatest tf·idf, and hybrids such as three of greatest tf and the
two rarest of the others. With ``tf="capped"`` an occurrence after the fifth does not count (Phelps
& Wilensky 2000).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.frequencies import normalised_idf
from neardup.artefacts.idf import FILTERS, IdfNeed, IdfTable
from neardup.features.vectors import MEASURES as VECTOR_MEASURES
from neardup.methods.base import UNRELIABLE, Method, Prepared, Scores
from neardup.methods.idf_terms import table_of
from neardup.methods.meeting import Meeting, Rarity, by_rare_prefix
from neardup.methods.parameters import require, require_one_of, threshold_fraction
from neardup.methods.preparation import prepared, read_words
from neardup.methods.weighted_sets import as_sets, rare_vector_keys, vector_scores
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text
from neardup.text.words import stop_set

PER = ("document", "sentence")
UNITS = ("word", "tuple")
MEASURES = ("jaccard", *VECTOR_MEASURES)
TF = ("count", "log", "capped")
# How many terms by which order, then how many of the others by rarity; 0 for ``k`` terms.
ORDERS = {
    "tf-idf": ("tf-idf", 0, 0),
    "tf": ("tf", 0, 0),
    "df": ("df", 0, 0),
    "3tf+2df": ("tf", 3, 2),
    "4tf+1df": ("tf", 4, 1),
    "3tf-idf+2df": ("tf-idf", 3, 2),
    "4tf-idf+1df": ("tf-idf", 4, 1),
}
MOST_COUNTED = 5  # of the occurrences of a term, with tf="capped"; the number is ours
USUAL_K = {"document": 20, "sentence": 4}
MOST_K = 10_000
FEW_KEYWORDS = 5
MOST_PAIRED = 32  # keywords of which pairs are keys: some 400 a document at most
_FIXED = 1 << 20  # idf 1 in the fixed point of the kernel
BY_FEATURE = np.zeros(1 << 8, np.uint8)  # all equally rare


@dataclass(frozen=True)
class Keywords(Method):
    """The terms of greatest tf·idf; the defaults find copies and revised versions.

    ``k``: how many terms; None takes 20 of a document, 4 of a sentence.
    ``per``: "document", or "sentence" for the keywords of each sentence together.
    ``unit``: "word", or "tuple": the k terms in order of weight are one feature.
    ``measure``: "jaccard" (of the sets), "cosine", "euclidean", "extended_jaccard" or "dice".
    ``threshold``: the score from which two documents are duplicates.
    ``order``: which terms: of greatest "tf-idf" or "tf", or the rarest ("df"); or "3tf+2df",
    "4tf+1df", "3tf-idf+2df", "4tf-idf+1df".
    ``tf``: "count" of a term; "log": 1 + ln of it, so that repetition counts less; "capped": at 5.
    ``terms``: "words", "alpha" (three letters or more, no digits) or "alnum+" (at&t, e-mail).
    ``min_documents``: terms in fewer documents of the idf table are left out; 0 takes all.
    ``idf``: the file of an idf table, or general; None counts one from the input.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as the same word; stop words are no keywords, stems are not offered.
    """

    k: int | None = None
    per: str = "document"
    unit: str = "word"
    measure: str = "jaccard"
    threshold: float = 0.5
    order: str = "tf-idf"
    tf: str = "log"
    terms: str = "words"
    min_documents: int = 0
    idf: str | None = None
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "keywords"
    added: ClassVar[tuple[str, ...]] = ("order",)
    groups_choose: ClassVar[bool] = True
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def __post_init__(self) -> None:
        require_one_of(PER, self, "per")
        require_one_of(UNITS, self, "unit")
        require_one_of(MEASURES, self, "measure")
        require_one_of(TF, self, "tf")
        require_one_of(ORDERS, self, "order")
        plain = (self.per, self.unit, self.measure, self.k) == ("document", "word", "jaccard", None)
        hint = "one without +, or per, unit, measure and k as they are by default"
        require(plain or not ORDERS[self.order][2], self, "order", hint)
        require_one_of(FILTERS, self, "terms")
        require(self.k is None or 1 <= self.k <= MOST_K, self, "k", f"from 1 to {MOST_K:,}")
        require(self.min_documents >= 0, self, "min_documents", "0 or more")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        threshold_fraction(self.threshold)
        _ = self.needs  # refuses text options that no idf table has

    @property
    def needs(self) -> tuple[Need, ...]:
        return (IdfNeed(self.idf, self.terms, replace(self.text, stop_words=())),)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        return f"{self.measure} of keywords >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        name = self.measure.replace("_", " ")
        what = "greatest tf·idf" if self.order == "tf-idf" else f"the order {self.order}"
        return f"{name} of the keywords of {what} of each {self.per}"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "prefix", "k": self._k, "miss_rate": self.miss_rate}

    @property
    def _k(self) -> int:
        if hybrid := sum(ORDERS[self.order][1:]):
            return hybrid
        return USUAL_K[self.per] if self.k is None else self.k

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        table = table_of(artefacts)
        reading = read_words(batch, self.text)
        evidence = self.keywords(batch.column("text"), table)
        # All documents need the same order; that of the frozen table is close to the collection's.
        counts = table.feature_counts if self.unit == "word" else BY_FEATURE
        keys, probes = self.rare_keys(evidence, Rarity(counts))
        short = reading.shorter_than(self.min_words) | (evidence.lengths == 0)
        few = (evidence.lengths < FEW_KEYWORDS) & (self.unit == "word")
        return prepared(reading, evidence, keys, probes, short, few * UNRELIABLE)

    def keywords(self, texts: pa.LargeStringArray, table: IdfTable) -> Ragged:
        """The entries ``feature << 32 | weight`` of each text, sorted."""
        first, count, rare = ORDERS[self.order]
        if not rare:
            return self._heaviest(texts, table, first, self._k)
        heaviest = self._heaviest(texts, table, first, count)
        return _with_others(heaviest, self._heaviest(texts, table, "df", self._k), rare)

    def _heaviest(
        self, texts: pa.LargeStringArray, table: IdfTable, order: str, most: int
    ) -> Ragged:
        encoded = Ragged.of_strings(texts)
        known = self.min_documents > 0
        lookup, idf = self._weighed(table)
        unknown = int(_fixed(normalised_idf(1, table.documents)))
        if order == "tf":  # all terms weigh the same; stop words, of idf 0, are still left out
            idf, unknown = np.where(idf > 0, _FIXED, 0).astype(np.uint32), _FIXED
        entries, ends = _native.keywords(
            encoded.values,
            encoded.offsets,
            self.text.native(),
            FILTERS.index(self.terms),
            lookup,
            idf=idf,
            unknown_idf=0 if known else unknown,
            first_rank=table.ranks(min_count=self.min_documents).start,
            tf=_tf("once" if order == "df" else self.tf),
            k=most,
            sentences=self.per == "sentence",
            tuples=self.unit == "tuple",
        )
        return Ragged(entries, ends)

    def _weighed(self, table: IdfTable) -> tuple[_native.TermTable, npt.NDArray[np.uint32]]:
        """The terms with their idf; that of a stop word is 0, and the kernel leaves it out."""
        idf = _fixed(table.idf)
        stop_words = pa.array(sorted(stop_set(self.text)), pa.large_string())
        if not len(stop_words):
            return table.lookup, idf
        idf[np.asarray(pc.is_in(table.terms, stop_words), np.bool_)] = 0
        missing = stop_words.filter(pc.invert(pc.is_in(stop_words, table.terms)))
        names = Ragged.of_strings(pa.concat_arrays([table.terms, missing]))
        lookup = _native.TermTable(names.values, names.offsets)
        return lookup, np.concatenate([idf, np.zeros(len(missing), np.uint32)])

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        measure, vectors = self._measured(evidence)
        return vector_scores(measure, self.fraction, vectors, a, b)

    @property
    def meeting(self) -> Meeting:
        return by_rare_prefix(self.rare_keys)

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        measure, vectors = self._measured(evidence)
        pairs = self.per == "document" and self._k <= MOST_PAIRED
        return rare_vector_keys(measure, self.fraction, vectors, rarity, pairs=pairs)

    def _measured(self, evidence: Ragged) -> tuple[str, Ragged]:
        if self.measure == "jaccard":
            return "extended_jaccard", as_sets(evidence)
        return self.measure, evidence


def _fixed(idf: Any) -> npt.NDArray[np.uint32]:
    """idf as a whole number; never 0, because a term of every document is light but not absent."""
    fixed = np.maximum(np.rint(np.asarray(idf) * _FIXED), 1)
    return np.asarray(fixed, np.uint32)


def _with_others(first: Ragged, rarest: Ragged, count: int) -> Ragged:
    """The entries of ``first``, and ``count`` of greatest weight of those that it does not have."""
    rows = [np.repeat(np.arange(len(one)), one.lengths) for one in (first, rarest)]
    marks = [
        row.astype(np.uint64) << np.uint64(32) | one.values >> np.uint64(32)
        for row, one in zip(rows, (first, rarest), strict=True)
    ]
    new = ~np.isin(marks[1], marks[0])
    row, entries = rows[1][new], rarest.values[new]
    heavy = np.lexsort((entries, -(entries & np.uint64(0xFFFFFFFF)).astype(np.int64), row))
    row, entries = row[heavy], entries[heavy]
    place = np.arange(len(row)) - np.searchsorted(row, row)
    row, entries = row[place < count], entries[place < count]
    all_rows = np.concatenate([rows[0], row])
    both = np.concatenate([first.values, entries])
    order = np.lexsort((both, all_rows))
    return Ragged(both[order], offsets_of(np.bincount(all_rows, minlength=len(first))))


@functools.lru_cache(maxsize=4)
def _tf(kind: str) -> npt.NDArray[np.uint32]:
    """Weights by number of occurrences. The largest weight is below 2²⁰ and also holds for all
    higher numbers."""
    if kind == "once":
        return np.array([0, 1 << 16], np.uint32)
    if kind == "capped":
        return np.arange(MOST_COUNTED + 1, dtype=np.uint32) << np.uint32(16)
    if kind == "count":
        return np.arange(1024, dtype=np.uint32) << np.uint32(10)
    logs = [0.0, *(1 + math.log(n) for n in range(1, 1 << 16))]
    return np.asarray(np.rint(np.array(logs) * (1 << 16)), np.uint32)
