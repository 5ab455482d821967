"""A bitmap window under the numbers of an index: what meets a document is what passes.

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

from neardup.matching.bitmap_window import HOURS, SLOT_BITS, BitmapWindow
from neardup.methods.overlap import passing_scores
from neardup.schema import Array

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
