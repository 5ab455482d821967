"""In how many documents the shingles of a collection occur, and what each weighs for that.

Shingles are too many to be listed, so counts are kept by the low bits of the feature. Several rare
shingles may share a slot and count as less rare than they are; what many documents carry, which is
what weights are for, is counted as it is. Of f distinct shingles in s slots, a share of
1 − e^(−f/s) of those that one document alone has are not known as such: 2 % in a small collection,
and with all 2²⁷ slots 37 % of 60 million. Counts end at 65,535.

General tables serve a collection that has no documents yet. They cannot say that no other document
will have a shingle, so what they do not know counts as what two documents have.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import (
    GENERAL,
    packed_arrays,
    shipped,
    unpacked_arrays,
    why_unreadable,
)
from neardup.artefacts.idf import normalised_idf
from neardup.errors import InputError, SignatureError
from neardup.features.qgrams import qgram_sets
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

FORMAT = 2
FEWEST_SLOTS, MOST_SLOTS = 1 << 12, 1 << 27
MOST_WORD_SLOTS = 1 << 24  # single words are fewer than shingles
SLOTS_A_FEATURE = 32
HELD = 1 << 20  # features that are kept before a table of all slots is worth its memory
MOST_COUNT = (1 << 16) - 1
UNIT = 1 << 12  # the weight of an idf of 1; whole numbers decide
UNKNOWN_COUNT, UNKNOWN_OF = 2, 1000  # what an empty general table says of any feature
_DESCRIPTION = b"neardup frequencies"
_NOTHING = np.empty(0, np.uint64)


@dataclass(frozen=True)
class Grams:
    """Which features are counted: runs of ``width`` words or characters, of which those are taken
    whose hash is a multiple of ``every``."""

    width: int
    unit: str = "words"
    every: int = 1

    def __str__(self) -> str:
        one = "word shingles" if self.unit == "words" else "character grams"
        return f"{self.width}-{one}" + f", one of {self.every}" * (self.every > 1)

    def sets(self, texts: Ragged, text: Text) -> Ragged:
        """The features of each text, sorted."""
        if self.unit == "words":
            return shingle_sets(texts, self.width, text)
        return qgram_sets(texts, self.width, text, every=self.every).features


def shingle_sets(texts: Ragged, words: int, text: Text) -> Ragged:
    found = word_map(texts.values, texts.offsets, text)
    hashes = Ragged(*_native.word_hashes(texts.values, texts.offsets, text.native(), found))
    return sets_of_words(hashes, words)


def sets_of_words(hashes: Ragged, width: int) -> Ragged:
    """The shingles of words that are at hand."""
    return Ragged(*_native.sample_features(hashes.values, hashes.offsets, width, _NOTHING, 1, 0))


@dataclass(frozen=True, eq=False)
class Frequencies:
    """``counts[feature mod slots]`` of ``documents`` documents hold the feature, or one like it."""

    counts: npt.NDArray[np.uint16]
    documents: int
    grams: Grams
    text: Text

    kind: ClassVar[str] = "frequencies"

    @functools.cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(json.dumps(self._options(), sort_keys=True).encode())
        digest.update(self.counts.data)
        return digest.hexdigest()[:32]

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "documents": self.documents,
            **self._grams(),
            "slots": len(self.counts),
            "text": asdict(self.text),
        }

    def _grams(self) -> dict[str, Any]:
        """Of words only the width is said: so it was before there were others."""
        by_words = self.grams == Grams(self.grams.width)
        return {"words": self.grams.width} if by_words else {"grams": asdict(self.grams)}

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "digest": self.digest}

    def weighted(self, sets: Ragged) -> Ragged:
        """Entries of 64 bits: the feature above, its weight below."""
        return self.entries(sets, self._weight_of_count)

    def entries(self, sets: Ragged, weight_of_count: npt.NDArray[np.uint32]) -> Ragged:
        """The same with other weights: ``weight_of_count[n]`` for what n documents have."""
        weights = weight_of_count[self.counts_of(sets.values)]
        return Ragged(sets.values.astype(np.uint64) << np.uint64(32) | weights, sets.offsets)

    def counts_of(self, features: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint16]:
        slots = features & np.uint32(len(self.counts) - 1)
        return np.asarray(self.counts[slots])

    @functools.cached_property
    def _weight_of_count(self) -> npt.NDArray[np.uint32]:
        return np.maximum(np.rint(UNIT * self.idf), 1).astype(np.uint32)

    @functools.cached_property
    def idf(self) -> npt.NDArray[np.float64]:
        """By count. What no document of the table has is as rare as what one has."""
        counts = range(min(self.documents, MOST_COUNT) + 1)
        known = [normalised_idf(max(n, 1), max(self.documents, 1)) for n in counts]
        return np.array(known + [known[-1]] * (MOST_COUNT + 1 - len(known)))

    @functools.cached_property
    def _derived(self) -> dict[Hashable, npt.NDArray[np.uint32]]:
        return {}

    def derived(
        self, key: Hashable, make: Callable[[], npt.NDArray[np.uint32]]
    ) -> npt.NDArray[np.uint32]:
        """What a method makes of the table, made once: single documents cost less than that."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    def save(self, path: Path) -> None:
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema([("documents", pa.uint16())], metadata={_DESCRIPTION: described})
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema, options=options) as writer,
        ):
            writer.write_table(pa.table([pa.array(self.counts)], schema=schema))


