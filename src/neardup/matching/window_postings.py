"""A bitmap window under the numbers of an index: what meets a document is what passes.

An index numbers its documents in the order of arrival and now and then anew, without those that
are gone. Where others are met by keys and must then be scored, ``meet`` gives the documents at or
above the threshold and no others, so that scoring them is only for the score.
"""

from __future__ import annotations

from array import array
from fractions import Fraction

import numpy as np

from neardup.matching.bitmap_window import HOURS, SLOT_BITS, BitmapWindow
from neardup.schema import Array

GONE = -1


class WindowPostings:
    """``slots``: how many there are at once; a slot that is used again must be dropped first."""

    def __init__(self, threshold: Fraction, slots: int = HOURS) -> None:
        self._threshold = threshold
        self._window = BitmapWindow(slots)
        self._numbers = [array("q") for _ in range(slots)]

    def add(self, evidence: Array, number: int, slot: int) -> None:
        self._window.add(slot, evidence)
        self._numbers[slot].append(number)

    def meet(self, evidence: Array) -> Array:
        """Numbers, ascending, of the documents that pass with this one."""
        documents = self._window.overlaps(evidence, self._threshold).documents.tolist()
        place = (1 << SLOT_BITS) - 1
        return np.sort([self._numbers[d >> SLOT_BITS][d & place] for d in documents])

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

    def numbers(self, slot: int) -> list[int]:
        """Of the documents of the slot that are there."""
        return [number for number in self._numbers[slot] if number != GONE]

    def places(self, slot: int) -> int:
        """How many documents take memory in the slot, those that are gone among them."""
        return len(self._numbers[slot])

    @property
    def bytes(self) -> int:
        return self._window.memory().bytes + sum(8 * len(numbers) for numbers in self._numbers)
