"""Frequencies: the number of documents in which each shingle of a collection occurs, and weights.

Shingles are too many to list, so they are counted in slots that are selected by the low bits of the
feature. Rare shingles that share a slot appear less rare than they are; frequent shingles, for
which the weights are made, are counted almost exactly. With f distinct shingles in s slots, the
share 1 − e^(−f/s) of the unique ones is not recognised as unique: 2 % in a small collection, 37 %
of 60 million shingles with all 2²⁷ slots. Counts end at 65,535.

General tables serve a collection that has no documents yet. They cannot know that a shingle will
stay unique, so a shingle that they do not contain counts as one that two documents have.

``SlotCounts`` holds one byte for each slot, and the few counts above 254 in a hash table: most
slots are empty or have few documents, and two bytes a slot would be the largest part of the memory
of a run (``native/features/slot_counts.hpp``).
"""

from __future__ import annotations

import functools
import math
import mmap
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import (
    DAMAGE,
    GENERAL,
    StoredTable,
    packed_arrays,
    shipped,
    stored_table,
    unpacked_arrays,
    why_unreadable,
)
from neardup.classes import dataclass
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features.qgrams import features_of_samples, qgram_sets, sampled_grams
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

MOST_COUNT = (1 << 16) - 1
_LOW = 255  # where a byte ends; the hash table has the rest
_FEWEST_PLACES = 1 << 10
_BLOCK = 1 << 22  # slots that are unpacked at a time
_LARGE = 1 << 22  # bytes from which large pages are worth their time

Counts = npt.NDArray[np.uint16]


