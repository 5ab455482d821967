"""The kinds of discriminants that can be trained, and the parameters that are tried for each.

scikit-learn fits them. The result is stored as plain arrays, so using a model does not need
scikit-learn. Everything runs in one thread, because sums over several threads depend on their
number. In ``rbf``, which is fitted to a balanced selection, both classes have the same weight; the
other kinds take pairs as they come.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.discriminants import Discriminant, Linear, Rbf, Trees
from neardup.errors import MissingExtraError
from neardup.schema import Array

Parameters = Mapping[str, float]
FEW_PAIRS = 4000  # a kernel of more pairs takes minutes
MOST_ROUNDS = 1000
MOST_STEPS = 500_000  # optimiser steps; without a limit, contradicting labels could take hours


class Kind(NamedTuple):
    """``grid`` gives the parameters to try for a number of measures. ``estimator`` makes the
    scikit-learn estimator from parameters and the numbers of pairs and measures; ``taken`` converts
    the fitted estimator. ``scales``: whether it works on scaled measures. ``most``: the most pairs
    that one fit uses. ``averages_grid``: whether the mean over the grid is used instead of the best
    parameters, because folds of one collection do not show which are best in another. ``votes``:
    whether single measures vote (``fit.py``). ``zero``: whether the threshold is g = 0, as Raveena
    & Nandini print it, instead of the one with the best F1."""

    name: str
    grid: Callable[[int], list[Parameters]]
    estimator: Callable[[Parameters, int, int], Any]
    taken: Callable[[Any], Discriminant]
    scales: bool
    most: int
    averages_grid: bool = False
    votes: bool = False
    zero: bool = False

    def as_printed(self) -> Kind:
        """One machine, fitted to all pairs, whose threshold is g = 0."""
        return self._replace(averages_grid=False, votes=False, zero=True)

    def fit(self, z: Floats, y: Array, parameters: Parameters) -> Discriminant:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an optimiser that stops early shows in the loss
            return self.taken(self.estimator(parameters, *z.shape).fit(z, y))


def check_extra() -> None:
    """Raise the error of a missing library before documents are read."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "Training needs scikit-learn, which is not installed.",
            hint="pip install 'neardup[learn]'",
        ) from None


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit numeric libraries to one thread. Finding them takes longer than a small fit, so this is
    done once around all fits."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def _linear(parameters: Parameters, _pairs: int, _measures: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(dual=False, max_iter=MOST_ROUNDS, **parameters)


def _rbf(parameters: Parameters, _pairs: int, _measures: int) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="rbf", class_weight="balanced", max_iter=MOST_STEPS, **parameters)


def _trees(parameters: Parameters, pairs: int, measures: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=int(parameters["trees"]),
        max_depth=int(parameters["depth"]),
        min_samples_leaf=min(10, max(pairs // 10, 2)),
        learning_rate=0.1,
        l2_regularization=1.0,
        monotonic_cst=[1] * measures,
        early_stopping=False,
        random_state=0,
    )


def _linear_of(estimator: Any) -> Linear:
    return Linear(np.array(estimator.coef_[0], np.float64), float(estimator.intercept_[0]))


def _rbf_of(estimator: Any) -> Rbf:
    return Rbf(
        np.array(estimator.support_vectors_, np.float64),
        np.array(estimator.dual_coef_[0], np.float64),
        float(estimator.gamma),
        float(estimator.intercept_[0]),
    )


def _trees_of(estimator: Any) -> Trees:
    """Convert the trees by private fields of scikit-learn; a test compares the predictions."""
    trees = [predictor.nodes for (predictor,) in estimator._predictors]
    roots = np.cumsum([0, *map(len, trees)])[:-1]
    inner = [~nodes["is_leaf"].astype(bool) for nodes in trees]

    def joined(values: list[Array], of_leaf: float) -> Floats:
        parts = [np.where(at, value, of_leaf) for at, value in zip(inner, values, strict=True)]
        return np.concatenate(parts).astype(float)

    return Trees(
        feature=joined([nodes["feature_idx"].astype(np.int64) for nodes in trees], -1),
        cut=joined([nodes["num_threshold"] for nodes in trees], 0),
        left=joined([nodes["left"] + root for nodes, root in zip(trees, roots, strict=True)], 0),
        right=joined([nodes["right"] + root for nodes, root in zip(trees, roots, strict=True)], 0),
        value=np.concatenate([nodes["value"] for nodes in trees]).astype(np.float64),
        roots=roots.astype(np.float64),
        b=float(np.ravel(estimator._baseline_prediction)[0]),
    )


def _linear_grid(_measures: int) -> list[Parameters]:
    return [{"C": c} for c in (0.01, 0.1, 1.0, 10.0)]


def _rbf_grid(measures: int) -> list[Parameters]:
    return [{"C": c, "gamma": g / measures} for c in (1.0, 10.0) for g in (0.1, 0.3, 1.0)]


def _trees_grid(_measures: int) -> list[Parameters]:
    return [{"trees": n, "depth": d} for n, d in ((30, 2), (60, 3))]


KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "linear",
            _linear_grid,
            _linear,
            _linear_of,
            scales=True,
            most=200_000,
            averages_grid=True,
            votes=True,
        ),
        Kind("rbf", _rbf_grid, _rbf, _rbf_of, scales=True, most=FEW_PAIRS),
        Kind("trees", _trees_grid, _trees, _trees_of, scales=False, most=200_000),
    )
}
