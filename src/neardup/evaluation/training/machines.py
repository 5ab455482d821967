"""The kinds of discriminants that can be trained, with what is tried of each.

scikit-learn fits them; what it found is taken over as plain arrays, so that it is not needed to use
a model. Everything runs in one thread: sums of several would depend on their number. Classes weigh
alike in ``rbf``, which is fitted to a balanced choice; the others take pairs as they come.
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
FEW_PAIRS = 4000  # a kernel of more takes minutes
MOST_ROUNDS = 1000
MOST_STEPS = 500_000  # of the optimiser: without a limit, hopeless labels could keep it for hours


class Kind(NamedTuple):
    """``grid``: the parameters that are tried, given the number of measures. ``estimator`` is what
    scikit-learn fits with them, given the numbers of pairs and measures; ``taken`` is what it then
    knows. ``scales``: whether it works on scaled measures. ``most``: pairs that one fit takes of
    those it is given. ``averages_grid``: whether the mean over the grid is taken, not the best of
    it: folds of one collection tell little about which is best in another. ``votes``: whether
    single measures have a say (``fit.py``)."""

    name: str
    grid: Callable[[int], list[Parameters]]
    estimator: Callable[[Parameters, int, int], Any]
    taken: Callable[[Any], Discriminant]
    scales: bool
    most: int
    averages_grid: bool = False
    votes: bool = False

    def fit(self, z: Floats, y: Array, parameters: Parameters) -> Discriminant:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an optimiser that stops early: its loss tells
            return self.taken(self.estimator(parameters, *z.shape).fit(z, y))


def check_extra() -> None:
    """Raises now what would make training impossible after the reading."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "Training needs scikit-learn, which is not installed.",
            hint="pip install 'neardup[learn]'",
        ) from None


@contextmanager
def one_thread() -> Iterator[None]:
    """Finding the libraries takes longer than a small fit: once around all of them."""
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


def _linear_of(made: Any) -> Linear:
    return Linear(np.array(made.coef_[0], np.float64), float(made.intercept_[0]))


def _rbf_of(made: Any) -> Rbf:
    return Rbf(
        np.array(made.support_vectors_, np.float64),
        np.array(made.dual_coef_[0], np.float64),
        float(made.gamma),
        float(made.intercept_[0]),
    )


def _trees_of(made: Any) -> Trees:
    """scikit-learn has no public way to its trees; a test holds ours against its answers."""
    nodes = [predictor.nodes for (predictor,) in made._predictors]
    roots = np.cumsum([0, *map(len, nodes)])[:-1]
    inner = [~some["is_leaf"].astype(bool) for some in nodes]

    def joined(values: list[Array], elsewhere: float) -> Floats:
        chosen = zip(inner, values, strict=True)
        return np.concatenate([np.where(at, some, elsewhere) for at, some in chosen]).astype(float)

    return Trees(
        feature=joined([some["feature_idx"].astype(np.int64) for some in nodes], -1),
        cut=joined([some["num_threshold"] for some in nodes], 0),
        left=joined([some["left"] + root for some, root in zip(nodes, roots, strict=True)], 0),
        right=joined([some["right"] + root for some, root in zip(nodes, roots, strict=True)], 0),
        value=np.concatenate([some["value"] for some in nodes]).astype(np.float64),
        roots=roots.astype(np.float64),
        b=float(np.ravel(made._baseline_prediction)[0]),
    )


def _linear_grid(_measures: int) -> list[Parameters]:
    return [{"C": c} for c in (0.01, 0.1, 1.0, 10.0)]


def _rbf_grid(measures: int) -> list[Parameters]:
    return [{"C": c, "gamma": g / measures} for c in (1.0, 10.0) for g in (0.1, 0.3, 1.0)]


def _trees_grid(_measures: int) -> list[Parameters]:
    return [{"trees": n, "depth": d} for n, d in ((30, 2), (60, 3))]


KINDS = {
    one.name: one
    for one in (
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
