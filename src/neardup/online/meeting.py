"""Whom a new document meets among those an index remembers: by keys, or in a bitmap window.

Keys are for every method; who shares one is a candidate. A :class:`WindowMethod` has better: the
bitmap window gives all documents that pass and no others, with their scores, and what it has of
them is all that has to be in memory. Its slots say only
when memory comes back: a slot is dropped when none of its documents is left. With a window of time
a slot is a part of it, without one so many documents; where most of a slot is gone, what is left
of it moves.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import Protocol

import numpy as np

from neardup import _native
from neardup.matching.bitmap_window import HOURS
from neardup.matching.window_postings import Passing, WindowPostings
from neardup.methods.method import Method, least_shared
from neardup.online.signature import Signature
from neardup.online.signing import meets_in_window
from neardup.online.windows import Window
from neardup.schema import Array

A_SLOT = 4096  # documents, without a window
MOST_COUNTED = 4096  # slots, without a window; the last one then takes all that come
LEAST_LEFT = 2  # a slot of which less than one in so many is left is emptied
NOWHERE = -1
NOBODY = Passing(np.empty(0, np.int64), np.empty(0))


class Meeting(Protocol):
    """Documents have numbers in the order of arrival, as in ``memory.py``."""

    def add(self, signature: Signature, number: int, time: int) -> None: ...

    def meet(self, signature: Signature) -> Array | Passing:
        """Numbers, ascending, of whom to score; or all that pass, with scores. Forgotten ones may
        be among them."""
        ...

    def forget(self, number: int) -> None:
        """It cannot be matched any more; its number stays taken until ``keep``."""
        ...

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative where it was forgotten."""
        ...

    @property
    def bytes(self) -> int: ...

    def lasting_bytes(self, alive: float) -> int:
        """Without what ``keep`` would give back, where so large a share of the numbers is alive."""
        ...


def meeting(method: Method, window: Window | None) -> Meeting:
    return (
        InWindow(method.share, window) if meets_in_window(method) else ByKeys(least_shared(method))
    )


class ByKeys:
    """``least``: how many keys bring two documents together."""

    def __init__(self, least: int) -> None:
        self._postings = _native.Postings()
        self._least = least

    def add(self, signature: Signature, number: int, time: int) -> None:  # noqa: ARG002
        self._postings.add(signature.keys, signature.probes, number)

    def meet(self, signature: Signature) -> Array:
        return self._postings.meet(signature.keys, signature.probes, self._least)

    def forget(self, number: int) -> None:
        """Its keys stay until the next ``keep``."""

    def keep(self, numbers: Array) -> None:
        self._postings.keep(numbers)

    @property
    def bytes(self) -> int:
        return self._postings.bytes

    def lasting_bytes(self, alive: float) -> int:
        return int(self.bytes * alive)


class InWindow:
    """Documents that are too short are not in it: only equal ones match, which need not meet."""

    def __init__(self, share: Fraction, window: Window | None) -> None:
        self._window = window
        # Every slot has tables of its own, so a window of 1,440 minutes takes some at a time.
        self._period = -(-(window.count + 1) // HOURS) * window.unit if window else A_SLOT
        count = HOURS + 1 if window else MOST_COUNTED
        self._postings = WindowPostings(share, count)
        self._free = list(range(count - 1, -1, -1))
        self._slots: dict[int, int] = {}  # period → slot
        self._first: dict[int, tuple[int, int]] = {}  # slot → its period, and a time of it
        self._alive = [0] * count
        self._slot_of = array("i")  # by number
        self._added = 0

    def add(self, signature: Signature, number: int, time: int) -> None:
        self._slot_of.append(NOWHERE)
        if not signature.too_short:
            self._place(signature.evidence, number, time)

    def _place(self, evidence: Array, number: int, time: int) -> None:
        slot = self._slot(time)
        self._postings.add(evidence, number, slot)
        self._slot_of[number] = slot
        self._alive[slot] += 1
        self._added += 1

    def _slot(self, time: int) -> int:
        period = (time if self._window else self._added) // self._period
        if period not in self._slots:
            if not self._free:  # times beyond the window: they cost memory for a while, no match
                return next(reversed(self._first))
            self._slots[period] = self._free.pop()
            self._first[self._slots[period]] = period, time
        return self._slots[period]

    def meet(self, signature: Signature) -> Passing:
        if signature.too_short:
            return NOBODY
        return self._postings.meet(signature.evidence)

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
        """With a window of time they come into a slot of the same time, else to the newest."""
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
