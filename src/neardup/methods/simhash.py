"""SimHash: one fingerprint for each document (Charikar 2002; Manku et al. 2007).

Every feature of a document votes on every bit with its weight; a bit is 1 if the sum is above 0.
The fingerprint is the only evidence: a pair within ``distance`` bits is a duplicate for this
method, even if its words differ. All pairs within the distance are found, unless ``weak_bits``
limits the search to bits that are likely to differ.

Probing (Sood & Loguinov 2011): bits of a small sum are the likeliest to differ in a copy. With
``weak_bits`` w, a document has a key for its fingerprint and for each that arises when up to
h = ⌈distance / 2⌉ of its w weakest bits are flipped. Two documents meet if the bits in which they
differ can be divided into at most h weak bits of the one and at most h of the other.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.idf import IdfNeed
from neardup.errors import SettingsError
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.idf_terms import table_of
from neardup.methods.meeting import Meeting, NearBits, choose_tables, mixed, table_masks
from neardup.methods.parameters import require, require_one_of, weighted_fields
from neardup.methods.preparation import Reading, field_texts, prepared
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

WEIGHTS = ("tf", "set", "idf")
BITS = (32, 64, 128)
MOST_DISTANCE = 16
USUAL_DOCUMENTS = 1_000_000  # assumed size for keys that must not depend on the collection
_UNIT = 1 << 10  # an idf of 1 as a whole number
MOST_PROBES = 1000
_TRIALS = 20_000


@dataclass(frozen=True)
class SimHash(Method):
    """One fingerprint of bits a document, near when few of them differ.

    ``distance``: in how many bits duplicates may differ.
    ``bits``: of a fingerprint: 32, 64 or 128.
    ``weights``: "tf" (each occurrence of a word votes), "set" (each word once) or "idf" (each
    occurrence by the rarity of its word).
    ``words``: how many words make a feature; more than one tells texts of one subject apart.
    ``weak_bits``: tries only so many bits, those of smallest sum, as differing ones; 0 finds all.
    ``fields``: columns that vote beside the text, each with the weight of one of its words.
    ``idf``: the file of an idf table for weights "idf", or general; else counted from the input.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as the same word.
    """

    distance: int = 3
    bits: int = 64
    weights: str = "tf"
    words: int = 1
    weak_bits: int = 0
    fields: tuple[tuple[str, int], ...] = ()
    idf: str | None = None
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "simhash"
    added: ClassVar[tuple[str, ...]] = ("weak_bits",)
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    swept_parameter: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", weighted_fields(self.fields, self.name))
        most = min(MOST_DISTANCE, self.bits // 4) if self.bits in BITS else MOST_DISTANCE
        require_one_of(BITS, self, "bits")
        require(0 <= self.distance <= most, self, "distance", f"from 0 to {most}")
        require_one_of(WEIGHTS, self, "weights")
        require(1 <= self.words <= _native.MOST_SHINGLE_WORDS, self, "words", "from 1 to 32")
        require(self.min_words >= 0, self, "min_words", "0 or more")
        most_weak = f"from 0 to {self.bits}, with at most {MOST_PROBES:,} keys"
        fits = 0 <= self.weak_bits <= self.bits and self._probes <= MOST_PROBES
        require(fits, self, "weak_bits", most_weak)
        if self.weights == "idf":
            require(self.words == 1, self, "words", "1 where words are weighted by idf")
            _ = self.needs
        elif self.idf is not None:
            raise SettingsError(
                f"simhash: an idf table is given, but weights are {self.weights!r}.",
                hint="add weights='idf'.",
            )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.fields)

    @property
    def needs(self) -> tuple[Need, ...]:
        return (IdfNeed(self.idf, "words", self.text),) if self.weights == "idf" else ()

    @property
    def threshold(self) -> float:
        return 1 - self.distance / self.bits

    @property
    def reason(self) -> str:
        return f"at most {self.distance} of {self.bits} bits differ"

    @property
    def lanes(self) -> int:
        return -(-self.bits // 64)

    @property
    def score_meaning(self) -> str:
        return f"share of the {self.bits} bits that are equal"

    @property
    def _flipped(self) -> int:
        """The most bits that one of two documents flips."""
        return -(-self.distance // 2)

    @property
    def _probes(self) -> int:
        """The keys of a document with ``weak_bits``."""
        return sum(math.comb(self.weak_bits, count) for count in range(self._flipped + 1))

    @property
    def miss_rate(self) -> float:
        """The share of pairs that are missed, among those at the distance whose sums are normally
        distributed, as those of many words are."""
        if not self.weak_bits:
            return 0.0
        return _simulated_misses(self.bits, self.distance, self.weak_bits, self._flipped)

    def resolved(self) -> dict[str, object]:
        if self.weak_bits:
            return {"keys": self._probes, "miss_rate": self.miss_rate}
        tables = choose_tables(self.bits, self.distance, USUAL_DOCUMENTS)
        return {"blocks": tables.blocks, "tables": tables.count, "miss_rate": 0.0}

    @property
    def meeting(self) -> Meeting:
        return Meeting() if self.weak_bits else Meeting(NearBits(self.distance, self.masks))

    def masks(self, documents: int, cores: int = 1) -> npt.NDArray[np.uint64]:
        tables = choose_tables(self.bits, self.distance, documents, cores)
        return table_masks(tables)

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        texts = Ragged.of_strings(batch.column("text"))
        words = word_map(texts.values, texts.offsets, self.text)
        prints, counts, of_text, of_normal, short = _native.prepare_simhash(
            texts.values,
            texts.offsets,
            self.text.native(),
            words,
            self.words,
            self.lanes,
            self.weights == "set",
            self.min_words,
        )
        votes = np.empty(0)
        if self.weights == "idf" or self.fields or self.weak_bits:
            votes = self._votes(batch, artefacts)
            bits = np.packbits(votes > 0, bitorder="little")
            prints = bits.view(np.dtype("<u8")).astype(np.uint64)
        if self.bits == 32:
            prints &= np.uint64(0xFFFFFFFF)
        reading = Reading(
            Ragged(np.empty(0, np.uint64), np.zeros(len(batch) + 1, np.int64)),
            of_text,
            of_normal,
            short.reshape(-1, 2),
        )
        ends = np.arange(len(batch) + 1, dtype=np.int64)
        rows = prints.reshape(-1, self.lanes)
        keys = self._probing_keys(rows, votes) if self.weak_bits else self._keys(rows)
        return prepared(
            reading,
            Ragged(prints, ends * self.lanes),
            keys,
            keys.lengths,
            counts < max(self.min_words, 1),
        )

    def _votes(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Array:
        """The sum of the votes of all fields."""
        votes = sum(
            weight * self._sums(batch.column(name), artefacts)
            for name, weight in (("text", 1), *self.fields)
        )
        return np.asarray(votes)

    def _sums(self, column: pa.Array, artefacts: Artefacts) -> Array:
        texts = field_texts(column)
        table = table_of(artefacts) if self.weights == "idf" else None
        return _native.simhash_sums(
            texts.values,
            texts.offsets,
            self.text.native(),
            word_map(texts.values, texts.offsets, self.text),
            self.words,
            self.lanes,
            self.weights == "set",
            table.lookup if table else None,
            np.rint(table.idf * _UNIT).astype(np.uint32) if table else np.empty(0, np.uint32),
            _UNIT if table else 1,
        )

    def _keys(self, prints: npt.NDArray[np.uint64]) -> Ragged:
        """Keys from the document alone, for engines that compare documents one by one."""
        masks = self.masks(USUAL_DOCUMENTS)
        columns = [mixed(prints & mask, number) for number, mask in enumerate(masks)]
        keys = np.stack(columns, axis=1) if columns else np.empty((len(prints), 0), np.uint64)
        ends = np.arange(len(prints) + 1, dtype=np.int64) * len(masks)
        return Ragged(np.ascontiguousarray(keys.reshape(-1)), ends)

    def _probing_keys(self, prints: npt.NDArray[np.uint64], votes: Array) -> Ragged:
        """The fingerprint, and those in which some of its weakest bits are flipped."""
        size = np.abs(votes.reshape(len(prints), 64 * self.lanes)[:, : self.bits])
        weakest = np.argsort(size, axis=1, kind="stable")[:, : self.weak_bits]
        keys = []
        for count in range(self._flipped + 1):
            for chosen in itertools.combinations(range(self.weak_bits), count):
                flipped = prints.copy()
                for place in chosen:
                    bit = weakest[:, place]
                    mask = np.uint64(1) << (bit % 64).astype(np.uint64)
                    flipped[np.arange(len(prints)), bit // 64] ^= mask
                keys.append(mixed(flipped, 0))
        ends = np.arange(len(prints) + 1, dtype=np.int64) * len(keys)
        return Ragged(np.ascontiguousarray(np.stack(keys, axis=1).reshape(-1)), ends)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        lengths = evidence.lengths
        long = (lengths[a] == self.lanes) & (lengths[b] == self.lanes)
        differ = np.full(len(a), self.bits)
        differ[long] = _native.bit_distances(evidence.values, evidence.offsets, a[long], b[long])
        # The evidence of short documents is no fingerprint: it is equal or not.
        differ[~long] = np.where(_equal(evidence, a[~long], b[~long]), 0, self.bits)
        return Scores(differ <= self.distance, 1 - differ / self.bits)


@functools.cache
def _simulated_misses(bits: int, distance: int, weak: int, most: int) -> float:
    """The share of pairs that do not meet, among simulated pairs at the distance. The sums of one
    are normal, those of the other normal around them, with a correlation at which so many signs are
    expected to differ: a share of arccos(ρ) / π."""
    drawn = np.random.default_rng(1117)
    if not distance:
        return 0.0
    one = drawn.standard_normal((_TRIALS, bits))
    rho = math.cos(math.pi * distance / bits)
    other = rho * one + math.sqrt(1 - rho * rho) * drawn.standard_normal((_TRIALS, bits))
    differ = (one > 0) != (other > 0)
    exact = differ.sum(axis=1) == distance
    in_one, in_other = (
        np.argsort(np.argsort(np.abs(sums[exact]), axis=1), axis=1) < weak for sums in (one, other)
    )
    bits_apart = differ[exact]
    neither = (bits_apart & ~in_one & ~in_other).any(axis=1)
    only_one, only_other = bits_apart & ~in_other, bits_apart & ~in_one
    missed = neither | (only_one.sum(axis=1) > most) | (only_other.sum(axis=1) > most)
    return max(float(missed.mean()), 1 / _TRIALS)  # simulation proves no search complete


def _equal(evidence: Ragged, a: Array, b: Array) -> Array:
    offsets = evidence.offsets * evidence.values.dtype.itemsize
    return _native.equal_pairs(evidence.values.view(np.uint8), offsets, a, b).view(np.bool_)
