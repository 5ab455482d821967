"""What labels are worth: F1 on documents that were not trained on, against the number of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from neardup.errors import InputError
from neardup.evaluation.training.data import Data
from neardup.evaluation.training.fitting import fit
from neardup.evaluation.training.folds import Folds
from neardup.evaluation.training.kinds import Kind, Parameters
from neardup.evaluation.training.scores import f1

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
