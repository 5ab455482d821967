"""Duplicates by a sample: the estimate is right on average, and the bounds hold."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.engines.estimate.estimate import Seen, scaled, seen_in

DOCUMENTS, PIECE = 20_000, 50


def sampled(cluster: np.ndarray, pieces: int, rng: np.random.Generator) -> tuple[Seen, float]:
    """Pieces at drawn places, as a sample has them."""
    starts = np.unique(rng.integers(0, DOCUMENTS // PIECE, pieces)) * PIECE
    chosen = (starts[:, None] + np.arange(PIECE)).ravel()
    return seen_in(cluster[chosen], chosen // PIECE), DOCUMENTS / len(chosen)


def clusters(groups: list[np.ndarray]) -> np.ndarray:
    cluster = np.full(DOCUMENTS, -1)
    for number, members in enumerate(groups):
        cluster[members] = number
    return cluster


def likely(groups: list[np.ndarray]) -> tuple[float, float]:
    """The mean over many samples, and how often the truth lay between the bounds."""
    rng, cluster = np.random.default_rng(2), clusters(groups)
    truth = sum(len(group) - 1 for group in groups)
    found, held = [], 0
    for _ in range(200):
        seen, factor = sampled(cluster, 60, rng)
        low, high, guess = scaled(seen, factor=factor, pieces=60, documents=DOCUMENTS)
        found.append(guess)
        held += low <= truth <= high
    return float(np.mean(found)), held / 200


def test_twos_that_lie_anywhere() -> None:
    order = np.random.default_rng(1).permutation(DOCUMENTS)[:4000].reshape(-1, 2)
    mean, held = likely(list(order))
    assert mean == pytest.approx(2000, rel=0.1)
    assert held > 0.95


def test_twos_side_by_side() -> None:
    mean, held = likely([np.array([i, i + 1]) for i in range(0, DOCUMENTS, 10)])
    assert mean == pytest.approx(2000, rel=0.1)
    assert held > 0.9


def test_a_large_group() -> None:
    order = np.random.default_rng(1).permutation(DOCUMENTS)
    mean, _ = likely([order[:3000]])
    assert mean == pytest.approx(3000, rel=0.1)


def test_what_is_known_and_what_is_not() -> None:
    seen = Seen(near=3, far=4, more=5)
    assert set(scaled(seen, factor=1, pieces=9, documents=100)) == {12}
    assert scaled(seen, factor=10, pieces=1, documents=10**6).likely is None
    assert scaled(seen, factor=10, pieces=9, documents=50).high == 49
    assert scaled(Seen(0, 0, 0), factor=10, pieces=9, documents=10**6)[0] == 0
    assert scaled(Seen(0, 0, 0), factor=10, pieces=9, documents=10**6).high > 300


def test_groups_of_a_sample() -> None:
    cluster, piece = np.array([7, -1, 7, 2, 2, 2, 5, 5]), np.array([0, 0, 0, 0, 1, 2, 1, 2])
    assert seen_in(cluster, piece) == Seen(near=1, far=1, more=2)
    assert seen_in(np.array([-1, -1]), np.array([0, 1])) == Seen(0, 0, 0)
