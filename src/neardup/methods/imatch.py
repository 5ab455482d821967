"""I-Match: one signature of the terms that matter (Chowdhury et al. 2002; Kołcz et al. 2004).

The lexicon consists of the terms whose idf is within limits. The signature of a document is the
SHA-1 of its distinct terms in the lexicon, sorted; documents with equal signatures are duplicates.
A single additional term changes the signature. Further lexicons, each without a random share of the
terms, reduce this effect: documents that differ in one term agree in every lexicon without it.

SHA-1 reads terms as their ranks in the idf table, whose digest is part of everything that is
stored; 128 of the 160 bits are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.idf import FILTERS, IdfNeed, IdfTable
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.idf_terms import check_lexicon, equal_evidence, read_terms, table_of
from neardup.methods.parameters import require, require_one_of
from neardup.methods.preparation import prepared
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

MOST_LEXICONS = 100


@dataclass(frozen=True)
class IMatch(Method):
    """One signature of the terms with an idf within limits; equal signatures are duplicates.

    ``idf_min``: terms with a lower idf (0 to 1) are too common to count.
    ``idf_max``: terms with a higher idf are too rare to count: names, typing errors.
    ``min_terms``: documents with fewer terms in the lexicon have no signature.
    ``lexicons``: so many more signatures, by lexicons with terms left out at random.
    ``dropped``: the share of terms left out of each of these.
    ``min_equal``: so many signatures must be equal.
    ``seed``: which terms are left out.
    ``idf``: the file of an idf table, or general; without one, terms of the input are counted.
    ``terms``: "words", "alpha" (three letters or more) or "alnum+" (also at&t, e-mail).
    ``text``: what counts as the same word; neither stop words nor stems.
    """

    idf_min: float = 0.4
    idf_max: float = 1.0
    min_terms: int = 5
    lexicons: int = 0
    dropped: float = 0.33
    min_equal: int = 1
    seed: int = 0
    idf: str | None = None
    terms: str = "words"
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "imatch"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)

    def __post_init__(self) -> None:
        require(0 <= self.idf_min <= 1, self, "idf_min", "from 0 to 1")
        require(self.idf_min < self.idf_max <= 1, self, "idf_max", "above idf_min and up to 1")
        require(self.min_terms >= 1, self, "min_terms", "1 or more")
        require(0 <= self.lexicons <= MOST_LEXICONS, self, "lexicons", f"0 to {MOST_LEXICONS}")
        require(0 < self.dropped < 1, self, "dropped", "between 0 and 1")
        require(1 <= self.min_equal <= self.signatures, self, "min_equal", "1 to lexicons + 1")
        require(0 <= self.seed < 1 << 64, self, "seed", "0 or more, below 2^64")
        require_one_of(FILTERS, self, "terms")
        _ = self.needs  # refuses text options that no idf table has

    @property
    def signatures(self) -> int:
        return self.lexicons + 1

    @property
    def needs(self) -> tuple[Need, ...]:
        return (IdfNeed(self.idf, self.terms, self.text),)

    @property
    def threshold(self) -> float:
        return self.min_equal / self.signatures

    @property
    def reason(self) -> str:
        return "equal signature" if not self.lexicons else f"{self.min_equal} equal signatures"

    @property
    def score_meaning(self) -> str:
        return "share of the signatures that are equal"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "signatures", "keys": self._keys, "miss_rate": 0.0}

    @property
    def _keys(self) -> int:
        """The number of signatures that are keys: two documents that agree in ``min_equal`` of all
        signatures agree in at least one of these."""
        return self.signatures - self.min_equal + 1

    def _lexicon(self, table: IdfTable) -> range:
        return table.ranks(idf_min=self.idf_min, idf_max=self.idf_max)

    def check_artefacts(self, artefacts: Artefacts) -> None:
        table = table_of(artefacts)
        limits = f"an idf from {self.idf_min:g} to {self.idf_max:g}"
        check_lexicon(self.name, table, self._lexicon(table), limits)

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        table = table_of(artefacts)
        reading, terms = read_terms(batch, self.text, table, self._lexicon(table))
        signed = _native.imatch_signatures(
            terms.ranks.values,
            terms.ranks.offsets,
            table.hashes,
            self.lexicons,
            int(Fraction(str(self.dropped)) * 2**64),
            self.seed,
            self.min_terms,
        )
        rows = np.arange(len(reading.words) + 1, dtype=np.int64)
        first = signed.reshape(len(reading.words), self.signatures, 2)[:, : self._keys, 0]
        return prepared(
            reading,
            evidence=Ragged(signed, rows * 2 * self.signatures),
            keys=Ragged(np.ascontiguousarray(first).reshape(-1), rows * self._keys),
            probes=np.full(len(reading.words), self._keys, np.int32),
            short=terms.ranks.lengths < self.min_terms,
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        entries = 2 * self.signatures
        signed = evidence.lengths == entries
        both = signed[a] & signed[b]
        equal = np.where(equal_evidence(evidence, a, b), self.signatures, 0)
        equal[both] = _equal_signatures(evidence, a[both], b[both], entries)
        return Scores(equal >= self.min_equal, equal / self.signatures)


def _equal_signatures(evidence: Ragged, a: Array, b: Array, entries: int) -> Array:
    places = np.arange(entries)
    mine, theirs = (evidence.values[evidence.offsets[x][:, None] + places] for x in (a, b))
    equal = (mine == theirs).reshape(len(a), entries // 2, 2).all(axis=2)
    return np.asarray(equal.sum(axis=1))
