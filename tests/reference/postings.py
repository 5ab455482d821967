"""The twin of the native postings: a dict of sets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence


class Postings:
    def __init__(self) -> None:
        self.entries: dict[int, list[tuple[int, bool]]] = defaultdict(list)

    def add(self, keys: Sequence[int], probes: int, number: int) -> None:
        for place, key in enumerate(keys):
            self.entries[key].append((number, place < probes))

    def meet(
        self, keys: Sequence[int], probes: int, least: int = 1, most: int | None = None
    ) -> list[int]:
        shared, weight = Counter[int](), Counter[int]()
        documents = 1 + max((n for entries in self.entries.values() for n, _ in entries), default=0)
        for place, key in enumerate(keys):
            entries = self.entries.get(key, ())
            idf = max(documents.bit_length() - len(entries).bit_length(), 0) + 1
            for number, looks in entries:
                if looks or place < probes:
                    shared[number] += 1
                    weight[number] += idf
        enough = [number for number, times in shared.items() if times >= least]
        return sorted(sorted(enough, key=lambda n: (-weight[n], -shared[n], -n))[:most])

    def keep(self, numbers: Sequence[int]) -> None:
        for key, entries in list(self.entries.items()):
            self.entries[key] = [(numbers[n], looks) for n, looks in entries if numbers[n] >= 0]

    def __len__(self) -> int:
        return sum(map(len, self.entries.values()))