def load_frequencies(path: Path) -> Frequencies:
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = pa.ipc.open_file(source).read_all()
        said = json.loads((table.schema.metadata or {})[_DESCRIPTION])
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        reason = why_unreadable(error, "it is no table of frequencies")
        raise InputError(
            f"The frequencies {path} cannot be read: {reason}.",
            hint="a run with weights='idf' writes them into the folder artefacts.",
        ) from error
    if (there := said.get("format")) != FORMAT:
        raise InputError(
            f"The frequencies {path} have format {there}; this version reads {FORMAT}.",
            hint="let the run count them from the input.",
        )
    options = said["text"]
    made = Frequencies(
        table["documents"].to_numpy().astype(np.uint16),
        said["documents"],
        Grams(**said["grams"]) if "grams" in said else Grams(said["words"]),
        Text(**{**options, "stop_words": _stop_words(options["stop_words"])}),
    )
    if made.digest != said["digest"]:
        raise SignatureError(
            f"The frequencies {path} are not what they were when they were saved.",
            hint="restore the file, or let the run count them from the input.",
        )
    return made


def nothing_known(grams: Grams, text: Text) -> Frequencies:
    """The general table of features that were not counted anywhere: all weigh the same."""
    counts = np.full(FEWEST_SLOTS, UNKNOWN_COUNT, np.uint16)
    return Frequencies(counts, UNKNOWN_OF, grams, text)


@functools.cache
def general_shingles() -> Frequencies:
    """What comes with the package (``tools/general_tables``): shingles of the default options that
    many texts have."""
    with shipped("general-shingles.arrow") as file:
        return load_frequencies(file)


def _stop_words(stored: str | list[str]) -> str | tuple[str, ...]:
    return stored if isinstance(stored, str) else tuple(stored)


class FrequencyCounter:
    def __init__(self, grams: Grams, text: Text) -> None:
        self._grams, self._text = grams, text
        self._most = MOST_WORD_SLOTS if grams == Grams(1) else MOST_SLOTS
        self._held: list[npt.NDArray[np.uint32]] = []
        self._counts: npt.NDArray[np.uint16] | None = None
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
            self._into(self._most)

    def _into(self, slots: int) -> npt.NDArray[np.uint16]:
        if self._counts is None:
            self._counts = np.zeros(slots, np.uint16)
        for features in self._held:
            _native.count_documents(features, self._counts)
        self._held = []
        return self._counts

    def partial(self) -> bytes:
        """In the largest table, whose low bits name the slots of any smaller one."""
        if self._counts is None:
            held = np.concatenate([np.empty(0, np.uint32), *self._held])
            there, times = np.unique(held & np.uint32(self._most - 1), return_counts=True)
            counts = np.minimum(times, MOST_COUNT).astype(np.uint16)
        else:
            table = self._into(self._most)
            there = np.flatnonzero(table).astype(np.uint32)
            counts = table[there]
        return packed_arrays(there, counts, np.array([self._documents, self._features]))

    def merge(self, partial: bytes) -> None:
        there, counts, (documents, features) = unpacked_arrays(partial)
        mine = self._into(self._most)
        summed = mine[there].astype(np.uint32) + counts
        mine[there] = np.minimum(summed, MOST_COUNT).astype(np.uint16)
        self._documents += int(documents)
        self._features += int(features)

    def finish(self) -> Frequencies:
        """As many slots as the features ask for: low bits name a slot in tables of any size."""
        wanted = 1 << (SLOTS_A_FEATURE * self._features).bit_length()
        slots = min(max(wanted, FEWEST_SLOTS), self._most)
        counts = self._into(slots)
        if len(counts) > slots:
            folded = counts.reshape(-1, slots).sum(axis=0, dtype=np.uint32)
            counts = np.minimum(folded, MOST_COUNT).astype(np.uint16)
        return Frequencies(counts, self._documents, self._grams, self._text)


@dataclass(frozen=True)
class FrequencyNeed:
    """``file=None``: counted from the input; "general": what comes with the package."""

    file: str | None
    grams: Grams
    text: Text
    name: str = "frequencies"
    columns: tuple[str, ...] = ()

    def general(self) -> Frequencies:
        known = general_shingles()
        fits = (known.grams, known.text) == (self.grams, self.text)
        return known if fits else nothing_known(self.grams, self.text)

    def load(self, path: Path) -> Frequencies:
        if str(path) == GENERAL:
            return self.general()
        found = load_frequencies(path)
        if (found.grams, found.text) != (self.grams, self.text):
            raise SignatureError(
                f"The frequencies {path} are of {found.grams} of {found.text}; the "
                f"method asks for {self.grams} of {self.text}.",
                hint="give the method the options of the table, or let the run count them.",
            )
        return found

    def counter(self) -> FrequencyCounter:
        return FrequencyCounter(self.grams, self.text)
