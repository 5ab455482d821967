"""Uncertainty of measures: Wilson's interval for shares, the bootstrap for F1.

The bootstrap draws groups of documents rather than pairs, because the pairs of one group are not
independent. Each group gets a Poisson(1) weight in each resample, computed from a hash of (seed,
resample, group). All settings and thresholds therefore see the same weights, and their differences
are paired.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup.schema import Array

LEVEL = 0.95
RESAMPLES = 1000
_STEP = 16  # resamples computed at a time, to bound the memory


class Interval(NamedTuple):
    low: float
    high: float


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval | None:
    """Wilson's interval (1927) for ``successes`` in ``n`` trials; None without trials."""
    if not n:
        return None
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, z2 = successes / n, z * z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    # At 0 and 1 rounding could exclude the share itself.
    low = 0.0 if successes == 0 else middle - half
    return Interval(low, 1.0 if successes == n else middle + half)


def probability(successes: int, n: int, least: float) -> float:
    """Probability that the true share is at least ``least``, with a uniform prior (Bayes 1763): the
    tail of Beta(successes + 1, n − successes + 1), as a sum of binomial terms."""
    if least >= 1:
        return 0.0
    k = np.arange(1, n + 2)
    odds = math.log(least) - math.log1p(-least)
    terms = np.cumsum(np.log(n + 2 - k) - np.log(k) + odds)
    logs = np.concatenate([[0.0], terms]) + (n + 1) * math.log1p(-least)
    return float(min(np.exp(logs[: successes + 1]).sum(), 1.0))


@dataclass(frozen=True)
class Resamples:
    """Weighted counts with a row per resample and a column per threshold; NaN if undefined."""

    tp: Array
    fp: Array
    fn: Array

    def f1(self) -> Array:
        """F1 as in ``PairCounts``, undefined in resamples without a positive."""
        with np.errstate(invalid="ignore"):
            return np.where(
                self.tp + self.fn > 0, 2 * self.tp / (2 * self.tp + self.fp + self.fn), np.nan
            )

    def precision(self) -> Array:
        with np.errstate(invalid="ignore"):
            share: Array = self.tp / (self.tp + self.fp)
        return share

    def recall(self) -> Array:
        with np.errstate(invalid="ignore"):
            share: Array = self.tp / (self.tp + self.fn)
        return share


def bootstrap(
    units: Array, tp: Array, fp: Array, fn: Array, *, resamples: int = RESAMPLES, seed: int = 0
) -> Resamples:
    """Resampled counts. ``tp``, ``fp``, ``fn`` have a row for each of ``units`` and a column per
    threshold. Units without any count may be left out: they do not change the sums."""
    counts = np.concatenate([tp, fp, fn], axis=1).astype(np.float64)
    sums = np.empty((resamples, counts.shape[1]))
    for start, weights in _weights(units, resamples, seed):
        sums[start : start + len(weights)] = weights @ counts
    return Resamples(*np.split(sums, 3, axis=1))


def interval_of(samples: Array, level: float = LEVEL) -> Interval | None:
    """The central ``level`` share of the samples that are defined."""
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def _poisson_table() -> npt.NDArray[np.float64]:
    """The Poisson(1) weight for each value of 16 random bits."""
    shares = np.cumsum([math.exp(-1) / math.factorial(k) for k in range(9)])
    return np.searchsorted(shares, (np.arange(1 << 16) + 0.5) / (1 << 16)).astype(np.float64)


def _weights(units: Array, resamples: int, seed: int) -> Iterator[tuple[int, Array]]:
    table = _poisson_table()
    base = units.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for start in range(0, resamples, _STEP):
        numbers = np.arange(start, min(start + _STEP, resamples), dtype=np.uint64)
        salt = (numbers + np.uint64(seed + 1) * np.uint64(1 << 32)) * np.uint64(0xD1B54A32D192ED03)
        yield start, table[_mixed(base[None, :] ^ _mixed(salt)[:, None]) >> np.uint64(48)]


def _mixed(x: Array) -> Array:
    """The finaliser of splitmix64."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x
