"""Single measures that tell best alone have a third of the say in a linear model."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.training.labelled import random_data
from neardup.evaluation.training.fit import VOTERS, fit, fit_platt, log_loss, vote_of
from neardup.evaluation.training.folds import INNER, folds_of
from neardup.evaluation.training.machines import KINDS, one_thread


@settings(max_examples=8)
@given(st.integers(0, 2**20))
def test_the_vote_is_the_mean_of_the_log_odds_of_those_that_tell_best_alone(seed: int) -> None:
    data, columns = random_data(seed), tuple(range(8))

    def loss(column: int) -> float:
        x = data.x[:, column]
        return log_loss(fit_platt(x, data.y).probability(x), data.y)

    best = sorted(columns, key=loss)[:VOTERS]
    assert len(columns) > VOTERS
    asked = np.random.default_rng(seed).random((20, 8))
    alone = [fit_platt(data.x[:, one], data.y) for one in best]
    said = [p.slope * asked[:, one] + p.offset for p, one in zip(alone, best, strict=True)]
    np.testing.assert_allclose(vote_of(data, columns).g(asked), np.mean(said, axis=0), atol=1e-9)


def test_a_linear_model_is_two_thirds_a_machine_and_one_third_a_vote() -> None:
    """In log-odds; a share of none leaves the machine alone."""
    data, columns = random_data(5), tuple(range(8))
    asked = np.random.default_rng(1).random((20, 8))
    with one_thread():
        made = fit(KINDS["linear"], data, columns, 0).machine.g(asked)
        alone = fit(KINDS["linear"]._replace(votes=False), data, columns, 0)
    folds = folds_of(data, INNER, 0)
    vote = np.mean([vote_of(data.at(given), columns).g(asked) for given, _ in folds.sides()], 0)
    expected = (2 * alone.platt.slope * alone.machine.g(asked) + vote) / 3
    np.testing.assert_allclose(made, expected, rtol=1e-9)
