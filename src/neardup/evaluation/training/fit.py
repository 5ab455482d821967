"""Fits one model: chooses parameters, calibrates scores and sets the threshold, all in inner folds.

Scores that calibrate are *out of fold*: each pair is scored by a machine that was fitted without
the pair and without its documents, because scores of pairs that a machine was fitted to are too
confident. The model is the mean of the machines of the folds if the kind has one (bagging: Breiman
1996), otherwise a machine fitted to all pairs. A kind that averages its grid has a machine for each
fold and each parameter. Their mean is steadier than one machine, and the calibrating scores come
from exactly these machines.

For kinds that vote, a third of the weight goes to the mean log-odds of the best single measures (a
logarithmic opinion pool, Genest & Zidek 1986). A machine weighs measures by what the labels happen
to show, and few labels show much by chance; a single measure has only two parameters to learn, so
its log-odds also hold elsewhere. On half of a collection this costs nothing, and with a few dozen
labels, or labels of another collection, it helps much (docs/learning.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.discriminants import Discriminant, Linear, Trees
from neardup.artefacts.model import Platt
from neardup.evaluation.training.folds import INNER, Folds, folds_of
from neardup.evaluation.training.machines import FEW_PAIRS, Kind, Parameters
from neardup.evaluation.training.training_data import Data
from neardup.schema import Array


@dataclass(frozen=True)
class Machine:
    """A discriminant with its scaling; ``columns`` are the measures it uses."""

    columns: tuple[int, ...]
    center: Floats
    scale: Floats
    discriminant: Discriminant

    def g(self, x: Floats) -> Floats:
        return self.discriminant.g((x[:, self.columns] - self.center) / self.scale)


def mean_of(machines: Sequence[Machine]) -> Machine | None:
    """The mean of machines with the same columns; None for kinds that have no such mean."""
    first = machines[0]
    discriminants = [machine.discriminant for machine in machines]
    if all(isinstance(discriminant, Linear) for discriminant in discriminants):
        return sum_of(machines, [1 / len(machines)] * len(machines))
    trees = [discriminant for discriminant in discriminants if isinstance(discriminant, Trees)]
    if len(trees) < len(discriminants):
        return None
    return Machine(first.columns, first.center, first.scale, _mean_of_trees(trees))


def sum_of(machines: Sequence[Machine], shares: Sequence[float]) -> Machine:
    """The weighted sum of linear machines, with the mean of their scalings."""
    center = np.mean([machine.center for machine in machines], axis=0)
    scale = np.mean([machine.scale for machine in machines], axis=0)
    weights, b = np.zeros(len(scale)), 0.0
    for machine, share in zip(machines, shares, strict=True):
        assert isinstance(machine.discriminant, Linear)
        own = machine.discriminant.weights / machine.scale
        weights += share * own * scale
        b += share * (machine.discriminant.b + float((own * (center - machine.center)).sum()))
    return Machine(machines[0].columns, center, scale, Linear(weights, b))


def _mean_of_trees(trees: Sequence[Trees]) -> Trees:
    """All trees, with their values divided by the number of machines."""
    starts = np.cumsum([0, *(part.feature.size for part in trees)])[:-1]

    def joined(name: str) -> Floats:
        return np.concatenate([getattr(part, name) for part in trees])

    def shifted(name: str) -> Floats:
        """Numbers of nodes; the values of leaves are meaningless."""
        parts = zip(trees, starts, strict=True)
        return np.concatenate([getattr(part, name) + start for part, start in parts])

    inner = joined("feature") >= 0
    return Trees(
        feature=joined("feature"),
        cut=joined("cut"),
        left=np.where(inner, shifted("left"), 0.0),
        right=np.where(inner, shifted("right"), 0.0),
        value=joined("value") / len(trees),
        roots=shifted("roots"),
        b=float(np.mean([part.b for part in trees])),
    )


_STEPS = 100
_LEAST_SLOPE = 1e-6  # useless scores give all pairs nearly the same probability
_LEAST_PROBABILITY = 1e-12


class BestThreshold(NamedTuple):
    """The score from which a pair passes, and the F1 at this threshold."""

    value: float
    f1: float


def f1(y: Array, passed: Array) -> float:
    wrong = int((passed != (y == 1)).sum())
    right = int((passed & (y == 1)).sum())
    return 2 * right / max(2 * right + wrong, 1)


def best_threshold(score: Floats, y: Array) -> BestThreshold:
    """The threshold with the highest F1, half way between two scores; the middle of equal ones."""
    order = np.argsort(-score, kind="stable")
    falling, hits = score[order], np.cumsum(y[order])
    ends = np.flatnonzero(np.diff(falling, append=-np.inf))
    f1_at = 2 * hits[ends] / (ends + 1 + int(y.sum()))
    best = np.flatnonzero(f1_at == f1_at.max())
    end = int(ends[best[len(best) // 2]])
    after = falling[min(end + 1, len(falling) - 1)]
    return BestThreshold(float((falling[end] + after) / 2), float(f1_at.max()))


def log_loss(probability: Floats, y: Array) -> float:
    """The mean of −ln of the probability that was given to the true class."""
    of_truth = np.where(y == 1, probability, 1 - probability)
    return float(-np.log(np.maximum(of_truth, _LEAST_PROBABILITY)).mean())


def fit_platt(g: Floats, y: Array) -> Platt:
    """Platt's sigmoid with smoothed targets, by Newton's method as in Lin, Lin & Weng (2007)."""
    positives, negatives = int(y.sum()), int((1 - y).sum())
    target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))
    # The scores are scaled to about unit size, because those of a discriminant may have any size.
    size = float(np.std(g)) or 1.0
    slope, offset = 0.0, math.log((positives + 1) / (negatives + 1))
    z = g / size
    loss = _platt_loss(z, target, slope, offset)
    for _ in range(_STEPS):
        down = _step(z, target, slope, offset)
        length = 1.0
        while length > 1e-10:
            candidate = slope + length * down[0], offset + length * down[1]
            if (after := _platt_loss(z, target, *candidate)) < loss:
                break
            length /= 2
        else:
            break
        gained, loss = loss - after, after
        slope, offset = candidate
        if gained < 1e-12 * max(loss, 1):
            break
    return Platt(max(slope / size, _LEAST_SLOPE), offset)


def _platt_loss(z: Floats, target: Floats, slope: float, offset: float) -> float:
    f = slope * z + offset
    return float((np.logaddexp(0, f) - target * f).sum())


def _step(z: Floats, target: Floats, slope: float, offset: float) -> tuple[float, float]:
    p = 1 / (1 + np.exp(-np.clip(slope * z + offset, -500, 500)))
    d, w = p - target, p * (1 - p)
    first = np.array([(d * z).sum(), d.sum()])
    second = np.array([[(w * z * z).sum(), (w * z).sum()], [(w * z).sum(), w.sum()]])
    a, b = np.linalg.solve(second + 1e-12 * np.eye(2), -first).tolist()
    return a, b


SHARE = 1 / 3  # the weight of the vote
VOTERS = 7  # measures that vote


def vote_of(data: Data, columns: Sequence[int]) -> Machine:
    """The mean log-odds of the best single measures, in the form of a linear machine."""
    alone = [fit_platt(data.x[:, column], data.y) for column in columns]
    calibrated = zip(alone, columns, strict=True)
    losses = [log_loss(p.probability(data.x[:, column]), data.y) for p, column in calibrated]
    voters = np.argsort(losses, kind="stable")[:VOTERS]
    weights = np.zeros(len(columns))
    weights[voters] = [alone[at].slope / len(voters) for at in voters]
    b = float(np.mean([alone[at].offset for at in voters]))
    unscaled = np.zeros(len(columns)), np.ones(len(columns))
    return Machine(tuple(columns), *unscaled, Linear(weights, b))


GRID_PAIRS = 1500  # pairs on which parameters are chosen; more hardly change the choice


@dataclass(frozen=True)
class Fitted:
    """A calibrated machine; ``parameters`` are the chosen ones, empty if the grid was averaged."""

    machine: Machine
    parameters: Parameters
    platt: Platt
    threshold: float

    def probability(self, x: Floats) -> Floats:
        return self.platt.probability(self.machine.g(x))

    def passed(self, x: Floats) -> Array:
        return self.probability(x) >= self.threshold


def machine_of(kind: Kind, data: Data, columns: Sequence[int], parameters: Parameters) -> Machine:
    chosen, balanced = tuple(columns), data.balanced(kind.most, 0)
    x = balanced.x[:, chosen]
    center, scale = np.zeros(len(chosen)), np.ones(len(chosen))
    if kind.scales:
        center, spread = x.mean(axis=0), x.std(axis=0)
        scale = np.where(spread > 1e-6, spread, 1.0)  # a constant measure is not scaled
    return Machine(chosen, center, scale, kind.fit((x - center) / scale, balanced.y, parameters))


def out_of_fold(
    kind: Kind, data: Data, columns: Sequence[int], parameters: Parameters, folds: Folds
) -> Floats:
    """The score g of each pair; NaN for pairs that no fold tests."""
    return _by_folds(_maker(kind, columns, parameters), data, folds)[0]


def _maker(kind: Kind, columns: Sequence[int], parameters: Parameters) -> Callable[[Data], Machine]:
    return lambda data: machine_of(kind, data, columns, parameters)


def _by_folds(
    fit_machine: Callable[[Data], Machine], data: Data, folds: Folds
) -> tuple[Floats, list[Machine]]:
    """Scores out of fold, and the machines that gave them."""
    scores, machines = np.full(len(data), np.nan), []
    for train, test in folds.sides():
        machines.append(fit_machine(data.at(train)))
        scores[test] = machines[-1].g(data.x[test])
    return scores, machines


def fit(
    kind: Kind, data: Data, columns: Sequence[int], seed: int, parameters: Parameters | None = None
) -> Fitted:
    chosen = parameters or choose_parameters(kind, data, columns, seed)
    folds = folds_of(data, INNER, seed)
    g, machine = _averaged(kind, data, columns, chosen, folds)
    if kind.votes:
        g, machine = _with_vote(g, machine, data, columns, folds)
    tested = ~np.isnan(g)
    platt = fit_platt(g[tested], data.y[tested])
    if kind.zero:
        threshold = float(platt.probability(np.zeros(1))[0])
    else:
        threshold = best_threshold(platt.probability(g[tested]), data.y[tested]).value
    return Fitted(machine, chosen, platt, threshold)


def _averaged(
    kind: Kind, data: Data, columns: Sequence[int], parameters: Parameters, folds: Folds
) -> tuple[Floats, Machine]:
    """Scores out of fold, and the model: the mean of the machines if the kind has one."""
    every = [parameters] if parameters else kind.grid(len(columns))
    fitted = [_by_folds(_maker(kind, columns, tried), data, folds) for tried in every]
    every_machine = [machine for _, machines in fitted for machine in machines]
    mean = None if kind.zero else mean_of(every_machine)
    g = np.mean([scores for scores, _ in fitted], axis=0)
    return g, mean or machine_of(kind, data, columns, parameters)


def _with_vote(
    g: Floats, machine: Machine, data: Data, columns: Sequence[int], folds: Folds
) -> tuple[Floats, Machine]:
    """Scores and machine with the vote added, all in log-odds so that shares are true weights."""
    vote, machines = _by_folds(lambda part: vote_of(part, columns), data, folds)
    voting, tested = mean_of(machines), ~np.isnan(g)
    assert voting is not None
    shares = (1 - SHARE) * fit_platt(g[tested], data.y[tested]).slope, SHARE
    return shares[0] * g + shares[1] * vote, sum_of([machine, voting], shares)


def choose_parameters(kind: Kind, data: Data, columns: Sequence[int], seed: int) -> Parameters:
    """The parameters of the grid with the least log-loss in inner folds; of equal ones the first,
    which is the simplest. Empty for a kind that averages its grid."""
    if kind.averages_grid:
        return {}
    balanced = data.balanced(FEW_PAIRS, 0).drawn(GRID_PAIRS, seed)
    folds = folds_of(balanced, INNER, seed)
    grid = kind.grid(len(columns))
    scores = [out_of_fold(kind, balanced, columns, parameters, folds) for parameters in grid]
    return grid[int(np.argmin([_loss(g, balanced) for g in scores]))]


def _loss(g: Floats, data: Data) -> float:
    """The log-loss of the scores after calibration."""
    tested = ~np.isnan(g)
    y = data.y[tested]
    return log_loss(fit_platt(g[tested], y).probability(g[tested]), y)
