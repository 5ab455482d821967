"""How the documents of a method meet: which pairs are compared at all.

A method declares one :class:`Meeting`, and every engine asks it. Documents that share keys of
``prepare`` meet on every engine; that is the default. An engine that has the evidence of all
documents at hand may find pairs in a better way (``batch``), and so may an index that compares one
document with those before it (``arrival``). ``matching/`` has one file for each way to meet. A way
changes the cost and the pairs that may be missed, never whether a pair that meets passes.

:class:`Tables` find all fingerprints within k bits (Manku, Jain & Das Sarma 2007, §3). The bits are
divided into B blocks. Two fingerprints that differ in at most k bits agree in B − k whole blocks,
so a table for every choice of B − k blocks finds them all. Few blocks give few tables with narrow
keys, which many documents share by accident; more blocks give more tables with wider keys.
``choose_tables`` takes the number of blocks that is cheapest for the number of documents.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.classes import dataclass
from neardup.errors import SettingsError
from neardup.schema import Array, Ragged

SPREAD = np.uint64(0x9E3779B97F4A7C15)  # times a small number: mixed into keys, it tells them apart


class Rarity(NamedTuple):
    """How often features occur in the documents at hand, by the low bits of the feature
    (``native/matching/rare.hpp`` explains the bytes), and which share of the key space to make."""

    counts: npt.NDArray[np.uint8]
    part: int = 0
    parts: int = 1


# Evidence → of each document so many of its rarest features that any partner has at least one of
# them, and with how many of these keys the document looks for others.
RareKeys = Callable[[Ragged, Rarity], tuple[Ragged, Array]]


@dataclass(frozen=True)
class SharedKeys:
    """Documents meet that share at least ``least`` of the keys of ``prepare``. Where the method has
    ``rare_keys``, groups of many unlike documents get rarer keys (``matching/rare.py``)."""

    least: int = 1
    rare_keys: RareKeys | None = None


@dataclass(frozen=True)
class RarePrefix:
    """The evidence is a set of 32-bit features, or of features in the upper and weights in the
    lower half of 64 bits, or ``features`` makes such a set of it; the threshold is on the overlap:
    documents meet that share one of the features that are rarest in the collection
    (``matching/rare.py``). Where single features are common, as words are, ``least`` says how many
    of its keys a document of a given size shares with any larger one that passes."""

    rare_keys: RareKeys
    features: Callable[[Ragged], Ragged] | None = None
    least: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class NearBits:
    """The evidence is a fingerprint: documents meet that differ in at most ``distance`` bits
    (``matching/candidates.py``). ``masks(documents, cores)`` has one row a table; fingerprints
    within the distance agree under at least one. It refuses, with a sentence, what so many cores
    would not finish in reasonable time."""

    distance: int
    masks: Callable[[int, int], npt.NDArray[np.uint64]]


@dataclass(frozen=True)
class SharedPaths:
    """The evidence is a set of 32-bit features, and two documents that pass have at least ``share``
    of the larger set in common. Where features are too common to be keys, such pairs are found by
    random paths (``matching/paths.py``), of which ``miss_rate`` at the threshold may be missed."""

    share: Fraction
    miss_rate: float
    rare_keys: RareKeys


@dataclass(frozen=True)
class SharedWindow:
    """Pairs pass if and only if they have at least ``share`` of the larger set of 32-bit features
    in common, with that share as the score: an index finds exactly these in a bitmap window
    (``matching/window.py``) and needs no keys."""

    share: Fraction


@dataclass(frozen=True)
class Meeting:
    """``batch``: how the documents of a whole collection meet. ``arrival``: how one document meets
    those of an index."""

    batch: SharedKeys | RarePrefix | NearBits | SharedPaths = field(default_factory=SharedKeys)
    arrival: SharedKeys | SharedWindow = field(default_factory=SharedKeys)

    @property
    def batch_needs_keys(self) -> bool:
        """Whether a batch engine uses the keys of ``prepare``."""
        return isinstance(self.batch, SharedKeys)

    @property
    def arrival_needs_keys(self) -> bool:
        """Whether an index must score what arrivals meet; a window has keys and scores itself."""
        return isinstance(self.arrival, SharedKeys)

    @property
    def bits(self) -> NearBits | None:
        """How fingerprints meet, where the method has them."""
        return self.batch if isinstance(self.batch, NearBits) else None

    @property
    def least_shared(self) -> int:
        """How many keys two documents must share, where they meet by keys."""
        return self.batch.least if isinstance(self.batch, SharedKeys) else 1


def by_keys(least: int = 1, rare_keys: RareKeys | None = None) -> Meeting:
    """Documents meet by shared keys on every engine."""
    keys = SharedKeys(least, rare_keys)
    return Meeting(keys, keys)


def by_rare_prefix(rare_keys: RareKeys) -> Meeting:
    """Documents of a collection meet by its rarest features, single ones by their own keys."""
    return Meeting(RarePrefix(rare_keys))


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
def table_masks(tables: Tables) -> npt.NDArray[np.uint64]:
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
