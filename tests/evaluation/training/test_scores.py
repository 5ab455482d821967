"""Cuts and probabilities of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.training.fit import best_threshold, f1, fit_platt, log_loss

scored = st.lists(
    st.tuples(st.integers(-8, 8).map(float), st.integers(0, 1)), min_size=2, max_size=40
).filter(lambda rows: 0 < sum(y for _, y in rows) < len(rows))


def both(rows: list[tuple[float, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([s for s, _ in rows]), np.array([y for _, y in rows])


@given(scored)
def test_no_cut_is_better(rows: list[tuple[float, int]]) -> None:
    score, y = both(rows)
    found = best_threshold(score, y)
    tried = [f1(y, score >= value) for value in {*score.tolist(), 99.0}]
    assert found.f1 == pytest.approx(max(tried))
    assert f1(y, score >= found.value) == pytest.approx(found.f1)


@given(scored)
def test_probabilities_rise_and_fit(rows: list[tuple[float, int]]) -> None:
    score, y = both(rows)
    platt = fit_platt(score, y)
    assert platt.slope > 0
    if platt.slope > 1e-5:  # not held at the least: the sum of what is expected is right
        positives, negatives = y.sum(), (1 - y).sum()
        target = np.where(y == 1, (positives + 1) / (positives + 2), 1 / (negatives + 2))
        assert platt.probability(score).sum() == pytest.approx(target.sum(), rel=1e-4)


def test_loss_of_sure_and_wrong() -> None:
    assert log_loss(np.array([1.0, 0.0]), np.array([1, 0])) == 0
    assert log_loss(np.array([0.5, 0.5]), np.array([1, 0])) == pytest.approx(np.log(2))
    assert np.isfinite(log_loss(np.array([0.0]), np.array([1])))
