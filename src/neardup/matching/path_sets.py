"""The sets that walk paths: read in blocks, how rare their features are, and their sketches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.matching.evidence import EvidenceStore
from neardup.schema import Array, Ragged, offsets_of

SAMPLE = 1 << 13  # documents of which features are counted
SLOTS = 1 << 18
BLOCK_FEATURES = 4 << 20


class PathSets(NamedTuple):
    """Evidence of ``documents``, which ascend, in blocks."""

    documents: Array
    store: EvidenceStore
    pool: ThreadPoolExecutor

    @property
    def sizes(self) -> Array:
        return np.asarray(self.store.lengths[self.documents])

    def of(self, chosen: Array, work: Callable[[Ragged, Array], Ragged]) -> list[Ragged]:
        """What ``work`` makes of blocks of the chosen sets, in their order."""
        blocks = list(_blocks(chosen, self.sizes))
        return list(self.pool.map(lambda at: work(self.store.take(self.documents[at]), at), blocks))


def _blocks(chosen: Array, sizes: Array) -> Iterator[Array]:
    ends = offsets_of(sizes[chosen])
    cuts = np.flatnonzero(np.diff(ends[1:] // BLOCK_FEATURES)) + 1
    yield from np.split(chosen, cuts)


def rarity(sets: PathSets) -> tuple[Array, Array]:
    """−8·log₂ of the share of documents by slot, and how many features of the sample have which."""
    count = len(sets.documents)
    chosen = np.arange(0, count, -(-count // SAMPLE))
    counts = np.zeros(SLOTS, np.int64)
    for at in _blocks(chosen, sets.sizes):
        features = sets.store.take(sets.documents[at]).values
        counts += np.bincount(features & np.uint32(SLOTS - 1), minlength=SLOTS)
    edges = [len(chosen) / 2 ** (eighths / 8) for eighths in range(255, 0, -1)]
    by_slot = np.maximum(255 - np.searchsorted(edges, counts, side="left"), 1)
    return by_slot.astype(np.uint8), np.bincount(by_slot, counts, minlength=256)


def sketches(sets: PathSets, share: Fraction) -> Ragged:
    """So many bits that unlike sets differ in more than sets that pass can: at most half of the
    bits differ, and 2(1 − t) of a set that passes do."""
    bits = max(5 * (1 - share), Fraction(1, 8))

    def work(evidence: Ragged, _: Array) -> Ragged:
        return Ragged(
            *_native.parity_sketches(
                evidence.values, evidence.offsets, bits.numerator, bits.denominator
            )
        )

    return Ragged.concat(sets.of(np.arange(len(sets.documents)), work), np.uint64)
