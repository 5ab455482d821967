"""The window index of DDD (Montanari & Puglisi 2012): it compares a document with the last hours.

The window is a ring of slots, one for each hour in the paper. A slot records which of its documents
have which q-gram. ``overlaps`` finds every document of the window with
``doc_q = |A∩B| / max(|A|, |B|)`` at or above a threshold. It decides in integers, so the result is
the same as comparing with each document. ``native/online/bitmap_window.hpp`` explains why it is
fast. ``drop`` frees the memory of a slot.

Clipping (``common``, ``rare``) excludes frequent or rare q-grams of the new document from the
lookup. Frequent ones count as shared, rare ones as not shared, so doc_q is at most
``clipped.common / m`` too high and ``clipped.rare / m`` too low, where m is the size of the larger
set.

An index numbers its documents in the order of arrival, and renumbers them from time to time without
those that are gone. ``WindowPostings`` is the window under these numbers, and ``SlottedWindow``
chooses the slots. Both return the documents that pass with their scores, so an index keeps no
evidence of its own.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.errors import SettingsError
from neardup.matching.candidates import Passing, Signed
from neardup.methods.parameters import threshold_fraction
from neardup.methods.set_measures import passing_scores
from neardup.schema import Array, Ragged

HOURS = 25  # the current hour and 24 before it
MOST_SLOTS = 1 << 20
SLOT_BITS = 32
UNCLIPPED = (1.0, 0.0)  # common and rare


class Clipped(NamedTuple):
    """The number of q-grams of the new document that were not looked up."""

    common: int
    rare: int


class Overlaps(NamedTuple):
    """Documents in ascending order, with the number of q-grams that each shares and has."""

    documents: Array
    shared: Array
    sizes: Array
    clipped: Clipped
    candidates: int


class WindowMemory(NamedTuple):
    """``grams`` counts a q-gram once for each slot that has it; the last three fields are bytes."""

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
        """The number of the document: the number of its slot, followed by its place in the slot."""
        return self._window.add(self._slot(slot), _set(evidence))

    def overlaps(self, evidence: Array, threshold: float | Fraction) -> Overlaps:
        """All documents whose doc_q with this one is at least the threshold."""
        t = threshold if isinstance(threshold, Fraction) else threshold_fraction(threshold)
        columns = self._window.overlaps(_set(evidence), t.numerator, t.denominator)
        return Overlaps(*columns[:3], Clipped(*columns[3:5]), columns[5])

    def remove(self, document: int) -> bool:
        """False if the document is not in the window. Its memory is freed together with its
        slot."""
        return self._window.remove(document)

    def drop(self, slot: int) -> None:
        """Forgets all documents of the slot, which is then empty and can be used again."""
        self._window.drop(self._slot(slot))

    def sets(self, slot: int) -> Ragged:
        """The sets of the slot in the order of addition; a removed document has the empty set."""
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
    """An ascending set of 32-bit features, as ``qgram_sets`` returns it."""
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


class WindowPostings:
    """A window with ``slots`` slots at once. A slot must be dropped before it is used again."""

    def __init__(
        self, threshold: Fraction, slots: int = HOURS, clip: tuple[float, float] = UNCLIPPED
    ) -> None:
        self._threshold = threshold
        self._window = BitmapWindow(slots, common=clip[0], rare=clip[1])
        self._numbers = [array("q") for _ in range(slots)]

    def add(self, evidence: Array, number: int, slot: int) -> None:
        self._window.add(slot, evidence)
        self._numbers[slot].append(number)

    def meet(self, evidence: Array) -> Passing:
        """The documents that pass with this one."""
        overlaps = self._window.overlaps(evidence, self._threshold)
        place = (1 << SLOT_BITS) - 1
        numbers = [self._numbers[d >> SLOT_BITS][d & place] for d in overlaps.documents.tolist()]
        size = np.full(len(numbers), len(evidence))
        scores = passing_scores(MEASURE, self._threshold, overlaps.shared, overlaps.sizes, size)
        order = np.argsort(numbers)
        return Passing(np.array(numbers, np.int64)[order], scores[order])

    def drop(self, slot: int) -> None:
        """Forgets the documents of the slot immediately."""
        self._window.drop(slot)
        self._numbers[slot] = array("q")

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative if it is gone."""
        for slot, before in enumerate(self._numbers):
            old = np.array(before, np.int64)
            new = np.full(len(old), GONE)
            new[old >= 0] = numbers[old[old >= 0]]
            for place in np.flatnonzero((old >= 0) & (new < 0)).tolist():
                self._window.remove(slot << SLOT_BITS | place)
            self._numbers[slot] = array("q", new.tolist())

    def sets(self, slot: int) -> list[tuple[int, Array]]:
        """Number and evidence of the documents of the slot that are not gone."""
        sets = self._window.sets(slot)
        return [(n, sets[i]) for i, n in enumerate(self._numbers[slot]) if n != GONE]

    def places(self, slot: int) -> int:
        """The number of documents that take memory in the slot, including those that are gone."""
        return len(self._numbers[slot])

    @property
    def bytes(self) -> int:
        return self._window.memory().bytes + sum(8 * len(numbers) for numbers in self._numbers)


