from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation import metrics
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN
from reference import metrics as twin

classes = st.sampled_from([POSITIVE, NEGATIVE, UNKNOWN])
documents = st.lists(
    st.tuples(st.integers(-1, 4), st.integers(-1, 4), st.integers(0, 3)), min_size=1, max_size=14
)


def columns(rows: list[tuple[int, ...]]) -> list[np.ndarray]:
    return [np.array(column, np.int64) for column in zip(*rows, strict=True)]


def test_counts_are_those_of_a_textbook() -> None:
    found = np.array([POSITIVE] * 6 + [NEGATIVE] * 2 + [UNKNOWN] * 3, np.int8)
    counts = metrics.pair_counts(found, positives=10)
    assert (counts.tp, counts.fp, counts.fn, counts.unlabelled) == (6, 2, 4, 3)
    assert counts.precision == 0.75
    assert counts.recall == 0.6
    assert counts.f1 == pytest.approx(2 * 0.75 * 0.6 / 1.35)


def test_what_is_undefined_is_none() -> None:
    nothing = metrics.pair_counts(np.empty(0, np.int8), positives=0)
    assert (nothing.precision, nothing.recall, nothing.f1) == (None, None, None)
    missed = metrics.pair_counts(np.empty(0, np.int8), positives=3)
    assert (missed.precision, missed.recall, missed.f1) == (None, 0, 0)
    assert metrics.average_precision(np.empty(0), np.empty(0, np.int8), 0) is None
    assert metrics.average_precision(np.empty(0), np.empty(0, np.int8), 2) == 0
    unknown = metrics.b_cubed(np.array([0, 0]), np.array([-1, -1]))
    assert (unknown.every, unknown.several) == (None, None)
    assert metrics.adjusted_rand(np.array([-1]), np.array([0])) is None


@given(st.lists(st.tuples(st.sampled_from([0.5, 0.6, 0.7, 0.8]), classes)), st.integers(0, 3))
def test_average_precision_takes_ties_together(pairs: list[tuple[float, int]], missed: int) -> None:
    positives = sum(found == POSITIVE for _, found in pairs) + missed
    score = np.array([score for score, _ in pairs])
    found = np.array([found for _, found in pairs], np.int8)
    made = metrics.average_precision(score, found, positives)
    if positives:
        assert made == pytest.approx(float(twin.average_precision(pairs, positives)))
    else:
        assert made is None


@given(documents)
def test_b_cubed_is_the_mean_over_documents(rows: list[tuple[int, ...]]) -> None:
    predicted, true, same = columns(rows)
    made = metrics.b_cubed(predicted, true, same).every
    if (true < 0).all():
        assert made is None
        return
    precision, recall = twin.b_cubed(predicted.tolist(), true.tolist(), same.tolist())
    assert made is not None
    assert made.precision == pytest.approx(float(precision))
    assert made.recall == pytest.approx(float(recall))
    assert made.documents == (true >= 0).sum()


def test_b_cubed_of_an_example() -> None:
    """Amigó et al. 2009: a cluster of two kinds, one of which is spread over another."""
    made = metrics.b_cubed(np.array([0, 0, 0, 1, 1, -1]), np.array([0, 0, 1, 1, 1, 2]))
    assert made.every is not None
    assert made.several is not None
    assert made.every.precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 + 1 + 1) / 6)
    assert made.every.recall == pytest.approx((1 + 1 + 1 / 3 + 2 / 3 + 2 / 3 + 1) / 6)
    assert made.several.documents == 5


@given(documents)
def test_adjusted_rand_counts_pairs(rows: list[tuple[int, ...]]) -> None:
    predicted, true, _ = columns(rows)
    made, expected = (
        metrics.adjusted_rand(predicted, true),
        twin.adjusted_rand(predicted.tolist(), true.tolist()),
    )
    assert made == (None if expected is None else pytest.approx(float(expected)))


def test_bands_have_their_lower_end() -> None:
    similarity = np.array([0.0, 0.1, 0.29, 0.3, 0.8, 1.0])
    found = np.array([False, True, False, True, True, True])
    made = metrics.recall_by_band(similarity, found)
    assert [(band.positives, band.found) for band in made] == [
        (1, 0),
        (2, 1),
        (1, 1),
        (0, 0),
        (2, 2),
    ]
    assert [band.recall for band in made] == [0, 0.5, 1, None, 1]
