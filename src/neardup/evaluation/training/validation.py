"""Cross-validation: how good what is trained on some documents is on others.

What labels are worth: F1 on documents that were not trained on, against the number of labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.decisions.clusters import components
from neardup.errors import InputError
from neardup.evaluation.training.fit import best_cut, f1, fit, log_loss
from neardup.evaluation.training.folds import Folds
from neardup.evaluation.training.machines import Kind, Parameters
from neardup.evaluation.training.training_data import Data
from neardup.labels.intervals import Interval, bootstrap, interval_of
from neardup.schema import Array


@dataclass(frozen=True)
class Validated:
    """Of the pairs that were tested, each by what was trained without its documents."""

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
    """Everything is chosen anew in each fold, parameters, calibration and cut: what is measured is
    the whole way from labels to a model."""
    probability = np.full(len(data), np.nan)
    passed = np.zeros(len(data), bool)
    for train, test in folds.sides():
        made = fit(kind, data.at(train), columns, seed, parameters)
        probability[test] = made.probability(data.x[test])
        passed[test] = probability[test] >= made.threshold
    return measured(data, passed, probability)


def measured(data: Data, passed: Array, probability: Floats) -> Validated:
    """``probability`` is NaN for pairs that were not tested."""
    tested = ~np.isnan(probability)
    units = _units(data)[tested]
    y, passed = data.y[tested] == 1, passed[tested]
    right, wrong, missed = y & passed, ~y & passed, y & ~passed
    tp, fp, fn = (int(some.sum()) for some in (right, wrong, missed))
    return Validated(
        f1=f1(data.y[tested], passed),
        precision=tp / max(tp + fp, 1),
        recall=tp / max(tp + fn, 1),
        interval=_interval(units, right, wrong, missed),
        log_loss=log_loss(probability[tested], data.y[tested]),
    )


def _units(data: Data) -> Array:
    """Pairs of documents that are duplicates of each other are drawn together."""
    count = int(max(data.a.max(), data.b.max())) + 1
    same = data.y == 1
    cluster = components(count, data.a[same], data.b[same])
    return np.where(cluster < 0, count + np.arange(count), cluster)[data.a]


def _interval(units: Array, *counted: Array) -> Interval | None:
    """Of 95 %, by drawing units again."""
    names, place = np.unique(units, return_inverse=True)
    sums = [np.bincount(place, weights=one)[:, None] for one in counted]
    return interval_of(bootstrap(names, *sums).f1()[:, 0])


def validate_single(data: Data, column: int, folds: Folds) -> Validated:
    """One measure with the threshold that is best where it is trained."""
    return validate_one_of(data, [column], folds)


def validate_one_of(data: Data, columns: Sequence[int], folds: Folds) -> Validated:
    """One measure and its threshold, both chosen anew in each fold, as a model is."""
    passed, tested = np.zeros(len(data), bool), np.full(len(data), np.nan)
    for train, test in folds.sides():
        cuts = {column: best_cut(data.x[train, column], data.y[train]) for column in columns}
        best = max(cuts, key=lambda column: cuts[column].f1)
        passed[test] = data.x[test, best] >= cuts[best].value
        tested[test] = 0.5  # measures are no probabilities
    found = measured(data, passed, tested)
    return Validated(found.f1, found.precision, found.recall, found.interval)


SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560)


class Point(NamedTuple):
    labels: int
    f1: float


def learning_curve(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    folds: Folds,
    parameters: Parameters,
    seed: int,
) -> list[Point]:
    """Each fold in turn is asked what the first *n* of the other pairs taught, in a random order;
    sizes for which some fold has too few pairs are left out."""
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
            made = fit(kind, data.at(np.sort(train[:size])), columns, seed, parameters)
        except InputError:  # too few of a class among them
            return None
        y.append(data.y[test])
        passed.append(made.passed(data.x[test]))
    return Point(size, f1(np.concatenate(y), np.concatenate(passed)))
