"""The slow, obvious twin of matching/bitmap_window: a dictionary of sets, all compared."""

from __future__ import annotations

from fractions import Fraction


class Window:
    def __init__(self) -> None:
        self.sets: dict[int, frozenset[int]] = {}
        self.added: dict[int, int] = {}

    def add(self, slot: int, grams: frozenset[int]) -> int:
        number = self.added.get(slot, 0)
        self.added[slot] = number + 1
        self.sets[slot << 32 | number] = grams
        return slot << 32 | number

    def remove(self, document: int) -> bool:
        return self.sets.pop(document, None) is not None

    def drop(self, slot: int) -> None:
        self.sets = {d: grams for d, grams in self.sets.items() if d >> 32 != slot}
        self.added[slot] = 0

    def overlaps(self, grams: frozenset[int], threshold: Fraction) -> list[tuple[int, int, int]]:
        """(document, shared, size) of those that reach the threshold."""
        found = []
        for document, other in sorted(self.sets.items()):
            shared, larger = len(grams & other), max(len(grams), len(other))
            if grams and other and shared >= threshold * larger:
                found.append((document, shared, len(other)))
        return found
