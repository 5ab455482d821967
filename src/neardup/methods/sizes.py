"""Keys that only sets of near sizes share. ``|A∩B| ≥ t·max(|A|, |B|)`` cannot hold where one set
has less than t of the size of the other.

Sizes are cut into classes so that a partner is in the same class or the next; each set has its keys
under the number of its class and of the next.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from neardup.schema import Array, Ragged

_SPREAD = np.uint64(0x9E3779B97F4A7C15)


def sized_keys(keys: Ragged, sizes: Array, t: Fraction) -> tuple[Ragged, Array]:
    """Twice as many keys, all to look with."""
    classes = np.repeat(size_classes(sizes, t), keys.lengths)
    both = np.stack([_mixed(keys.values, classes), _mixed(keys.values, classes + 1)], axis=1)
    return Ragged(both.reshape(-1), keys.offsets * 2), keys.lengths * 2


def size_classes(sizes: Array, t: Fraction) -> Array:
    if t == 1 or not len(sizes):
        return sizes
    return np.searchsorted(_edges(t, int(sizes.max()).bit_length()), sizes, side="right")


@lru_cache(maxsize=64)
def _edges(t: Fraction, bits: int) -> npt.NDArray[np.int64]:
    """The first size of each class. A class ends with what its first size can still reach, so what
    a size of the class can reach lies before the end of the next."""
    edges = [1]
    while edges[-1] < 1 << bits:
        edges.append(edges[-1] * t.denominator // t.numerator + 1)
    return np.array(edges, np.int64)


def _mixed(keys: npt.NDArray[np.uint64], classes: Array) -> npt.NDArray[np.uint64]:
    mixed: npt.NDArray[np.uint64] = keys ^ (classes.astype(np.uint64) + np.uint64(1)) * _SPREAD
    return mixed
