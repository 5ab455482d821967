"""MinHash: the fixed hash family, and how values become bands.

The family is ``h_i(x, y) = y + a_i·x mod 2³²`` over the two halves of a 64-bit feature; its proof
and kernel are in ``native/features/minhash.hpp``. The multipliers come from SplitMix64 with a fixed
seed and carry their own index in their low bits, which keeps any two of them apart modulo 2¹²;
shorter signatures are prefixes of longer ones.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged

MOST_VALUES = 4096
LANES = 16  # the kernel works on whole vectors of this many values
_SEED = 0x6E656172647570  # "neardup"
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def _splitmix64(state: int) -> int:
    """Steele, Lea & Flood 2014."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _MASK
    return state ^ (state >> 31)


def stream(seed: int, count: int) -> list[int]:
    """The first numbers of 64 bits that SplitMix64 gives for a seed."""
    return [_splitmix64(seed + (i + 1) * _GOLDEN & _MASK) for i in range(count)]


@functools.cache
def multipliers(count: int) -> npt.NDArray[np.uint32]:
    """The first ``count`` multipliers, padded to whole vectors."""
    padded = -(-count // LANES) * LANES
    values = [(x >> 32) & ~(MOST_VALUES - 1) | i for i, x in enumerate(stream(_SEED, padded))]
    return np.array(values, np.uint32)


class Bands(NamedTuple):
    bands: int
    rows: int

    @property
    def values(self) -> int:
        return self.bands * self.rows

    def miss_rate(self, t: float) -> float:
        """(1 − tʳ)ᵇ: no band agrees though the resemblance is t."""
        return float((1 - t**self.rows) ** self.bands)


FEWEST_ROWS = 3  # fewer let unlike documents meet: 1 − (1 − .1²)⁶⁴ = .47 at resemblance .1
VALUES_LIMIT = 1024


def choose_bands(threshold: float, values: int, miss_rate: float) -> Bands | None:
    """The most rows a band for which a pair at the threshold is missed at most ``miss_rate``.

    More rows, fewer accidental meetings. Where ``values`` do not allow three rows, more values are
    taken, up to ``VALUES_LIMIT``; beyond that there is no such banding and a prefix join serves.
    """
    for rows in range(values, FEWEST_ROWS - 1, -1):
        bands = Bands(values // rows, rows)
        if bands.miss_rate(threshold) <= miss_rate:
            return bands
    needed = math.ceil(math.log(miss_rate) / math.log1p(-(threshold**FEWEST_ROWS)))
    bands = Bands(needed, FEWEST_ROWS)
    return bands if bands.values <= VALUES_LIMIT else None


def band_keys(sets: Ragged, bands: Bands) -> tuple[Ragged, Array]:
    """Keys of sets of 32-bit features, and how many of them look: all."""
    family = multipliers(bands.values)
    keys = _native.band_keys(sets.values, sets.offsets, family, bands.bands, bands.rows)
    ends = np.arange(len(sets) + 1, dtype=np.int64) * bands.bands
    return Ragged(keys, ends), np.full(len(sets), bands.bands, np.int32)
