"""Cross-validation: measures what was trained on some documents on different documents.

``learning_curve`` measures F1 in the same way for growing numbers of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.decisions.clusters import components
from neardup.errors import InputError
from neardup.evaluation.training.fit import best_threshold, f1, fit, log_loss
from neardup.evaluation.training.folds import Folds
from neardup.evaluation.training.machines import Kind, Parameters
from neardup.evaluation.training.training_data import Data
from neardup.labels.intervals import Interval, bootstrap, interval_of
from neardup.schema import Array


@dataclass(frozen=True)
class Validated:
    """Measures over the tested pairs, each tested without its documents in the training."""

    f1: float
    precision: float
    recall: float
    interval: Interval | None
    log_loss: float | None = None

    def data(self) -> dict[str, Any]:
        return {**vars(self), "interval": list(self.interval) if self.interval else None}


def validate(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    folds: Folds,
    seed: int,
    parameters: Parameters | None = None,
) -> Validated:
    """Cross-validate a kind. Parameters, calibration and threshold are chosen anew in each fold, so
    the whole way from labels to a model is measured."""
    probability = np.full(len(data), np.nan)
    passed = np.zeros(len(data), bool)
    for train, test in folds.sides():
        fitted = fit(kind, data.at(train), columns, seed, parameters)
        probability[test] = fitted.probability(data.x[test])
        passed[test] = probability[test] >= fitted.threshold
    return measured(data, passed, probability)


def measured(data: Data, passed: Array, probability: Floats) -> Validated:
    """The measures; ``probability`` is NaN for pairs that were not tested."""
    tested = ~np.isnan(probability)
    units = _units(data)[tested]
    y, passed = data.y[tested] == 1, passed[tested]
    right, wrong, missed = y & passed, ~y & passed, y & ~passed
    tp, fp, fn = (int(rows.sum()) for rows in (right, wrong, missed))
    return Validated(
        f1=f1(data.y[tested], passed),
        precision=tp / max(tp + fp, 1),
        recall=tp / max(tp + fn, 1),
        interval=_interval(units, right, wrong, missed),
        log_loss=log_loss(probability[tested], data.y[tested]),
    )


def _units(data: Data) -> Array:
    """Sampling units for the bootstrap: pairs of documents that are duplicates of each other are
    drawn together."""
    count = int(max(data.a.max(), data.b.max())) + 1
    same = data.y == 1
    cluster = components(count, data.a[same], data.b[same])
    return np.where(cluster < 0, count + np.arange(count), cluster)[data.a]


def _interval(units: Array, *counted: Array) -> Interval | None:
    """The 95 % interval of F1, by resampling units."""
    names, place = np.unique(units, return_inverse=True)
    sums = [np.bincount(place, weights=counts)[:, None] for counts in counted]
    return interval_of(bootstrap(names, *sums).f1()[:, 0])


def validate_one_of(data: Data, columns: Sequence[int], folds: Folds) -> Validated:
    """Validate the best single measure; it and its threshold are chosen anew in each fold."""
    passed, tested = np.zeros(len(data), bool), np.full(len(data), np.nan)
    for train, test in folds.sides():
        at = {column: best_threshold(data.x[train, column], data.y[train]) for column in columns}
        best = max(at, key=lambda column: at[column].f1)
        passed[test] = data.x[test, best] >= at[best].value
        tested[test] = 0.5  # marks the pair as tested: measures are no probabilities
    return replace(measured(data, passed, tested), log_loss=None)


SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560)


class Point(NamedTuple):
    labels: int
    f1: float


def learning_curve(
    kind: Kind, data: Data, columns: Sequence[int], folds: Folds, parameters: Parameters, seed: int
) -> list[Point]:
    """F1 against the number of labels: each fold is tested with what the first *n* other pairs in a
    random order taught. Sizes for which a fold has too few pairs are left out."""
    draw = np.random.default_rng([seed, 3])
    sides = [(draw.permutation(train), test) for train, test in folds.sides()]
    fewest = min(len(train) for train, _ in sides)
    sizes = [n for n in SIZES if n < fewest] + [fewest]
    points = (_point(kind, data, columns, sides, n, parameters, seed) for n in sizes)
    return [point for point in points if point is not None]


def _point(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    sides: Sequence[tuple[np.ndarray, np.ndarray]],
    size: int,
    parameters: Parameters,
    seed: int,
) -> Point | None:
    y, passed = [], []
    for train, test in sides:
        try:
            fitted = fit(kind, data.at(np.sort(train[:size])), columns, seed, parameters)
        except InputError:  # too few pairs of one class among them
            return None
        y.append(data.y[test])
        passed.append(fitted.passed(data.x[test]))
    return Point(size, f1(np.concatenate(y), np.concatenate(passed)))
