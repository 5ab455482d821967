"""Where duplicates begin: valleys of made scores, and own cuts against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.matching.background import least_doubt, own_cuts, stability, standing_out, valley
from neardup.matching.verify import Pairs
from reference import rarity as twin

USUAL = 0.4


def spread(low: float, high: float, count: int) -> np.ndarray:
    return np.linspace(low, high, count)


def test_a_gap_between_two_modes_is_found() -> None:
    scores = np.concatenate([spread(0.4, 0.48, 300), spread(0.75, 1, 300)])
    found = valley(scores, USUAL)
    assert found.clear
    assert 0.5 <= found.threshold <= 0.6


def test_a_shallow_place_between_two_modes_is_found_where_it_is_lowest() -> None:
    middles = np.arange(0.425, 1, 0.05)
    scores = np.repeat(middles, [200, 200, 60, 40, 60, *[100] * 7])
    assert valley(scores, USUAL) == (0.575, True)


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
def test_without_a_valley_the_usual_cut_stays(scores: np.ndarray) -> None:
    assert valley(scores, USUAL) == (USUAL, False)


def test_a_high_threshold_leaves_no_room_for_a_valley() -> None:
    scores = np.concatenate([spread(0.6, 0.62, 300), spread(0.9, 1, 300)])
    assert valley(scores, 0.6) == (0.6, False)


@given(
    st.lists(st.floats(0.01, 1.0), min_size=300, max_size=420),
    st.sampled_from([0.2, 0.5, 0.7]),
)
def test_a_cut_goes_to_where_the_least_of_what_passes_is_in_doubt(
    scores: list[float], usual: float
) -> None:
    """Every cut is counted anew, and none that is nearer leaves as little in doubt."""

    def odds(p: float) -> float:
        return math.log(p / (1 - p))

    unequal = [odds(one) for one in scores if one < 1]

    def doubt(step: float) -> float:
        at = odds(usual) + step
        near = sum(at - 0.25 <= one < at + 0.25 for one in unequal)
        passing = sum(one >= at for one in unequal)
        return near / passing if passing else math.inf

    reach = 1 / (1 + math.exp(1.25 - odds(usual)))
    cut = least_doubt(np.array(scores), usual, reach)
    if sum(abs(one - odds(usual)) <= 1.25 for one in unequal) < 300:
        assert cut == usual
        return
    step = odds(cut) - odds(usual)
    assert abs(step) < 1.0001
    tried = {k / 80: doubt(k / 80) for k in range(-80, 81)}
    least = 1.05 * min(tried.values())
    nearest = min((one for one, found in tried.items() if found <= least), key=abs)
    assert abs(abs(step) - abs(nearest)) < 0.0002  # the cut has six decimals


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
def test_own_cuts_equal_twin(scores: dict[tuple[int, int], float], usual: float) -> None:
    a, b = (np.array([pair[i] for pair in scores], np.int64) for i in (0, 1))
    made = own_cuts(9, Pairs(a, b, np.array(list(scores.values()))), usual)
    assert made.tolist() == pytest.approx(twin.own_cuts(9, scores, usual))


def test_a_pair_has_to_reach_the_cuts_of_both() -> None:
    pairs = Pairs(np.array([0, 0, 1]), np.array([1, 2, 2]), np.array([0.2, 0.2, 0.3]))
    out = standing_out(pairs, np.array([0.1, 0.2, 0.3]))
    assert list(zip(out.a.tolist(), out.b.tolist(), strict=True)) == [(0, 1), (1, 2)]
