from __future__ import annotations

import numpy as np
import pytest

from neardup.labels.intervals import bootstrap, interval_of, probability, wilson


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_on_published_numbers(successes: int, n: int, low: float, high: float) -> None:
    """Newcombe 1998, Table I, method 3."""
    made = wilson(successes, n)
    assert made is not None
    assert (made.low, made.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_wilson_holds_the_share_itself() -> None:
    assert wilson(0, 0) is None
    for n in (1, 3, 1000):
        for successes in range(0, n + 1, max(n // 10, 1)):
            made = wilson(successes, n)
            assert made is not None
            assert 0 <= made.low <= successes / n <= made.high <= 1


@pytest.mark.parametrize(
    ("successes", "n", "least", "expected"),
    [(0, 0, 0.25, 0.75), (1, 1, 0.5, 0.75), (10, 10, 0.9, 1 - 0.9**11), (3, 6, 0.5, 0.5)],
)
def test_the_probability_of_a_share(successes: int, n: int, least: float, expected: float) -> None:
    assert probability(successes, n, least) == pytest.approx(expected)


def test_the_probability_of_a_share_stays_one() -> None:
    assert probability(990_000, 1_000_000, 0.98) == pytest.approx(1)
    assert probability(990_000, 1_000_000, 0.995) == pytest.approx(0, abs=1e-9)
    assert probability(7, 7, 1.0) == 0


def columns(*values: float) -> np.ndarray:
    return np.array(values)[:, None]


def test_the_bootstrap_is_about_the_estimate() -> None:
    units = np.arange(400)
    tp, fp, fn = (units % 2 == 0)[:, None], (units % 4 == 1)[:, None], (units % 4 == 3)[:, None]
    made = bootstrap(units, tp, fp, fn).f1()
    f1 = 2 * 200 / (2 * 200 + 100 + 100)
    found = interval_of(made[:, 0])
    assert found is not None
    assert found.low < f1 < found.high
    # The linearised standard error of F1 = 2T / (2T + E) with Poisson T and E.
    error = np.sqrt((2 * 200 / 600**2) ** 2 * 200 + (400 / 600**2) ** 2 * 200)
    assert made[:, 0].std() == pytest.approx(error, rel=0.1)


def test_the_bootstrap_is_the_same_whatever_else_is_drawn() -> None:
    """A unit has its weight, so settings that meet other units can be compared."""
    some = bootstrap(np.array([5, 9]), columns(3, 1), columns(0, 2), columns(1, 0)).f1()
    more = bootstrap(np.array([2, 5, 9]), columns(0, 3, 1), columns(0, 0, 2), columns(0, 1, 0)).f1()
    assert np.array_equal(some, more, equal_nan=True)
    other = bootstrap(np.array([5, 9]), columns(3, 1), columns(0, 2), columns(1, 0), seed=1).f1()
    assert not np.array_equal(some, other, equal_nan=True)


def test_without_positives_there_is_no_interval() -> None:
    made = bootstrap(np.array([0]), columns(0), columns(3), columns(0)).f1()
    assert np.isnan(made).all()
    assert interval_of(made[:, 0]) is None
