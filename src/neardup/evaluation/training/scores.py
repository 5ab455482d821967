"""How good scores of labelled pairs are, and what is made of them: a cut, a probability."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Platt
from neardup.schema import Array

_STEPS = 100
_LEAST_SLOPE = 1e-6  # scores that say nothing give all pairs about one probability
_SURE = 1e-12


class Cut(NamedTuple):
    """The value from which a pair passes, and the F1 that this gives."""

    value: float
    f1: float


def f1(y: Array, passed: Array) -> float:
    wrong = int((passed != (y == 1)).sum())
    right = int((passed & (y == 1)).sum())
    return 2 * right / max(2 * right + wrong, 1)


def best_cut(score: Floats, y: Array) -> Cut:
    """Half way between two scores; of cuts that are equally good the middle one."""
    order = np.argsort(-score, kind="stable")
    falling, hits = score[order], np.cumsum(y[order])
    ends = np.flatnonzero(np.diff(falling, append=-np.inf))
    found = 2 * hits[ends] / (ends + 1 + int(y.sum()))
    best = np.flatnonzero(found == found.max())
    end = int(ends[best[len(best) // 2]])
    after = falling[min(end + 1, len(falling) - 1)]
    return Cut(float((falling[end] + after) / 2), float(found.max()))


def log_loss(probability: Floats, y: Array) -> float:
    """The mean of −ln of the probability that was given to what is true."""
    given = np.where(y == 1, probability, 1 - probability)
    return float(-np.log(np.maximum(given, _SURE)).mean())


def fit_platt(g: Floats, y: Array) -> Platt:
    """Platt's sigmoid with his targets, which leave room for doubt, by Newton's method as Lin, Lin
    and Weng (2007) give it."""
    positives, negatives = int(y.sum()), int((1 - y).sum())
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # On scores of about unit size: what a discriminant gives may be of any.
    size = float(np.std(g)) or 1.0
    slope, offset = 0.0, math.log((positives + 1) / (negatives + 1))
    z = g / size
    loss = _loss(z, target, slope, offset)
    for _ in range(_STEPS):
        down = _step(z, target, slope, offset)
        length = 1.0
        while length > 1e-10:
            tried = slope + length * down[0], offset + length * down[1]
            if (after := _loss(z, target, *tried)) < loss:
                break
            length /= 2
        else:
            break
        gained, loss = loss - after, after
        slope, offset = tried
        if gained < 1e-12 * max(loss, 1):
            break
    return Platt(max(slope / size, _LEAST_SLOPE), offset)


def _loss(z: Floats, target: Floats, slope: float, offset: float) -> float:
    f = slope * z + offset
    return float((np.logaddexp(0, f) - target * f).sum())


def _step(z: Floats, target: Floats, slope: float, offset: float) -> tuple[float, float]:
    p = 1 / (1 + np.exp(-np.clip(slope * z + offset, -500, 500)))
    d, w = p - target, p * (1 - p)
    first = np.array([(d * z).sum(), d.sum()])
    second = np.array([[(w * z * z).sum(), (w * z).sum()], [(w * z).sum(), w.sum()]])
    a, b = np.linalg.solve(second + 1e-12 * np.eye(2), -first).tolist()
    return a, b
