"""The twin of the native postings: a dict of sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence


class Postings:
    def __init__(self) -> None:
        self.entries: dict[int, list[tuple[int, bool]]] = defaultdict(list)

    def add(self, keys: Sequence[int], probes: int, number: int) -> None:
        for place, key in enumerate(keys):
            self.entries[key].append((number, place < probes))

    def meet(self, keys: Sequence[int], probes: int) -> list[int]:
        return sorted(
            {
                number
                for place, key in enumerate(keys)
                for number, looks in self.entries.get(key, ())
                if looks or place < probes
            }
        )

    def keep(self, numbers: Sequence[int]) -> None:
        for key, entries in list(self.entries.items()):
            self.entries[key] = [(numbers[n], looks) for n, looks in entries if numbers[n] >= 0]

    def __len__(self) -> int:
        return sum(map(len, self.entries.values()))
