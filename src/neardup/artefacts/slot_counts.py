"""Counts of many slots in one byte each, and the few high ones in a table of their own.

Most slots of a table of frequencies are empty or have few documents, and a table of two bytes a
slot would be the largest part of the memory of a run (``native/features/slot_counts.hpp``).
"""

from __future__ import annotations

import mmap
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.classes import dataclass

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
