"""Vectors of an encoder, compared by cosine; keys are random hyperplanes (Charikar 2002).

The meaning of the vectors depends on the encoder: with a sentence model, texts with the same
meaning are near; with ``hashing``, which needs no model, texts that use the same words. Sentence
encoders ignore all but the first few hundred tokens. A long text is therefore divided into chunks
of as many words as the encoder reads, and its vector is the mean of their vectors, weighted by
number of words. Words are those of ``Text()``, so a chunk in a script without spaces has as many
characters as a chunk in a different script has words. The vector is stored in 8-bit integers, on
which the cosine is decided exactly.

With ``k`` bits a key and ``L`` keys, each of its own table, a pair with the angle θ shares no key
with probability (1 − (1 − θ/π)ᵏ)ᴸ. With more bits fewer unlike documents meet, but more tables are
needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.encoders import Encoder, EncoderNeed, Encodes, named
from neardup.errors import SettingsError, SignatureError
from neardup.features.vectors import LARGEST, quantised, sides
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import mixed
from neardup.methods.parameters import require, threshold_fraction
from neardup.methods.preparation import SHORT_BYTES, prepared, read_words
from neardup.methods.weighted_sets import product_scores
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text

FEWEST_BITS, MOST_BITS = 8, 32
MOST_TABLES = 1024


def agreement(cosine: float) -> float:
    """1 − θ/π: the probability that two vectors lie on the same side of a random plane."""
    return 1 - math.acos(cosine) / math.pi


class PlaneTables(NamedTuple):
    bits: int
    tables: int

    def miss_rate(self, cosine: float) -> float:
        """(1 − pᵏ)ᴸ: no table agrees."""
        return float((1 - agreement(cosine) ** self.bits) ** self.tables)


def choose_tables(
    cosine: float, most: int, miss_rate: float, bits: int | None = None
) -> PlaneTables | None:
    """The most bits with which at most ``most`` tables keep the miss rate, unless ``bits`` is set,
    and the fewest tables for these bits. None if no such tables exist."""
    wanted = range(MOST_BITS, FEWEST_BITS - 1, -1) if bits is None else (bits,)
    for k in wanted:
        tables = tables_needed(cosine, k, miss_rate)
        if tables <= most:
            return PlaneTables(k, tables)
    return None


def tables_needed(cosine: float, bits: int, miss_rate: float) -> int:
    hit = agreement(cosine) ** bits
    return 1 if hit >= 1 else math.ceil(math.log(miss_rate) / math.log1p(-hit))


def plane_keys(vectors: Array, chosen: PlaneTables) -> tuple[Ragged, Array]:
    """Keys of vectors of 8-bit integers, and the number of them that search: all."""
    count, (bits, tables) = len(vectors), chosen
    packed = np.zeros((count, tables, 8), np.uint8)
    signs = sides(vectors, bits * tables).reshape(count, tables, bits)
    packed[:, :, : -(-bits // 8)] = np.packbits(signs, axis=2, bitorder="little")
    words = packed.reshape(-1, 8).view(np.dtype("<u8")).astype(np.uint64)
    keys = mixed(words, np.tile(np.arange(tables, dtype=np.uint64), count))
    ends = np.arange(count + 1, dtype=np.int64) * tables
    return Ragged(keys, ends), np.full(count, tables, np.int32)


class Chunks(NamedTuple):
    """The chunks of text ``i`` are ``texts[offsets[i]:offsets[i + 1]]``; joined they are the text.
    ``words`` is the number of words of each chunk."""

    texts: list[str]
    words: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]


def chunks(texts: Ragged, words: int) -> Chunks:
    """Texts divided into chunks of so many words; with 0, each text is one chunk. Every text has at
    least one chunk, even an empty text."""
    plain = Text().native()
    _, begins, _, ends = _native.word_spans(texts.values, texts.offsets, plain, None)
    pieces: list[str] = []
    counts: list[int] = []
    many: list[int] = []
    for i, (first, last) in enumerate(pairwise(ends.tolist())):
        cuts = begins[first:last][words::words].tolist() if words else []
        whole = bytes(texts[i])
        pieces += [whole[a:b].decode() for a, b in pairwise([0, *cuts, len(whole)])]
        counts += [words] * len(cuts) + [last - first - words * len(cuts)]
        many.append(len(cuts) + 1)
    return Chunks(pieces, np.array(counts, np.int64), offsets_of(np.array(many, np.int64)))


FEWEST_ENTRIES = 2 * SHORT_BYTES  # every vector is longer than the evidence of a short document
_DOCUMENTS = 512  # documents whose vectors are in memory as floats
_PAIRS = 1024  # pairs that are multiplied at once


@dataclass(frozen=True)
class Semantic(Method):
    """Vectors of an encoder of sentences, near when their cosine is high.

    ``encoder``: "unisim" (extra ``semantic``), the folder of a model (model2vec,
    sentence-transformers), "module:attribute" or, in Python, an object or function; without one the
    lexical "hashing", which needs no model.
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
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.int8)

    def __post_init__(self) -> None:
        object.__setattr__(self, "encoder", named(self.encoder))
        _ = self._fraction
        most = MOST_BITS
        require(self.length is None or self.length >= 0, self, "length", "0 or more")
        require(1 <= self.tables <= MOST_TABLES, self, "tables", "from 1 to 1024")
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
        if found := choose_tables(*asked, self.bits):
            return found
        bits = self.bits or FEWEST_BITS
        needed = tables_needed(asked[0], bits, self.miss_rate_limit)
        raise SettingsError(
            f"semantic: a threshold of {self.threshold} with {bits} bits a key and a miss rate of "
            f"{self.miss_rate_limit} needs {needed:,} tables; there are {self.tables}.",
            hint=f"take a higher threshold or more tables (up to {MOST_TABLES}).",
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
        """Refuses a named encoder that differs from the encoder of the run that this one is built
        on."""
        stored = encoder_in(artefacts)
        if self.encoder is not None and self._need.ready().digest != stored.digest:
            raise SignatureError(
                f"semantic: encoder is {self.encoder}, but what it is built on was made with the "
                f"encoder {stored.name}, which gives other vectors.",
                hint="name the same encoder, or none.",
            )

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, self.text)
        short = reading.shorter_than(self.min_words)
        vectors = self._document_vectors(batch, encoder_in(artefacts), ~short)
        keys, probes = plane_keys(vectors, self.planes)
        rows = np.arange(len(vectors) + 1, dtype=np.int64) * vectors.shape[1]
        nothing = ~vectors.any(axis=1)
        return prepared(reading, Ragged(vectors.reshape(-1), rows), keys, probes, short | nothing)

    def _document_vectors(
        self, batch: pa.RecordBatch, encoder: Encoder, wanted: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int8]:
        """One row for each document, with zeros if it is not wanted."""
        entries = max(encoder.dimensions, FEWEST_ENTRIES)
        vectors = np.zeros((len(wanted), entries), np.int8)
        texts = Ragged.of_strings(batch.column("text"))
        rows = np.flatnonzero(wanted)
        for begin in range(0, len(rows), _DOCUMENTS):
            some = rows[begin : begin + _DOCUMENTS]
            means = self._means(encoder, texts.take(some))
            vectors[some, : encoder.dimensions] = quantised(means)
        return vectors

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
            cosines = _cosines(evidence, a[long], b[long], self._fraction)
            passed[long], score[long] = cosines.passed, np.maximum(cosines.score, 0)
        return Scores(passed, np.where(equal, 1.0, score))


