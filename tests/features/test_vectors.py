"""Measures on vectors: the numbers that can be checked by hand, and how they hang together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.vectors import Products, euclidean_score

SET = st.sets(st.integers(0, 12), min_size=1)


def test_two_vectors_by_hand() -> None:
    both = Products.of_vectors((3, 0, 4), (3, 4, 0))
    assert both.cosine == pytest.approx(0.36)
    assert both.euclidean == pytest.approx(5.65685, abs=5e-6)
    assert both.extended_jaccard == pytest.approx(0.219512, abs=5e-7)
    assert both.dice == pytest.approx(0.36)


@given(SET, SET)
def test_on_sets_they_are_the_set_measures(x: set[int], y: set[int]) -> None:
    both = Products.of_sets(x, y)
    jaccard = len(x & y) / len(x | y)
    assert both.extended_jaccard == pytest.approx(jaccard)
    assert both.dice == pytest.approx(2 * jaccard / (1 + jaccard))
    assert both.euclidean == pytest.approx(len(x ^ y) ** 0.5)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1))
def test_the_euclidean_score_is_of_unit_vectors(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, float).T
    if not (x.any() and y.any()):
        return
    distance = np.linalg.norm(x / np.linalg.norm(x) - y / np.linalg.norm(y))
    score = euclidean_score(Products.of_vectors(x, y).cosine)
    assert score == pytest.approx(1 - distance / 2**0.5, abs=1e-6)


def test_vectors_of_nothing_share_nothing() -> None:
    both = Products.of_vectors((0, 0), (0, 1))
    assert (both.cosine, both.dice, both.extended_jaccard) == (0, 0, 0)


def test_many_at_once() -> None:
    both = Products(np.array([9.0, 0.0]), np.array([25.0, 0.0]), np.array([25.0, 1.0]))
    assert both.cosine.tolist() == pytest.approx([0.36, 0])
