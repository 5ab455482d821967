"""The mean of machines says the mean of what they say."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.training.labelled import random_data
from neardup.evaluation.training.fit import Machine, machine_of, mean_of
from neardup.evaluation.training.machines import KINDS, one_thread

GIVEN = {"linear": {"C": 1.0}, "trees": {"trees": 7, "depth": 3}, "rbf": {"C": 1.0, "gamma": 0.1}}


def machines(kind: str, seed: int, count: int) -> list[Machine]:
    with one_thread():
        some = (random_data(seed + i) for i in range(count))
        return [machine_of(KINDS[kind], one, (0, 2, 5), GIVEN[kind]) for one in some]


@settings(max_examples=8)
@given(st.sampled_from(["linear", "trees"]), st.integers(0, 2**20), st.integers(1, 4))
def test_a_mean_is_the_mean_of_all(kind: str, seed: int, count: int) -> None:
    several = machines(kind, seed, count)
    made = mean_of(several)
    assert made is not None
    asked = np.random.default_rng(seed).random((50, 8))
    expected = np.mean([one.g(asked) for one in several], axis=0)
    np.testing.assert_allclose(made.g(asked), expected, atol=1e-9)
    assert made.discriminant.wrong(3) is None
    assert made.discriminant.monotone() or kind == "linear"


def test_support_vectors_have_no_mean() -> None:
    assert mean_of(machines("rbf", 1, 2)) is None