def encoder_in(artefacts: Artefacts) -> Encoder:
    return cast("Encoder", artefacts[Encoder.kind])


def _cosines(evidence: Ragged, a: Array, b: Array, t: Fraction) -> Scores:
    """Scores of pairs that all have vectors, of the same length."""
    documents, local = np.unique(np.concatenate([a, b]), return_inverse=True)
    vectors = evidence.take(documents).values.reshape(len(documents), -1)
    x, y = local[: len(a)], local[len(a) :]
    every = np.arange(len(documents))
    squares = _products(vectors, every, every)
    return product_scores("cosine", t, _products(vectors, x, y), squares[x], squares[y])


def _products(vectors: npt.NDArray[np.int8], x: Array, y: Array) -> npt.NDArray[np.int64]:
    """x·y of each pair, in floats that represent every sum exactly."""
    narrow = LARGEST**2 * vectors.shape[-1] < 1 << 24
    dtype: type[np.floating[Any]] = np.float32 if narrow else np.float64
    products = np.empty(len(x), np.int64)
    for begin in range(0, len(x), _PAIRS):
        some = slice(begin, begin + _PAIRS)
        left, right = (vectors[z[some]].astype(dtype) for z in (x, y))
        products[some] = np.einsum("ij,ij->i", left, right)
    return products