@dataclass(eq=False)
class SlotCounts:
    """``low`` has a byte for each slot, a power of two of them; ``high`` is a hash table."""

    low: npt.NDArray[np.uint8]
    high: npt.NDArray[np.uint64]

    @classmethod
    def empty(cls, slots: int) -> SlotCounts:
        """Slots are read at random: with small pages, address translation would take as long as
        counting does."""
        low = np.zeros(slots, np.uint8)
        if slots >= _LARGE and sys.platform == "linux":
            room = mmap.mmap(-1, slots, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            room.madvise(mmap.MADV_HUGEPAGE)
            low = np.frombuffer(room, np.uint8)
        return cls(low, np.zeros(_FEWEST_PLACES, np.uint64))

    @classmethod
    def of(cls, counts: Counts) -> SlotCounts:
        slots = cls.empty(len(counts))
        used = np.flatnonzero(counts).astype(np.uint32)
        slots.add_counts(used, counts[used])
        return slots

    def lay_aside(self, folder: Path | None) -> None:
        """Moves the slots into a file without a name, from which they are read when needed."""
        if len(self.low) < _LARGE:
            return
        with tempfile.TemporaryFile(dir=folder, prefix="neardup-counts-") as file:
            file.write(self.low.data)
            file.flush()
            self.low = np.memmap(file, np.uint8, "r")

    def __len__(self) -> int:
        return len(self.low)

    def add(self, features: npt.NDArray[np.uint32]) -> None:
        """Counts one more for the slot of each feature."""
        self._go_on(
            len(features),
            lambda done: _native.count_documents(features[done:], self.low, self.high),
        )

    def add_counts(self, features: npt.NDArray[np.uint32], counts: Counts) -> None:
        self._go_on(
            len(features),
            lambda done: _native.add_counts(features[done:], counts[done:], self.low, self.high),
        )

    def _go_on(self, size: int, add: Callable[[int], int]) -> None:
        """``add`` begins at a number of features and ends where the table needs more places."""
        done = 0
        while (done := done + add(done)) < size:
            self._make_room()

    def _make_room(self) -> None:
        held = self.high[self.high > 0]
        self.high = np.zeros(2 * len(self.high), np.uint64)
        _native.place_high_counts(held, self.high)

    def of_features(self, features: npt.NDArray[np.uint32]) -> Counts:
        return _native.counts_of(features, self.low, self.high)

    def blocks(self) -> Iterator[Counts]:
        """All counts in the order of slots, unpacked block by block."""
        entries = np.sort(self.high[self.high > 0])
        counts = (entries & np.uint64(MOST_COUNT)).astype(np.uint16) + np.uint16(_LOW)
        slots = (entries >> np.uint64(32)).astype(np.int64)
        for first in range(0, len(self), _BLOCK):
            block = self.low[first : first + _BLOCK].astype(np.uint16)
            begin, end = np.searchsorted(slots, [first, first + len(block)])
            block[slots[begin:end] - first] = counts[begin:end]
            if isinstance(self.low, np.memmap) and sys.platform == "linux":
                self.low.base.madvise(mmap.MADV_DONTNEED)  # type: ignore[union-attr]
            yield block

    def unpacked(self) -> Counts:
        return np.concatenate(list(self.blocks()))


FORMAT = 2
FEWEST_SLOTS, MOST_SLOTS = 1 << 12, 1 << 27
MOST_WORD_SLOTS = 1 << 24  # single words are fewer than shingles
SLOTS_A_FEATURE = 32
HELD = MOST_SLOTS // SLOTS_A_FEATURE  # features are held as long as a smaller table may do
UNIT = 1 << 12  # the weight of an idf of 1; decisions are made in integers
UNKNOWN_COUNT, UNKNOWN_OF = 2, 1000  # count and documents of every feature in an empty table
_NOTHING = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Grams:
    """The features that are counted: runs of ``width`` words or characters whose hash is a multiple
    of ``every``. Of characters, ``sample`` of them can be taken from each text, chosen by hash at a
    rate that follows from its length."""

    width: int
    unit: str = "words"
    every: int = 1
    sample: int = 0

    def __str__(self) -> str:
        noun = "word shingles" if self.unit == "words" else "character grams"
        rate = f", one of {self.every}" * (self.every > 1)
        return f"{self.width}-{noun}{rate}" + f", {self.sample} a text" * (self.sample > 0)

    def sets(self, texts: Ragged, text: Text) -> Ragged:
        """The sorted features of each text."""
        if self.sample:
            samples = sampled_grams(texts, self.width, text, self.sample)
            offsets = samples.offsets - np.arange(len(samples) + 1)
            return Ragged(features_of_samples(samples), offsets)
        if self.unit == "words":
            return shingle_sets(texts, self.width, text)
        return qgram_sets(texts, self.width, text, every=self.every).features


def shingle_sets(texts: Ragged, width: int, text: Text) -> Ragged:
    return sets_of_words(word_hashes(texts, text), width)


def sets_of_words(hashes: Ragged, width: int) -> Ragged:
    """The sets of shingles of ``width`` words, from word hashes."""
    return Ragged(*_native.sample_features(hashes.values, hashes.offsets, width, _NOTHING, 1, 0))


def normalised_idf(n: int, documents: int) -> float:
    """The normalised idf, limited to 0 … 1; only a term of every document would be below 0."""
    if documents < 1:
        return 0.0
    return min(max(math.log((documents + 0.5) / n) / math.log(documents + 1), 0.0), 1.0)


@functools.lru_cache(maxsize=4)
def idf_by_count(documents: int) -> npt.NDArray[np.float64]:
    """The idf of features of 0, 1 … ``MOST_COUNT`` documents; tables of one run share it. ``log``
    is Python's, because that of numpy may differ in the last bit."""
    total, last = max(documents, 1), min(documents, MOST_COUNT)
    top, log = total + 0.5, math.log
    logs = np.array([log(top / n) for n in (1, *range(1, last + 1))])
    known = np.clip(logs / log(total + 1), 0.0, 1.0)
    idf = np.concatenate([known, np.full(MOST_COUNT - last, known[-1])])
    idf.setflags(write=False)
    return idf


@dataclass(frozen=True, eq=False)
class Frequencies(StoredTable):
    """``counts[feature mod slots]`` of ``documents`` documents contain the feature, or one in the
    same slot."""

    counts: SlotCounts
    documents: int
    grams: Grams
    text: Text

    kind: ClassVar[str] = "frequencies"
    # Half of the time of zstd, for twice the size: nearly all slots are empty.
    compression: ClassVar[str | None] = "lz4"

    def options(self) -> dict[str, Any]:
        """Grams are described as in files of earlier versions: word shingles by their width alone,
        and a sample only where there is one."""
        grams: dict[str, Any] = {"grams": asdict(self.grams)}
        if self.grams == Grams(self.grams.width):
            grams = {"words": self.grams.width}
        elif not self.grams.sample:
            del grams["grams"]["sample"]
        sizes = {"slots": len(self.counts), "text": asdict(self.text)}
        return {"format": FORMAT, "documents": self.documents, **grams, **sizes}

    def tables(self) -> Iterable[pa.Table]:
        return (pa.table({"documents": pa.array(block)}) for block in self.counts.blocks())

    def content(self) -> Iterable[npt.NDArray[Any]]:
        return self.counts.blocks()

    def lay_aside(self, folder: Path | None) -> None:
        self.counts.lay_aside(folder)

    def weighted(self, sets: Ragged) -> Ragged:
        """64-bit entries: the feature in the upper half, its weight in the lower."""
        return self.entries(sets, self._weight_of_count)

    def entries(self, sets: Ragged, weight_of_count: npt.NDArray[np.uint32]) -> Ragged:
        """The same with given weights: ``weight_of_count[n]`` for a feature of n documents."""
        weights = weight_of_count[self.counts_of(sets.values)]
        return Ragged(sets.values.astype(np.uint64) << np.uint64(32) | weights, sets.offsets)

    def counts_of(self, features: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint16]:
        return self.counts.of_features(features)

    @functools.cached_property
    def _weight_of_count(self) -> npt.NDArray[np.uint32]:
        return np.maximum(np.rint(UNIT * self.idf), 1).astype(np.uint32)

    @functools.cached_property
    def idf(self) -> npt.NDArray[np.float64]:
        """The idf by count. A feature that no document has is treated as unique."""
        return idf_by_count(self.documents)

    def derived(
        self, key: Hashable, make: Callable[[], npt.NDArray[np.uint32]]
    ) -> npt.NDArray[np.uint32]:
        """An array that a method derives from the table, computed once: for a single document the
        derivation would cost more than the comparison."""
        derived: dict[Hashable, npt.NDArray[np.uint32]] = self.__dict__.setdefault("_derived", {})
        if key not in derived:
            derived[key] = make()
        return derived[key]


def load_frequencies(path: Path) -> Frequencies:
    try:
        table, described = stored_table(path, Frequencies.kind)
    except (OSError, *DAMAGE) as error:
        reason = why_unreadable(error, "it is not a table of frequencies")
        raise InputError(
            f"The frequencies {path} cannot be read: {reason}.",
            hint="a run with weights='idf' writes them into the folder artefacts.",
        ) from error
    if (format_ := described.get("format")) != FORMAT:
        raise InputError(
            f"The frequencies {path} have format {format_}; this version reads {FORMAT}.",
            hint="let the run count them from the input.",
        )
    try:
        frequencies = Frequencies(
            _slots(table["documents"].to_numpy()),
            int(described["documents"]),
            Grams(**described["grams"]) if "grams" in described else Grams(described["words"]),
            Text(**described["text"]),
        )
    except (*DAMAGE, SettingsError) as error:
        raise InputError(
            f"The frequencies {path} are not laid out as such a table: {error}.",
            hint="restore the file, or let the run count them from the input.",
        ) from error
    if frequencies.digest != described.get("digest"):
        raise SignatureError(
            f"The frequencies {path} have changed since they were saved.",
            hint="restore the file, or let the run count them from the input.",
        )
    return frequencies


def _slots(counts: npt.NDArray[Any]) -> SlotCounts:
    """The counts, if kernels can find a slot by the low bits of a feature."""
    if not len(counts) or len(counts) & (len(counts) - 1):
        raise ValueError(f"{len(counts):,} slots are no power of two")
    return SlotCounts.of(counts.astype(np.uint16))


def nothing_known(grams: Grams, text: Text) -> Frequencies:
    """A general table for features without counts: all have the same weight."""
    counts = np.full(FEWEST_SLOTS, UNKNOWN_COUNT, np.uint16)
    return Frequencies(SlotCounts.of(counts), UNKNOWN_OF, grams, text)


@functools.cache
def general_shingles() -> Frequencies:
    """The table of frequent shingles, with default text options, that comes with the package
    (``tools/general_tables``)."""
    with shipped("general-shingles.arrow") as file:
        return load_frequencies(file)


class FrequencyCounter:
    def __init__(self, grams: Grams, text: Text) -> None:
        self._grams, self._text = grams, text
        self._most = MOST_WORD_SLOTS if grams == Grams(1) else MOST_SLOTS
        self._held: list[npt.NDArray[np.uint32]] = []
        self._counts: SlotCounts | None = None
        self._documents = self._features = 0

    def count(self, batch: pa.RecordBatch) -> tuple[int, npt.NDArray[np.uint32]]:
        texts = Ragged.of_strings(batch.column("text"))
        return len(batch), self._grams.sets(texts, self._text).values

    def add(self, part: tuple[int, npt.NDArray[np.uint32]]) -> None:
        documents, features = part
        self._documents += documents
        self._features += len(features)
        self._held.append(features)
        if self._features > HELD:
            self._table(self._most)

    def _table(self, slots: int) -> SlotCounts:
        """The table with all features counted; ``slots`` is the size of a new table."""
        if self._counts is None:
            self._counts = SlotCounts.empty(slots)
        for features in self._held:
            self._counts.add(features)
        self._held = []
        return self._counts

    def partial(self) -> bytes:
        """The used slots of the largest table; their low bits are the slots of any smaller one."""
        if self._counts is None:
            held = np.concatenate([np.empty(0, np.uint32), *self._held])
            slots, times = np.unique(held & np.uint32(self._most - 1), return_counts=True)
            counts = np.minimum(times, MOST_COUNT).astype(np.uint16)
        else:
            table = self._table(self._most)
            slots = np.flatnonzero(table.low).astype(np.uint32)
            counts = table.of_features(slots)
        return packed_arrays(slots, counts, np.array([self._documents, self._features]))

    def merge(self, partial: bytes) -> None:
        slots, counts, (documents, features) = unpacked_arrays(partial)
        self._table(self._most).add_counts(slots, counts)
        self._documents += int(documents)
        self._features += int(features)

    def finish(self) -> Frequencies:
        """The table, folded to a size that fits the number of features."""
        wanted = 1 << (SLOTS_A_FEATURE * self._features).bit_length()
        slots = min(max(wanted, FEWEST_SLOTS), self._most)
        counts = self._table(slots)
        if len(counts) > slots:
            folded = counts.unpacked().reshape(-1, slots).sum(axis=0, dtype=np.uint32)
            counts = SlotCounts.of(np.minimum(folded, MOST_COUNT).astype(np.uint16))
        return Frequencies(counts, self._documents, self._grams, self._text)


@dataclass(frozen=True)
class FrequencyNeed:
    """``file`` is None to count the input, or "general" for the table of the package."""

    file: str | None
    grams: Grams
    text: Text
    name: str = "frequencies"
    columns: tuple[str, ...] = ()

    def general(self) -> Frequencies:
        table = general_shingles()
        fits = (table.grams, table.text) == (self.grams, self.text)
        return table if fits else nothing_known(self.grams, self.text)

    def load(self, path: Path) -> Frequencies:
        if str(path) == GENERAL:
            return self.general()
        table = load_frequencies(path)
        if (table.grams, table.text) != (self.grams, self.text):
            raise SignatureError(
                f"The frequencies {path} are of {table.grams} of {table.text}; the "
                f"method asks for {self.grams} of {self.text}.",
                hint="give the method the options of the table, or let the run count them.",
            )
        return table

    def counter(self) -> FrequencyCounter:
        return FrequencyCounter(self.grams, self.text)
