"""One fit: parameters chosen, scores calibrated and the cut set, all in inner folds.

The scores that calibrate are *out of fold*: each pair is scored by what was fitted without it and
without its documents. Scores of pairs that a machine was fitted to would be too sure. What decides
is the mean of the machines of the folds, where the kind has one, else a machine fitted to all.
Of a kind that averages its grid there is a machine for each fold and each parameter. Where single
measures vote, they do so in each fold too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Platt
from neardup.evaluation.training.averaging import Machine, mean_of, sum_of
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.folds import INNER, Folds, folds_of
from neardup.evaluation.training.kinds import FEW_PAIRS, Kind, Parameters
from neardup.evaluation.training.scores import best_cut, fit_platt, log_loss
from neardup.evaluation.training.votes import SHARE, vote_of
from neardup.schema import Array

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