A_SLOT = 4096  # documents in a slot, if slots are not periods of time
MOST_COUNTED = 4096  # slots, if they are not periods of time; the last one takes all the rest
LEAST_LEFT = 2  # a slot is emptied when fewer than one in so many of its documents are left
NOWHERE = -1
NOBODY = Passing(np.empty(0, np.int64), np.empty(0))


class SlottedWindow:
    """A window whose slots free their memory. A slot is dropped when none of its documents is left;
    if most of them are gone, the rest moves to a different slot. A slot holds the documents of one
    ``period`` of time, or a fixed number of documents if no period is set. Documents that are too
    short are not in the window: they match only equal ones, which are found without it."""

    def __init__(
        self, share: Fraction, period: int | None, clip: tuple[float, float] = UNCLIPPED
    ) -> None:
        self._by_time = period is not None
        self._period = A_SLOT if period is None else period
        count = HOURS + 1 if self._by_time else MOST_COUNTED
        self._postings = WindowPostings(share, count, clip)
        self._free = list(range(count - 1, -1, -1))
        self._slots: dict[int, int] = {}  # period → slot
        self._first: dict[int, tuple[int, int]] = {}  # slot → its period, and a time of it
        self._alive = [0] * count
        self._slot_of = array("i")  # by number
        self._added = 0

    def add(self, signed: Signed, number: int, time: int) -> None:
        self._slot_of.append(NOWHERE)
        if not signed.too_short:
            self._place(signed.evidence, number, time)

    def _place(self, evidence: Array, number: int, time: int) -> None:
        slot = self._slot(time)
        self._postings.add(evidence, number, slot)
        self._slot_of[number] = slot
        self._alive[slot] += 1
        self._added += 1

    def _slot(self, time: int) -> int:
        period = (time if self._by_time else self._added) // self._period
        if period not in self._slots:
            if not self._free:  # times beyond the window: they cost memory for a while, no match
                return next(reversed(self._first))
            self._slots[period] = self._free.pop()
            self._first[self._slots[period]] = period, time
        return self._slots[period]

    def meet(self, signed: Signed) -> Passing:
        if signed.too_short:
            return NOBODY
        return self._postings.meet(signed.evidence)

    def forget(self, number: int) -> None:
        slot = self._slot_of[number]
        if slot == NOWHERE:
            return
        self._slot_of[number] = NOWHERE
        self._alive[slot] -= 1
        if not self._alive[slot]:
            self._drop(slot)

    def _drop(self, slot: int) -> None:
        self._postings.drop(slot)
        self._alive[slot] = 0
        period, _ = self._first.pop(slot)
        del self._slots[period]
        self._free.append(slot)

    def keep(self, numbers: Array) -> None:
        self._postings.keep(numbers)
        self._slot_of = array("i", np.array(self._slot_of, np.int32)[numbers >= 0].tobytes())
        sparse = [s for s in self._first if self._alive[s] * LEAST_LEFT < self._postings.places(s)]
        for slot in sparse:
            self._move(slot)

    def _move(self, slot: int) -> None:
        """Moves the remaining documents to a slot of the same time, or without times to the newest
        slot."""
        left, (_, time) = self._postings.sets(slot), self._first[slot]
        self._drop(slot)
        for number, evidence in left:
            self._place(evidence, number, time)

    @property
    def bytes(self) -> int:
        return self._postings.bytes

    def lasting_bytes(self, alive: float) -> int:  # noqa: ARG002
        """Slots that fell out are gone already."""
        return self.bytes
