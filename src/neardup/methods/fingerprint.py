"""Term fingerprints, for identical documents (Conrad et al. 2003, §6).

A fingerprint consists of the six rarest terms of a document, except those with an idf above .8,
which are typing errors. They are sorted by descending idf, then by code point. Each has an offset:
the position of its first occurrence minus the smallest such position among the six. The key is the
SHA-1 of terms and offsets. Documents with equal keys whose lengths differ by at most a small
percentage are duplicates.

SHA-1 reads terms as their ranks in the idf table, whose digest is part of everything that is
stored; 128 of the 160 bits are kept.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.idf import FILTERS, IdfNeed, IdfTable
from neardup.methods.base import Method, Prepared, Scores, agreeing
from neardup.methods.idf_terms import (
    check_lexicon,
    equal_evidence,
    number_flags,
    read_terms,
    table_of,
)
from neardup.methods.parameters import MOST_DECIMALS, require, require_one_of
from neardup.methods.preparation import prepared
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

MOST_TERMS = 1000
LENGTH = 2  # where the number of tokens stands, after the two halves of the key
ENTRIES = LENGTH + 1


@dataclass(frozen=True)
class Fingerprint(Method):
    """A few of the rarest terms and their places; finds identical documents in other skins.

    ``size``: how many terms make a fingerprint; documents with fewer have none.
    ``idf_max``: terms with a higher idf (0 to 1) do not count: they are typing errors.
    ``bin``: offsets are rounded up to a multiple of this, so that small insertions matter less.
    ``length_tolerance``: by which share the lengths of duplicates may differ.
    ``idf``: the file of an idf table, or general; without one, terms of the input are counted.
    ``terms``: "alpha" (three letters or more), "alnum+" (also at&t, e-mail) or "words".
    ``text``: what counts as the same word; neither stop words nor stems.
    """

    size: int = 6
    idf_max: float = 0.8
    bin: int | None = None
    length_tolerance: float = 0.05
    idf: str | None = None
    terms: str = "alpha"
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "fingerprint"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def __post_init__(self) -> None:
        require(1 <= self.size <= MOST_TERMS, self, "size", f"1 to {MOST_TERMS}")
        require(0 < self.idf_max <= 1, self, "idf_max", "above 0 and up to 1")
        require(self.bin is None or 1 <= self.bin < 1 << 31, self, "bin", "none, or 1 or more")
        require(0 <= self.length_tolerance < 1, self, "length_tolerance", "from 0 to below 1")
        whole = 10**MOST_DECIMALS % self.fraction.denominator == 0
        require(whole, self, "length_tolerance", f"at most {MOST_DECIMALS} decimals")
        require_one_of(FILTERS, self, "terms")
        _ = self.needs  # refuses text options that no idf table has

    @property
    def needs(self) -> tuple[Need, ...]:
        return (IdfNeed(self.idf, self.terms, self.text),)

    @functools.cached_property
    def fraction(self) -> Fraction:
        """Shorter / longer, at least."""
        return 1 - Fraction(str(self.length_tolerance))

    @property
    def threshold(self) -> float:
        return float(self.fraction)

    @property
    def reason(self) -> str:
        return f"equal fingerprint, lengths >= {self.threshold:g}"

    @property
    def score_meaning(self) -> str:
        return "shorter length / longer length where the fingerprints are equal, else 0"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "fingerprint", "keys": 1, "miss_rate": 0.0}

    def _candidates(self, table: IdfTable) -> range:
        return table.ranks(idf_max=self.idf_max)

    def check_artefacts(self, artefacts: Artefacts) -> None:
        table = table_of(artefacts)
        limits = f"an idf up to {self.idf_max:g}"
        check_lexicon(self.name, table, self._candidates(table), limits)

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        table = table_of(artefacts)
        reading, terms = read_terms(batch, self.text, table, self._candidates(table), self.size)
        ranks = terms.ranks
        fingerprints = _native.fingerprints(
            ranks.values, terms.first, ranks.offsets, self.size, self.bin or 0
        ).reshape(-1, 2)
        rows = np.arange(len(reading.words) + 1, dtype=np.int64)
        entries = np.column_stack([fingerprints, terms.tokens.astype(np.uint64)])
        return prepared(
            reading,
            evidence=Ragged(entries.reshape(-1), rows * ENTRIES),
            keys=Ragged(fingerprints[:, 0].copy(), rows),
            probes=np.ones(len(reading.words), np.int32),
            short=ranks.lengths < self.size,
            flags=number_flags(batch),
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        values, offsets = evidence.values, evidence.offsets
        entries = np.where(evidence.lengths == ENTRIES, offsets[:-1], -1)  # -1: it has none
        mine, theirs = entries[a], entries[b]
        both = (mine >= 0) & (theirs >= 0)
        equal = both.copy()
        for place in range(LENGTH):
            equal &= values[mine + place] == values[theirs + place]
        x, y = (values[at + LENGTH].astype(np.int64) for at in (mine, theirs))
        shorter, longer = np.minimum(x, y), np.maximum(x, y)
        enough = shorter * self.fraction.denominator >= longer * self.fraction.numerator
        same = ~both & equal_evidence(evidence, a, b)
        score = np.where(equal, shorter / np.maximum(longer, 1), same)
        passed = same | (equal & enough)
        return Scores(passed, agreeing(score, passed, self.threshold))
