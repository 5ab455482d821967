"""What was fitted is what decides: our arrays answer as scikit-learn does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.evaluation.training.machines import KINDS, one_thread

LAST = {"linear": {"C": 10.0}, "rbf": {"C": 10.0, "gamma": 0.2}, "trees": {"trees": 40, "depth": 3}}


def labelled(seed: int, count: int = 80, width: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Pairs that are duplicates the more probably, the more alike they are."""
    draw = np.random.default_rng(seed)
    x = draw.random((count, width))
    y = (x.mean(axis=1) + draw.normal(0, 0.1, count) > 0.5).astype(np.int64)
    y[:2] = 0, 1
    return x, y


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5)
@given(st.integers(0, 2**31))
def test_the_same_decision_values(kind: str, seed: int) -> None:
    x, y = labelled(seed)
    with one_thread():
        theirs = KINDS[kind].estimator(LAST[kind], *x.shape).fit(x, y)
        ours = KINDS[kind].fit(x, y, LAST[kind])
    asked = np.concatenate([x, np.random.default_rng(seed + 1).random((200, x.shape[1]))])
    with one_thread():
        expected = theirs.decision_function(asked)
    np.testing.assert_allclose(ours.g(asked), expected, atol=1e-9, rtol=1e-9)


@settings(max_examples=5)
@given(st.integers(0, 2**31))
def test_trees_that_were_fitted_are_monotone(seed: int) -> None:
    x, y = labelled(seed)
    y[x[:, 0] > 0.8] = 0  # labels that speak against it
    y[:2] = 0, 1
    with one_thread():
        made = KINDS["trees"].fit(x, y, LAST["trees"])
    assert made.monotone()
    assert made.wrong(x.shape[1]) is None
    more = x + np.random.default_rng(seed).random(x.shape)
    assert (made.g(more) >= made.g(x)).all()
