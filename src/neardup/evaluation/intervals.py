"""How sure a measure is: Wilson's interval for shares, the bootstrap for F1.

The bootstrap draws groups of documents, not pairs: pairs of one group stand or fall together. Each
group gets a Poisson(1) weight in each resample, made from a hash of (seed, resample, group), so the
same groups get the same weights for every setting and threshold: differences are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.schema import Array

LEVEL = 0.95
RESAMPLES = 1000
_STEP = 16  # resamples at a time: bounds the memory


class Interval(NamedTuple):
    low: float
    high: float


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval | None:
    """For ``successes`` of ``n`` independent trials (Wilson 1927); None for no trial."""
    if not n:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, z2 = successes / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At the ends rounding could miss the share itself.
    low = 0.0 if successes == 0 else middle - half
    return Interval(low, 1.0 if successes == n else middle + half)


def bootstrap_f1(
    units: Array,
    tp: Array,
    fp: Array,
    fn: Array,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> npt.NDArray[np.float64]:
    """F1 of each resample (row) at each cut (column). ``tp``, ``fp``, ``fn`` have a row for each of
    ``units`` and a column a cut. Without any positive drawn, F1 is undefined: NaN."""
    counts = np.concatenate([tp, fp, fn], axis=1).astype(np.float64)
    cuts = tp.shape[1]
    made = np.empty((resamples, cuts))
    for start, weights in _weights(units, resamples, seed):
        t, f, n = np.split(weights @ counts, 3, axis=1)
        with np.errstate(invalid="ignore"):
            made[start : start + len(weights)] = np.where(
                t + n > 0, 2 * t / (2 * t + f + n), np.nan
            )
    return made


def interval_of(samples: Array, level: float = LEVEL) -> Interval | None:
    """The middle ``level`` of the samples that are defined."""
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _poisson_table() -> npt.NDArray[np.float64]:
    """The weight for each value of 16 random bits."""
    shares = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(9)])
    return np.searchsorted(shares, (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.float64)


def _weights(units: Array, resamples: int, seed: int) -> Iterator[tuple[int, Array]]:
    table = _poisson_table()
    base = units.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for start in range(0, resamples, _STEP):
        drawn = np.arange(start, min(start + _STEP, resamples), dtype=np.uint64)
        salt = (drawn + np.uint64(seed + 1) * np.uint64(1 << 32)) * np.uint64(0xD1B54A32D192ED03)
        yield start, table[_mixed(base[None, :] ^ _mixed(salt)[:, None]) >> np.uint64(48)]


def _mixed(x: Array) -> Array:
    """The finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x
