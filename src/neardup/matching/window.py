"""The window index of DDD (Montanari & Puglisi): a new document against all of the last hours.

A ring of slots, one an hour in the paper; a slot knows which of its documents have which q-gram.
``overlaps`` finds every document of the window with ``doc_q = |A∩B| / max(|A|, |B|)`` at or above a
threshold, decided in integers: the same as comparing with each of them. How it is fast stands in
``native/online/bitmap_window.hpp``. ``drop`` gives the memory of a slot back.

Clipping (``common``, ``rare``) leaves frequent or rare q-grams of the new document out of the look.
Frequent ones count as shared, rare ones as not shared, so doc_q is at most ``clipped.common / m``
too high and ``clipped.rare / m`` too low, m being the size of the larger set.

A bitmap window under the numbers of an index: what meets a document is what passes.

An index numbers its documents in the order of arrival and now and then anew, without those that
are gone. Where others are met by keys and must then be scored on their evidence, ``meet`` gives the
documents at or above the threshold and no others, with their scores: what the window has of them
is all that is needed.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.errors import SettingsError
from neardup.methods.overlap import passing_scores
from neardup.methods.thresholds import threshold_fraction
from neardup.schema import Array, Ragged

HOURS = 25  # the current hour and 24 before it
MOST_SLOTS = 1 << 20
SLOT_BITS = 32


class Clipped(NamedTuple):
    """How many q-grams of the new document were not looked up."""

    common: int
    rare: int


class Overlaps(NamedTuple):
    """Documents in rising order, with the q-grams that each shares and has."""

    documents: Array
    shared: Array
    sizes: Array
    clipped: Clipped
    candidates: int


class WindowMemory(NamedTuple):
    """``grams`` counts a q-gram once for each slot that has it; the last three are bytes."""

    documents: int
    grams: int
    postings: int
    tables: int
    lists: int
    rest: int

    @property
    def bytes(self) -> int:
        return self.tables + self.lists + self.rest

    @property
    def bytes_a_document(self) -> float:
        return self.bytes / max(self.documents, 1)


class BitmapWindow:
    """Sets of q-grams in a ring of ``slots``; ``common`` and ``rare`` are shares of documents."""

    def __init__(self, slots: int = HOURS, *, common: float = 1.0, rare: float = 0.0) -> None:
        _check(slots, common, rare)
        self.slots = slots
        self._window = _native.BitmapWindow(slots, common, rare)

    def add(self, slot: int, evidence: Array) -> int:
        """The number of the document: that of its slot, and in the slot from 0 on."""
        return self._window.add(self._slot(slot), _set(evidence))

    def overlaps(self, evidence: Array, threshold: float | Fraction) -> Overlaps:
        """All documents whose doc_q with this one is at least the threshold."""
        t = threshold if isinstance(threshold, Fraction) else threshold_fraction(threshold)
        found = self._window.overlaps(_set(evidence), t.numerator, t.denominator)
        return Overlaps(*found[:3], Clipped(*found[3:5]), found[5])

    def remove(self, document: int) -> bool:
        """False where it is not there. Its memory comes back with that of its slot."""
        return self._window.remove(document)

    def drop(self, slot: int) -> None:
        """Forgets all documents of the slot; it is then empty and can be used again."""
        self._window.drop(self._slot(slot))

    def sets(self, slot: int) -> Ragged:
        """What was added to the slot, in that order; of a removed document the empty set."""
        return Ragged(*self._window.sets(self._slot(slot)))

    def __len__(self) -> int:
        return sum(self._window.documents(slot) for slot in range(self.slots))

    def memory(self) -> WindowMemory:
        return WindowMemory(*self._window.memory())

    def _slot(self, slot: int) -> int:
        if not 0 <= slot < self.slots:
            raise SettingsError(
                f"slot is {slot}; this window has {self.slots} slots, from 0 to {self.slots - 1}.",
                hint=f"the slot of hour h is h % {self.slots}.",
            )
        return slot


def _check(slots: int, common: float, rare: float) -> None:
    problems = []
    if not 1 <= slots <= MOST_SLOTS:
        problems.append(f"slots is {slots}; expected 1 to {MOST_SLOTS}.")
    if not 0 <= rare <= common <= 1:
        problems.append(
            f"common is {common} and rare {rare}; expected 0 <= rare <= common <= 1, "
            "shares of the documents."
        )
    if problems:
        raise SettingsError(
            " ".join(problems),
            hint="leave common and rare out to clip nothing.",
            problems=tuple(problems),
        )


def _set(evidence: Array) -> Array:
    """A rising set of 32-bit features, as ``qgram_sets`` gives them."""
    good = evidence.ndim == 1 and evidence.dtype == np.uint32
    if not good or not np.all(evidence[1:] > evidence[:-1]):
        raise SettingsError(
            f"evidence is an array of {evidence.dtype} in {evidence.ndim} dimensions; "
            "expected a rising set of 32-bit features (uint32, none twice).",
            hint="features.qgrams.qgram_sets makes such sets; np.unique puts others in order.",
        )
    return np.ascontiguousarray(evidence)


GONE = -1
MEASURE = "max"


class Passing(NamedTuple):
    """Numbers, ascending, and scores."""

    numbers: Array
    scores: Array


class WindowPostings:
    """``slots``: how many there are at once; a slot that is used again must be dropped first."""

    def __init__(self, threshold: Fraction, slots: int = HOURS) -> None:
        self._threshold = threshold
        self._window = BitmapWindow(slots)
        self._numbers = [array("q") for _ in range(slots)]

    def add(self, evidence: Array, number: int, slot: int) -> None:
        self._window.add(slot, evidence)
        self._numbers[slot].append(number)

    def meet(self, evidence: Array) -> Passing:
        """The documents that pass with this one."""
        found = self._window.overlaps(evidence, self._threshold)
        place = (1 << SLOT_BITS) - 1
        there = [self._numbers[d >> SLOT_BITS][d & place] for d in found.documents.tolist()]
        size = np.full(len(there), len(evidence))
        scores = passing_scores(MEASURE, self._threshold, found.shared, found.sizes, size)
        order = np.argsort(there)
        return Passing(np.array(there, np.int64)[order], scores[order])

    def drop(self, slot: int) -> None:
        """Forgets the documents of the slot, at once."""
        self._window.drop(slot)
        self._numbers[slot] = array("q")

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative where it is gone."""
        for slot, before in enumerate(self._numbers):
            old = np.array(before, np.int64)
            new = np.full(len(old), GONE)
            new[old >= 0] = numbers[old[old >= 0]]
            for place in np.flatnonzero((old >= 0) & (new < 0)).tolist():
                self._window.remove(slot << SLOT_BITS | place)
            self._numbers[slot] = array("q", new.tolist())

    def sets(self, slot: int) -> list[tuple[int, Array]]:
        """Number and evidence of the documents of the slot that are there."""
        sets = self._window.sets(slot)
        return [(n, sets[i]) for i, n in enumerate(self._numbers[slot]) if n != GONE]

    def places(self, slot: int) -> int:
        """How many documents take memory in the slot, those that are gone among them."""
        return len(self._numbers[slot])

    @property
    def bytes(self) -> int:
        return self._window.memory().bytes + sum(8 * len(numbers) for numbers in self._numbers)
