"""One fit: parameters chosen, scores calibrated and the cut set, all in inner folds.

The scores that calibrate are *out of fold*: each pair is scored by what was fitted without it and
without its documents. Scores of pairs that a machine was fitted to would be too sure. What decides
is the mean of the machines of the folds, where the kind has one, else a machine fitted to all.
Of a kind that averages its grid there is a machine for each fold and each parameter. Where single
measures vote, they do so in each fold too.

Several machines as one: the mean of what they say, in the form that each of them has.

Machines that were fitted to other parts of the labels differ most where labels say little. Their
mean is steadier than one machine that was fitted to all of them (bagging: Breiman 1996), and the
scores that calibrate it are of just these machines.

The vote of single measures, which steadies a machine.

A machine weighs measures against each other by what the labels happen to show, and few labels, or
labels of few sorts, show much by chance. Each measure alone has two numbers to learn, so its
log-odds hold elsewhere too. A third of the say goes to the mean of those that tell best alone
(a logarithmic opinion pool, Genest & Zidek 1986): half of a collection teaches the other as well as
without, a few dozen labels teach much more, and so do labels of another collection
(docs/learning.md).

How good scores of labelled pairs are, and what is made of them: a cut, a probability.
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
    """A discriminant with its scaling; ``columns`` are the measures it takes."""

    columns: tuple[int, ...]
    center: Floats
    scale: Floats
    discriminant: Discriminant

    def g(self, x: Floats) -> Floats:
        return self.discriminant.g((x[:, self.columns] - self.center) / self.scale)


def mean_of(machines: Sequence[Machine]) -> Machine | None:
    """None for kinds that have no mean of their own form. All take the same columns."""
    first = machines[0]
    made = [one.discriminant for one in machines]
    if all(isinstance(one, Linear) for one in made):
        return sum_of(machines, [1 / len(machines)] * len(machines))
    trees = [one for one in made if isinstance(one, Trees)]
    if len(trees) < len(made):
        return None
    return Machine(first.columns, first.center, first.scale, _mean_of_trees(trees))


def sum_of(machines: Sequence[Machine], shares: Sequence[float]) -> Machine:
    """Of linear machines. Each has a scaling of its own; that of the sum is the mean of these."""
    center = np.mean([one.center for one in machines], axis=0)
    scale = np.mean([one.scale for one in machines], axis=0)
    weights, b = np.zeros(len(scale)), 0.0
    for one, share in zip(machines, shares, strict=True):
        assert isinstance(one.discriminant, Linear)
        own = one.discriminant.weights / one.scale
        weights += share * own * scale
        b += share * (one.discriminant.b + float((own * (center - one.center)).sum()))
    return Machine(machines[0].columns, center, scale, Linear(weights, b))


def _mean_of_trees(trees: Sequence[Trees]) -> Trees:
    """All trees, each worth its share."""
    starts = np.cumsum([0, *(one.feature.size for one in trees)])[:-1]

    def shifted(name: str) -> Floats:
        """Numbers of nodes; what a leaf has there says nothing."""
        parts = zip(trees, starts, strict=True)
        return np.concatenate([getattr(one, name) + at for one, at in parts])

    inner = np.concatenate([one.feature for one in trees]) >= 0
    return Trees(
        feature=np.concatenate([one.feature for one in trees]),
        cut=np.concatenate([one.cut for one in trees]),
        left=np.where(inner, shifted("left"), 0.0),
        right=np.where(inner, shifted("right"), 0.0),
        value=np.concatenate([one.value for one in trees]) / len(trees),
        roots=shifted("roots"),
        b=float(np.mean([one.b for one in trees])),
    )


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
    loss = _platt_loss(z, target, slope, offset)
    for _ in range(_STEPS):
        down = _step(z, target, slope, offset)
        length = 1.0
        while length > 1e-10:
            tried = slope + length * down[0], offset + length * down[1]
            if (after := _platt_loss(z, target, *tried)) < loss:
                break
            length /= 2
        else:
            break
        gained, loss = loss - after, after
        slope, offset = tried
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


SHARE = 1 / 3  # of the say
VOTERS = 7  # of the measures


def vote_of(data: Data, columns: Sequence[int]) -> Machine:
    """In log-odds, in the form of a linear machine."""
    alone = [fit_platt(data.x[:, column], data.y) for column in columns]
    told = zip(alone, columns, strict=True)
    losses = [log_loss(one.probability(data.x[:, column]), data.y) for one, column in told]
    voters = np.argsort(losses, kind="stable")[:VOTERS]
    weights = np.zeros(len(columns))
    weights[voters] = [alone[at].slope / len(voters) for at in voters]
    b = float(np.mean([alone[at].offset for at in voters]))
    plain = np.zeros(len(columns)), np.ones(len(columns))
    return Machine(tuple(columns), *plain, Linear(weights, b))


GRID_PAIRS = 1500  # parameters are chosen on so many: they hardly change with more


@dataclass(frozen=True)
class Fitted:
    """``parameters`` are those that were chosen; none where all were tried and averaged."""

    machine: Machine
    parameters: Parameters
    platt: Platt
    threshold: float

    def probability(self, x: Floats) -> Floats:
        return self.platt.probability(self.machine.g(x))

    def passed(self, x: Floats) -> Array:
        return self.probability(x) >= self.threshold


def machine_of(kind: Kind, data: Data, columns: Sequence[int], given: Parameters) -> Machine:
    chosen, some = tuple(columns), data.balanced(kind.most, 0)
    x = some.x[:, chosen]
    center, scale = np.zeros(len(chosen)), np.ones(len(chosen))
    if kind.scales:
        center, spread = x.mean(axis=0), x.std(axis=0)
        scale = np.where(spread > 1e-6, spread, 1.0)  # what never varies is left as it is
    return Machine(chosen, center, scale, kind.fit((x - center) / scale, some.y, given))


def out_of_fold(
    kind: Kind, data: Data, columns: Sequence[int], given: Parameters, folds: Folds
) -> Floats:
    """g of each pair; NaN for pairs that no fold tests."""
    return _by_folds(_maker(kind, columns, given), data, folds)[0]


def _maker(kind: Kind, columns: Sequence[int], given: Parameters) -> Callable[[Data], Machine]:
    return lambda data: machine_of(kind, data, columns, given)


def _by_folds(
    made_of: Callable[[Data], Machine], data: Data, folds: Folds
) -> tuple[Floats, list[Machine]]:
    """Scores out of fold, with the machines that say so."""
    found, machines = np.full(len(data), np.nan), []
    for train, test in folds.sides():
        machines.append(made_of(data.at(train)))
        found[test] = machines[-1].g(data.x[test])
    return found, machines


def fit(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    seed: int,
    parameters: Parameters | None = None,
) -> Fitted:
    given = parameters or choose_parameters(kind, data, columns, seed)
    folds = folds_of(data, INNER, seed)
    g, machine = _averaged(kind, data, columns, given, folds)
    if kind.votes:
        g, machine = _with_vote(g, machine, data, columns, folds)
    tested = ~np.isnan(g)
    platt = fit_platt(g[tested], data.y[tested])
    threshold = best_cut(platt.probability(g[tested]), data.y[tested]).value
    return Fitted(machine, given, platt, threshold)


def _averaged(
    kind: Kind, data: Data, columns: Sequence[int], given: Parameters, folds: Folds
) -> tuple[Floats, Machine]:
    """Scores out of fold, and what decides: the mean of the machines, where the kind has one."""
    every = [given] if given else kind.grid(len(columns))
    made = [_by_folds(_maker(kind, columns, one), data, folds) for one in every]
    mean = mean_of([one for _, machines in made for one in machines])
    g = np.mean([scores for scores, _ in made], axis=0)
    return g, mean or machine_of(kind, data, columns, given)


def _with_vote(
    g: Floats, machine: Machine, data: Data, columns: Sequence[int], folds: Folds
) -> tuple[Floats, Machine]:
    """Both in log-odds, so that their shares are what they say."""
    vote, machines = _by_folds(lambda some: vote_of(some, columns), data, folds)
    voting, tested = mean_of(machines), ~np.isnan(g)
    assert voting is not None
    shares = (1 - SHARE) * fit_platt(g[tested], data.y[tested]).slope, SHARE
    return shares[0] * g + shares[1] * vote, sum_of([machine, voting], shares)


def choose_parameters(kind: Kind, data: Data, columns: Sequence[int], seed: int) -> Parameters:
    """Those of the grid with the least log-loss in inner folds, of equals the first, which is the
    simplest. None of a kind that takes the mean of all."""
    if kind.averages_grid:
        return {}
    some = data.balanced(FEW_PAIRS, 0).drawn(GRID_PAIRS, seed)
    folds = folds_of(some, INNER, seed)
    grid = kind.grid(len(columns))
    scores = [out_of_fold(kind, some, columns, given, folds) for given in grid]
    return grid[int(np.argmin([_loss(g, some) for g in scores]))]


def _loss(g: Floats, data: Data) -> float:
    """Log-loss of the scores, calibrated."""
    tested = ~np.isnan(g)
    y = data.y[tested]
    return log_loss(fit_platt(g[tested], y).probability(g[tested]), y)
