"""The preparation that all methods share: words of a batch, short documents and digests.

A document that is too short for its method is compared by its normal form only. Its evidence is
replaced by four 32-bit numbers of a digest, and it gets a key by which equal documents meet. No
other evidence has this form by design; a set of four features equals it by accident once in 2⁹⁶.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.classes import dataclass
from neardup.methods.base import TOO_SHORT, Prepared
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

SHORT_ENTRIES = 4
SHORT_BYTES = 4 * SHORT_ENTRIES
_NO_DIGESTS = np.zeros((1, 2), np.uint64)
TEXT_SEED = 7  # of the digests of texts, as in native/methods/reading.hpp


@dataclass(frozen=True)
class Reading:
    """``words`` are hashes in order, without stop words, or their numbers alone; ``short_digests``
    has two for each document."""

    words: Ragged
    text_digests: npt.NDArray[np.uint64]
    normal_digests: npt.NDArray[np.uint64]
    short_digests: npt.NDArray[np.uint64]

    def shorter_than(self, words: int) -> npt.NDArray[np.bool_]:
        return self.words.lengths < max(words, 1)


def read_words(batch: pa.RecordBatch, text: Text, *, hashes: bool = True) -> Reading:
    """The hashes of the words of each text, and its digests; without ``hashes`` the words are only
    counted."""
    texts = Ragged.of_strings(batch.column("text"))
    words = word_map(texts.values, texts.offsets, text)
    values, ends, of_text, of_normal, short = _native.read_words(
        texts.values, texts.offsets, text.native(), words, hashes
    )
    return Reading(Ragged(values, ends), of_text, of_normal, short.reshape(-1, 2))


def field_texts(column: pa.Array) -> Ragged:
    """The values of a column beside the text as texts; a missing one is empty."""
    return Ragged.of_strings(column.cast(pa.large_string()).fill_null(""))


def text_digests(batch: pa.RecordBatch) -> Array:
    """Digests of the bytes of each text, as ``read_words`` computes them; a run stores them."""
    texts = Ragged.of_strings(batch.column("text"))
    digests: Array = _native.bytes_digests(texts.values, texts.offsets, TEXT_SEED)
    return digests


def prepared(
    reading: Reading,
    evidence: Ragged,
    keys: Ragged,
    probes: Array,
    short: npt.NDArray[np.bool_],
    flags: Array | None = None,
    *,
    digested: bool = True,
) -> Prepared:
    """The prepared batch; documents that are ``short`` get a digest as evidence and key. Without
    ``digested`` the evidence is to change, so its digests are left open."""
    marks = np.zeros(len(short), np.uint8) if flags is None else flags.astype(np.uint8)
    if short.any():
        evidence = replaced(evidence, short, short_evidence(reading, evidence.values.dtype))
        one_each = np.arange(len(short) + 1, dtype=np.int64)
        keys = replaced(keys, short, Ragged(reading.short_digests[:, 0].copy(), one_each))
        probes = np.where(short, 1, probes)
        marks = np.where(short, TOO_SHORT, marks).astype(np.uint8)
    return Prepared(
        keys=keys,
        probes=probes.astype(np.int32),
        evidence=evidence,
        digests=evidence_digests(evidence, short)
        if digested
        else _NO_DIGESTS.repeat(len(marks), 0),
        text_digests=reading.text_digests,
        normal_digests=reading.normal_digests,
        flags=marks,
    )


def least_features(min_words: int, width: int) -> int:
    """The number of shingles of the shortest text that is compared."""
    return max(min_words - width + 1, 1)


def no_keys(sets: Ragged) -> tuple[Ragged, Array]:
    """Empty keys, for an engine that makes its own or needs none."""
    none = Ragged(np.empty(0, np.uint64), np.zeros(len(sets) + 1, np.int64))
    return none, np.zeros(len(sets), np.int32)


def evidence_digests(evidence: Ragged, short: npt.NDArray[np.bool_]) -> Array:
    """128 bits for each document; the evidence of a short document never equals that of a long
    one."""
    size = evidence.values.dtype.itemsize
    values, offsets = evidence.values.view(np.uint8), evidence.offsets * size
    digests = np.stack([_native.bytes_digests(values, offsets, seed) for seed in (3, 4)], axis=1)
    return np.where(short[:, None], ~digests, digests)


def short_evidence(reading: Reading, dtype: np.dtype[np.generic]) -> Ragged:
    """The evidence of short documents: sorted features, of weight 1 if entries have weights, or
    single bytes."""
    features = np.sort(reading.short_digests.view(np.uint32).reshape(-1, SHORT_ENTRIES), axis=1)
    if dtype.itemsize == 1:
        offsets = np.arange(len(features) + 1, dtype=np.int64) * SHORT_BYTES
        return Ragged(np.ascontiguousarray(features).reshape(-1).view(dtype), offsets)
    if dtype == np.uint64:
        features = features.astype(np.uint64) << np.uint64(32) | np.uint64(1)
    offsets = np.arange(len(features) + 1, dtype=np.int64) * SHORT_ENTRIES
    return Ragged(np.ascontiguousarray(features.reshape(-1)), offsets)


def replaced(rows: Ragged, where: npt.NDArray[np.bool_], by: Ragged) -> Ragged:
    """The rows, and those of ``by`` where that is so."""
    both = Ragged.concat([rows, by], rows.values.dtype)
    return both.take(np.arange(len(rows)) + where * len(rows))
