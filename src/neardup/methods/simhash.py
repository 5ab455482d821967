"""SimHash: one fingerprint for each document (Charikar 2002; Manku et al. 2007).

Every feature of a document votes on every bit with its weight; a bit is 1 if the sum is above 0.
The fingerprint is the only evidence: a pair within ``distance`` bits is a duplicate for this
method, even if its words differ. All pairs within the distance are found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts, Need
from neardup.artefacts.idf import IdfNeed
from neardup.errors import SettingsError
from neardup.methods import bit_tables
from neardup.methods.base import Method, Prepared, Scores
from neardup.methods.idf_terms import table_of
from neardup.methods.meeting import Meeting, NearBits
from neardup.methods.parameters import require, require_one_of
from neardup.methods.preparation import Reading, prepared
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

WEIGHTS = ("tf", "set", "idf")
BITS = (32, 64, 128)
MOST_DISTANCE = 16
USUAL_DOCUMENTS = 1_000_000  # assumed size for keys that must not depend on the collection
_UNIT = 1 << 10  # an idf of 1 as a whole number


@dataclass(frozen=True)
class SimHash(Method):
    """One fingerprint of bits a document, near when few of them differ.

    ``distance``: in how many bits duplicates may differ.
    ``bits``: of a fingerprint: 32, 64 or 128.
    ``weights``: "tf" (each occurrence of a word votes), "set" (each word once) or "idf" (each
    occurrence by the rarity of its word).
    ``words``: how many words make a feature; more than one tells texts of one subject apart.
    ``fields``: columns that vote beside the text, each with the weight of one of its words.
    ``idf``: the file of an idf table for weights "idf", or general; else counted from the input.
    ``min_words``: shorter documents are duplicates only of equal ones.
    ``text``: what counts as the same word.
    """

    distance: int = 3
    bits: int = 64
    weights: str = "tf"
    words: int = 1
    fields: tuple[tuple[str, int], ...] = ()
    idf: str | None = None
    min_words: int = 15
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "simhash"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint64)
    swept_parameter: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", _fields(self.fields))
        most = min(MOST_DISTANCE, self.bits // 4) if self.bits in BITS else MOST_DISTANCE
        require_one_of(BITS, self, "bits")
        require(0 <= self.distance <= most, self, "distance", f"from 0 to {most}")
        require_one_of(WEIGHTS, self, "weights")
        require(1 <= self.words <= _native.MOST_SHINGLE_WORDS, self, "words", "from 1 to 32")
        require(self.min_words >= 0, self, "min_words", "0 or more")
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

    def resolved(self) -> dict[str, object]:
        tables = bit_tables.choose_tables(self.bits, self.distance, USUAL_DOCUMENTS)
        return {"blocks": tables.blocks, "tables": tables.count, "miss_rate": 0.0}

    @property
    def meeting(self) -> Meeting:
        return Meeting(NearBits(self.distance, self.masks))

    def masks(self, documents: int, cores: int = 1) -> npt.NDArray[np.uint64]:
        tables = bit_tables.choose_tables(self.bits, self.distance, documents, cores)
        return bit_tables.masks(tables)

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
        if self.weights == "idf" or self.fields:
            prints = self._weighted(batch, artefacts)
        if self.bits == 32:
            prints &= np.uint64(0xFFFFFFFF)
        reading = Reading(
            Ragged(np.empty(0, np.uint64), np.zeros(len(batch) + 1, np.int64)),
            of_text,
            of_normal,
            short.reshape(-1, 2),
        )
        ends = np.arange(len(batch) + 1, dtype=np.int64)
        keys = self._keys(prints.reshape(-1, self.lanes))
        return prepared(
            reading,
            Ragged(prints, ends * self.lanes),
            keys,
            keys.lengths,
            counts < max(self.min_words, 1),
        )

    def _weighted(self, batch: pa.RecordBatch, artefacts: Artefacts) -> npt.NDArray[np.uint64]:
        """The sum of the votes of all fields."""
        votes = sum(
            weight * self._sums(batch.column(name), artefacts)
            for name, weight in (("text", 1), *self.fields)
        )
        bits = np.packbits(np.asarray(votes) > 0, bitorder="little")
        return bits.view(np.dtype("<u8")).astype(np.uint64)

    def _sums(self, column: pa.Array, artefacts: Artefacts) -> Array:
        strings = column.cast(pa.large_string()).fill_null("")
        texts = Ragged.of_strings(strings)
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
        columns = [bit_tables.mixed(prints & mask, number) for number, mask in enumerate(masks)]
        keys = np.stack(columns, axis=1) if columns else np.empty((len(prints), 0), np.uint64)
        ends = np.arange(len(prints) + 1, dtype=np.int64) * len(masks)
        return Ragged(np.ascontiguousarray(keys.reshape(-1)), ends)

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        lengths = evidence.lengths
        long = (lengths[a] == self.lanes) & (lengths[b] == self.lanes)
        differ = np.full(len(a), self.bits)
        differ[long] = _native.bit_distances(evidence.values, evidence.offsets, a[long], b[long])
        # The evidence of short documents is no fingerprint: it is equal or not.
        differ[~long] = np.where(_equal(evidence, a[~long], b[~long]), 0, self.bits)
        return Scores(differ <= self.distance, 1 - differ / self.bits)


def _equal(evidence: Ragged, a: Array, b: Array) -> Array:
    offsets = evidence.offsets * evidence.values.dtype.itemsize
    return _native.equal_pairs(evidence.values.view(np.uint8), offsets, a, b).view(np.bool_)


def _fields(given: object) -> tuple[tuple[str, int], ...]:
    """The weights of columns, from a mapping or from pairs."""
    pairs = list(given.items()) if isinstance(given, dict) else given
    if not isinstance(pairs, list | tuple) or not all(map(_is_weighted_field, pairs)):
        raise SettingsError(
            f"simhash: fields are {given!r}; expected columns with whole weights from 1 to 1000.",
            hint="such as fields={'title': 4}, or --set fields.title=4 on the command line.",
        )
    return tuple((name, weight) for name, weight in pairs)


def _is_weighted_field(pair: object) -> bool:
    if not isinstance(pair, list | tuple) or len(pair) != 2:
        return False
    name, weight = pair
    return isinstance(name, str) and isinstance(weight, int) and 0 < weight <= 1000
