"""Where duplicates begin: gaps in made scores, and own thresholds against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching.background import (
    above_both,
    least_doubt,
    own_thresholds,
    score_gap,
    stability,
)
from neardup.matching.evidence import Pairs
from reference import rarity as twin

USUAL = 0.4


def spread(low: float, high: float, count: int) -> np.ndarray:
    return np.linspace(low, high, count)


def test_a_gap_between_two_modes_is_found() -> None:
    scores = np.concatenate([spread(0.4, 0.48, 300), spread(0.75, 1, 300)])
    found = score_gap(scores, USUAL)
    assert found.clear
    assert 0.5 <= found.threshold <= 0.6


def test_a_shallow_place_between_two_modes_is_found_where_it_is_lowest() -> None:
    middles = np.arange(0.425, 1, 0.05)
    scores = np.repeat(middles, [200, 200, 60, 40, 60, *[100] * 7])
    assert score_gap(scores, USUAL) == (0.575, True)


@pytest.mark.parametrize(
    "scores",
    [
        spread(0.4, 1, 2000),  # flat
        1 - 0.6 * np.sqrt(spread(0, 1, 2000)),  # rising towards 1
        0.4 + 0.6 * spread(0, 1, 2000) ** 3,  # falling
        np.concatenate([spread(0.4, 0.48, 20), spread(0.75, 1, 20)]),  # too few
        np.empty(0),
    ],
    ids=["flat", "rising", "falling", "few", "none"],
)
def test_without_a_gap_the_usual_threshold_stays(scores: np.ndarray) -> None:
    assert score_gap(scores, USUAL) == (USUAL, False)


def test_a_high_threshold_leaves_no_room_for_a_gap() -> None:
    scores = np.concatenate([spread(0.6, 0.62, 300), spread(0.9, 1, 300)])
    assert score_gap(scores, 0.6) == (0.6, False)


@given(st.integers(0, 2**20), st.sampled_from([0.2, 0.5, 0.7]), st.integers(300, 1500))
def test_a_threshold_goes_downhill_to_where_few_pairs_are_in_doubt(
    seed: int, usual: float, count: int
) -> None:
    """Step by step, each place counted anew; the lower of both ways is taken."""
    draw = np.random.default_rng(seed)
    two = draw.normal(draw.uniform(-3, 0, count), draw.uniform(0.2, 1)), draw.normal(2, 1, count)
    odds = np.where(draw.random(count) < 0.5, *two)
    at = math.log(usual / (1 - usual))

    def doubt(steps: int) -> float:
        cut = at + 0.05 * steps
        near = sum(cut - 0.5 <= one < cut + 0.5 for one in odds)
        return near / math.sqrt(sum(one >= cut for one in odds) + 1)

    def walked(way: int) -> int:
        best = 0
        for steps in range(way, way * (21 if way > 0 else 41), way):
            if doubt(steps) > 1.05 * doubt(best):
                break
            best = steps if doubt(steps) < doubt(best) else best
        return best

    scores, reach = 1 / (1 + np.exp(-odds)), 1 / (1 + math.exp(2.5 - at))
    cut = least_doubt(scores, usual, reach)
    if sum(abs(one - at) <= 1 for one in odds) < 300:
        assert cut == usual
    else:
        expected = min((walked(-1), walked(1)), key=doubt)
        assert abs(math.log(cut / (1 - cut)) - at - 0.05 * expected) < 0.0002  # six decimals


def test_equal_texts_and_few_pairs_move_no_cut() -> None:
    assert least_doubt(np.ones(1000), 0.5, 0.2) == 0.5
    assert least_doubt(np.full(299, 0.5), 0.5, 0.2) == 0.5
    assert least_doubt(np.full(300, 0.5), 0.5, 0.2) != 0.5


def test_stability_is_the_share_of_duplicates_that_are_not_near_the_cut() -> None:
    assert stability(np.array([0.5, 0.56, 0.8, 0.9, 1]), 0.525) == 0.5
    assert stability(np.array([0.1]), 0.5) is None


SCORES = st.dictionaries(
    st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1]),
    st.floats(0.001, 0.999),
)


@given(SCORES, st.sampled_from([0.2, 0.4, 0.8]))
def test_own_thresholds_equal_twin(scores: dict[tuple[int, int], float], usual: float) -> None:
    a, b = (np.array([pair[i] for pair in scores], np.int64) for i in (0, 1))
    made = own_thresholds(9, Pairs(a, b, np.array(list(scores.values()))), usual)
    assert made.tolist() == pytest.approx(twin.own_thresholds(9, scores, usual))


def test_a_pair_has_to_reach_the_thresholds_of_both() -> None:
    pairs = Pairs(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.2, 0.2, 0.3]))
    out = above_both(pairs, np.array([0.1, 0.2, 0.3]))
    assert list(zip(out.a.tolist(), out.b.tolist(), strict=True)) == [(0, 1), (1, 2)]
