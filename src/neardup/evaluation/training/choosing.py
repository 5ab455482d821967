"""Which measures a model needs: those are left out, one after the other, that nobody misses.

Backward elimination: in each step the measure goes without which the log-loss of cross-validation
is lowest, as long as neither that nor F1 becomes worse than the best seen by more than a tolerance.
It is done in folds of its own, not in those that measure the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.evaluation.training.data import Data
from neardup.evaluation.training.fitting import out_of_fold
from neardup.evaluation.training.folds import INNER, Folds, folds_of
from neardup.evaluation.training.kinds import Kind, Parameters
from neardup.evaluation.training.scores import best_cut, fit_platt, log_loss

LOSS_TOLERANCE, F1_TOLERANCE = 0.02, 0.005  # the first is a share of the loss


@dataclass(frozen=True)
class Step:
    """How good it is without ``left_out`` (and those of the steps before); the first step leaves
    out none. ``taken``: whether it was left out for good."""

    left_out: str | None
    log_loss: float
    f1: float
    taken: bool

    def data(self) -> dict[str, Any]:
        return {**vars(self)}


@dataclass(frozen=True)
class Trial:
    log_loss: float
    f1: float

    def as_good_as(self, loss: float, f1: float) -> bool:
        return self.log_loss <= loss * (1 + LOSS_TOLERANCE) and self.f1 >= f1 - F1_TOLERANCE


def choose_measures(
    kind: Kind,
    data: Data,
    names: Sequence[str],
    parameters: Parameters,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[tuple[int, ...], list[Step]]:
    """The columns to take, and the table of how they were chosen."""
    folds = folds_of(data, INNER, seed + 1)
    left = tuple(range(len(names)))
    first = _tried(kind, data, left, parameters, folds)
    loss, f1, steps = first.log_loss, first.f1, [Step(None, first.log_loss, first.f1, True)]
    while len(left) > 1:
        tried = {}
        for out in left:
            tried[out] = _tried(kind, data, _without(left, out), parameters, folds)
            advance(1)
        out = min(tried, key=lambda one: (tried[one].log_loss, one))
        best = tried[out]
        taken = best.as_good_as(loss, f1)
        steps.append(Step(names[out], best.log_loss, best.f1, taken))
        if not taken:
            break
        left = _without(left, out)
        loss, f1 = min(loss, best.log_loss), max(f1, best.f1)
    return left, steps


def _without(columns: tuple[int, ...], out: int) -> tuple[int, ...]:
    return tuple(one for one in columns if one != out)


def _tried(
    kind: Kind, data: Data, columns: tuple[int, ...], parameters: Parameters, folds: Folds
) -> Trial:
    g = out_of_fold(kind, data, columns, parameters, folds)
    tested = ~np.isnan(g)
    y = data.y[tested]
    probability = fit_platt(g[tested], y).probability(g[tested])
    return Trial(log_loss(probability, y), best_cut(probability, y).f1)
