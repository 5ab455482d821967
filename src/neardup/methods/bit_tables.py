"""Tables that find all fingerprints within k bits (Manku, Jain & Das Sarma 2007, §3).

The bits are divided into B blocks. Two fingerprints that differ in at most k bits agree in B − k
whole blocks, so a table for every choice of B − k blocks finds them all. Few blocks give few tables
with narrow keys, which many documents share by accident; more blocks give more tables with wider
keys. ``choose_tables`` takes the number of blocks that is cheapest for the number of documents.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb

import numpy as np
import numpy.typing as npt

from neardup.errors import SettingsError
from neardup.methods.meeting import SPREAD

MOST_TABLES = 5000
KEY_COST = 40  # comparisons, of some 1.7 ns, that take as long as making and sorting one key
MOST_COMPARISONS = 2 * 10**12  # of a core: about an hour, by the figures of docs/performance.md


@dataclass(frozen=True)
class Tables:
    blocks: int
    chosen: int  # blocks of a key
    bits: int

    @property
    def count(self) -> int:
        return comb(self.blocks, self.chosen)

    @property
    def key_bits(self) -> int:
        """The number of bits of the narrowest key."""
        return self.bits * self.chosen // self.blocks

    def comparisons(self, documents: int) -> float:
        """The cost for random fingerprints, in comparisons."""
        accidents = documents**2 / 2 / 2.0**self.key_bits
        return self.count * (KEY_COST * documents + accidents)


@lru_cache(maxsize=256)
def choose_tables(bits: int, distance: int, documents: int, cores: int = 1) -> Tables:
    """The cheapest complete tables; refused if comparing would take hours on all ``cores``."""
    choices = [
        Tables(blocks, blocks - distance, bits)
        for blocks in range(distance + 1, bits + 1)
        if comb(blocks, distance) <= MOST_TABLES
    ]
    best = min(choices, key=lambda tables: tables.comparisons(documents))
    most = MOST_COMPARISONS * cores
    if best.comparisons(documents) > most:
        raise SettingsError(
            f"simhash: distance {distance} of {bits} bits among {documents:,} documents would take "
            f"about {best.comparisons(documents):.0e} comparisons; the limit is {most:.0e}"
            f"{f', for {cores:,} cores' if cores > 1 else ''}.",
            hint="take a smaller distance (beyond 5 of 64 bits most pairs are false), or shingles.",
        )
    return best


@lru_cache(maxsize=64)
def masks(tables: Tables) -> npt.NDArray[np.uint64]:
    """One row for each table; a row has one word for every 64 bits."""
    edges = [tables.bits * i // tables.blocks for i in range(tables.blocks + 1)]
    blocks = [sum(1 << bit for bit in range(begin, end)) for begin, end in pairwise(edges)]
    wide = [sum(some) for some in combinations(blocks, tables.chosen)]
    words = -(-tables.bits // 64)
    rows = [[mask >> 64 * word & (1 << 64) - 1 for word in range(words)] for mask in wide]
    return np.array(rows, np.uint64)


def mixed(
    masked: npt.NDArray[np.uint64], table: int | npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Keys with the number of their table mixed in, because keys of different tables must never
    meet. ``table`` is one number for all rows, or one for each."""
    number = np.atleast_1d(np.asarray(table, np.uint64)) + np.uint64(1)
    key = np.broadcast_to(number * SPREAD, len(masked))
    for lane in range(masked.shape[1]):
        key = (key ^ masked[:, lane]) * np.uint64(0xBF58476D1CE4E5B9)
        key ^= key >> np.uint64(29)
    return key
