"""Suggested pairs: near the boundary, unlike each other, few of any document."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from artefacts.models import LINEAR, TWO, model
from evaluation.training.labelled import random_data
from neardup.evaluation.training.suggestions import (
    NEAREST,
    PER_DOCUMENT,
    Candidates,
    distance_to_boundary,
    teaching,
)


def candidates(seed: int, count: int, documents: int = 50) -> Candidates:
    data = random_data(seed, count, documents)
    return Candidates(data.a, data.b, data.x[:, : len(TWO)])


@given(st.integers(0, 50), st.integers(1, 60), st.integers(1, 30), st.booleans())
def test_few_of_any_document_and_each_pair_once(
    seed: int, count: int, wanted: int, with_model: bool
) -> None:
    some = candidates(seed, count)
    rows = teaching(some, wanted, model=model(LINEAR) if with_model else None, known=some.x[:1])
    assert 0 < len(rows) <= wanted
    assert len({*rows.tolist()}) == len(rows)
    times = Counter([*some.a[rows].tolist(), *some.b[rows].tolist()])
    assert max(times.values()) <= PER_DOCUMENT
    again = teaching(some, wanted, model=model(LINEAR) if with_model else None, known=some.x[:1])
    assert again.tolist() == rows.tolist()


def test_with_a_model_they_are_near_its_boundary() -> None:
    some = candidates(1, 400, documents=2000)
    made = model(LINEAR)
    away = distance_to_boundary(made, some.x)
    rows = teaching(some, 10, model=made)
    assert away[rows].max() <= np.sort(away)[NEAREST * 10 + 10]
    made.probability(some.x)
    turned = made.probability(some.x) >= made.threshold
    assert turned[rows].any()
    assert not turned[rows].all()


def test_without_one_they_go_from_unlike_to_alike() -> None:
    some = candidates(1, 400, documents=2000)
    mean = (some.x / some.x.std(axis=0)).mean(axis=1)
    ranks = np.argsort(np.argsort(mean))[teaching(some, 9)]
    assert ranks.tolist() == [round(i * 399 / 8) for i in range(9)]


def test_what_is_labelled_is_not_asked_again_in_other_words() -> None:
    """Two heaps of pairs at the boundary, one of them known: the first is of the other."""
    x = np.full((20, 2), 0.5)
    x[10:] = 0.4, 0.9
    some = Candidates(np.arange(20), np.arange(20) + 20, x)
    first = teaching(some, 2, model=model(LINEAR), known=x[:1])[0]
    heaps = np.argsort(distance_to_boundary(model(LINEAR), x), kind="stable")[: 2 * NEAREST]
    assert len(heaps) == 4
    assert first in heaps


def test_nothing_to_choose_from() -> None:
    assert len(teaching(candidates(0, 1).at(np.empty(0, np.int64)), 5)) == 0
