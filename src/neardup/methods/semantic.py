"""Vectors of an encoder, near when the cosine is high (keys: random hyperplanes, Charikar 2002).

What the vectors mean is the encoder's word: with a model of sentences, texts are near that say the
same; with ``hashing``, which needs no model, texts that use the same words. A long text is cut into
chunks of as many words as the encoder reads, and its vector is the mean of theirs, each weighted by
its words. The vector is kept as numbers of 8 bits, on which the cosine is decided exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.encoder import Encoder, Encodes
from neardup.artefacts.encoders import EncoderNeed, named
from neardup.errors import SettingsError, SignatureError
from neardup.features.hyperplanes import LARGEST, quantised
from neardup.methods import plane_tables
from neardup.methods.fractions import threshold_fraction
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.method import Prepared, Scores
from neardup.methods.parameters import require
from neardup.methods.plane_tables import PlaneTables
from neardup.methods.preparing import SHORT_BYTES, prepared, read_words
from neardup.methods.vectors import product_scores
from neardup.schema import Array, Ragged
from neardup.text.chunks import chunks
from neardup.text.options import Text

FEWEST_ENTRIES = 2 * SHORT_BYTES  # no vector is as short as what stands for a short document
_DOCUMENTS = 512  # whose vectors are floats at once
_PAIRS = 1024  # that are multiplied at once


@dataclass(frozen=True)
class Semantic:
    """Vectors of an encoder of sentences, near when their cosine is high.

    ``encoder``: the folder of a model (model2vec, sentence-transformers), "module:attribute" or, in
    Python, an object or function; without one the lexical "hashing", which needs no model.
    ``threshold``: the cosine from which documents are duplicates; each encoder has its own.
    ``length``: words a chunk, 0 for whole texts; without one what the encoder reads (256).
    ``tables``: the most keys a document.
    ``bits``: hyperplanes a key; without a number as many as the tables allow.
    ``miss_rate_limit``: how many pairs at the threshold may be missed.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as a word for ``min_words``; the encoder reads the text as it is written.
    """

    encoder: str | Encodes | None = None
    threshold: float = 0.85
    length: int | None = None
    tables: int = 128
    bits: int | None = None
    miss_rate_limit: float = 0.01
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "semantic"
    columns: ClassVar[tuple[str, ...]] = ()
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int8)
    confirms_copies: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoder", named(self.encoder))
        _ = self._fraction
        most = plane_tables.MOST_BITS
        require(self.length is None or self.length >= 0, self, "length", "0 or more")
        require(1 <= self.tables <= plane_tables.MOST_TABLES, self, "tables", "from 1 to 1024")
        require(self.bits is None or 1 <= self.bits <= most, self, "bits", f"from 1 to {most}")
        require(0 < self.miss_rate_limit < 1, self, "miss_rate_limit", "between 0 and 1")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        _ = self.planes

    @property
    def _fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def needs(self) -> tuple[Need, ...]:
        return (self._need,)

    @property
    def _need(self) -> EncoderNeed:
        return EncoderNeed(cast("str | None", self.encoder))

    @property
    def planes(self) -> PlaneTables:
        asked = float(self._fraction), self.tables, self.miss_rate_limit
        if found := plane_tables.choose_tables(*asked, self.bits):
            return found
        bits = self.bits or plane_tables.FEWEST_BITS
        needed = plane_tables.tables_needed(asked[0], bits, self.miss_rate_limit)
        raise SettingsError(
            f"semantic: a threshold of {self.threshold} with {bits} bits a key and a miss rate of "
            f"{self.miss_rate_limit} needs {needed:,} tables; there are {self.tables}.",
            hint=f"take a higher threshold or more tables (up to {plane_tables.MOST_TABLES}).",
        )

    @property
    def reason(self) -> str:
        return f"cosine >= {self.threshold:g}"

    @property
    def miss_rate(self) -> float:
        return self.planes.miss_rate(float(self._fraction))

    @property
    def score_meaning(self) -> str:
        return "cosine of the vectors that the encoder gives"

    def resolved(self) -> dict[str, object]:
        return {"scheme": "hyperplanes", **self.planes._asdict(), "miss_rate": self.miss_rate}

    def check_artefacts(self, artefacts: Artefacts) -> None:
        """Whoever names an encoder must get it, and not that of a run."""
        given = encoder_in(artefacts)
        if self.encoder is not None and self._need.ready().digest != given.digest:
            raise SignatureError(
                f"semantic: encoder is {self.encoder}, but what it is built on was made with the "
                f"encoder {given.name}, which gives other vectors.",
                hint="name the same encoder, or none.",
            )

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, self.text)
        short = reading.shorter_than(self.min_words)
        vectors = self._document_vectors(batch, encoder_in(artefacts), ~short)
        keys, probes = plane_tables.plane_keys(vectors, self.planes)
        rows = np.arange(len(vectors) + 1, dtype=np.int64) * vectors.shape[1]
        nothing = ~vectors.any(axis=1)
        return prepared(reading, Ragged(vectors.reshape(-1), rows), keys, probes, short | nothing)

    def _document_vectors(
        self, batch: pa.RecordBatch, encoder: Encoder, wanted: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int8]:
        """One row a document; zeros for those that are not wanted."""
        entries = max(encoder.dimensions, FEWEST_ENTRIES)
        made = np.zeros((len(wanted), entries), np.int8)
        texts = Ragged.of_strings(batch.column("text"))
        rows = np.flatnonzero(wanted)
        for begin in range(0, len(rows), _DOCUMENTS):
            some = rows[begin : begin + _DOCUMENTS]
            means = self._means(encoder, texts.take(some))
            made[some, : encoder.dimensions] = quantised(means)
        return made

    def _means(self, encoder: Encoder, texts: Ragged) -> npt.NDArray[np.float64]:
        length = encoder.length if self.length is None else self.length
        cut = chunks(texts, length)
        vectors = encoder.unit_vectors(cut.texts) * np.maximum(cut.words, 1)[:, None]
        return np.add.reduceat(vectors, cut.offsets[:-1], axis=0)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        lengths = evidence.lengths
        long = (lengths[a] > SHORT_BYTES) & (lengths[b] > SHORT_BYTES)
        equal = equal_evidence(evidence, a, b)
        passed, score = equal.copy(), equal.astype(np.float64)
        if long.any():
            made = _cosines(evidence, a[long], b[long], self._fraction)
            passed[long], score[long] = made.passed, np.maximum(made.score, 0)
        return Scores(passed, np.where(equal, 1.0, score))


def encoder_in(artefacts: Artefacts) -> Encoder:
    return cast(Encoder, artefacts[Encoder.kind])


def _cosines(evidence: Ragged, a: Array, b: Array, t: Fraction) -> Scores:
    """All of these have vectors, which have one length."""
    documents, local = np.unique(np.concatenate([a, b]), return_inverse=True)
    vectors = evidence.take(documents).values.reshape(len(documents), -1)
    x, y = local[: len(a)], local[len(a) :]
    every = np.arange(len(documents))
    squares = _products(vectors, every, every)
    return product_scores("cosine", t, _products(vectors, x, y), squares[x], squares[y])


def _products(vectors: npt.NDArray[np.int8], x: Array, y: Array) -> npt.NDArray[np.int64]:
    """In floats that hold every sum exactly."""
    narrow = LARGEST**2 * vectors.shape[-1] < 1 << 24
    dtype: type[np.floating[Any]] = np.float32 if narrow else np.float64
    made = np.empty(len(x), np.int64)
    for begin in range(0, len(x), _PAIRS):
        some = slice(begin, begin + _PAIRS)
        one, other = (vectors[z[some]].astype(dtype) for z in (x, y))
        made[some] = np.einsum("ij,ij->i", one, other)
    return made
