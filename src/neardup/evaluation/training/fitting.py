"""One fit: parameters chosen, scores calibrated and the cut set, all in inner folds.

The scores that calibrate are *out of fold*: each pair is scored by what was fitted without it and
without its documents. Scores of pairs that a machine was fitted to would be too sure. What decides
is the mean of the machines of the folds, where the kind has one, else a machine fitted to all.
Of a kind that averages its grid there is a machine for each fold and each parameter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Platt
from neardup.evaluation.training.averaging import Machine, mean_of
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.folds import INNER, Folds, folds_of
from neardup.evaluation.training.kinds import FEW_PAIRS, Kind, Parameters
from neardup.evaluation.training.scores import best_cut, fit_platt, log_loss
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
    return _by_folds(kind, data, columns, given, folds)[0]


def _by_folds(
    kind: Kind, data: Data, columns: Sequence[int], given: Parameters, folds: Folds
) -> tuple[Floats, list[Machine]]:
    """The same, with the machines that say so."""
    found, machines = np.full(len(data), np.nan), []
    for train, test in folds.sides():
        machines.append(machine_of(kind, data.at(train), columns, given))
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
    every = [given] if given else kind.grid(len(columns))
    folds = folds_of(data, INNER, seed)
    made = [_by_folds(kind, data, columns, one, folds) for one in every]
    g = np.mean([scores for scores, _ in made], axis=0)
    tested = ~np.isnan(g)
    platt = fit_platt(g[tested], data.y[tested])
    threshold = best_cut(platt.probability(g[tested]), data.y[tested]).value
    machine = mean_of([one for _, machines in made for one in machines])
    return Fitted(machine or machine_of(kind, data, columns, given), given, platt, threshold)


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
