"""The threshold by consistency: the kernel and J(t) against their twins, and which threshold
collections of different kinds get."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.artefacts.calibration import CONSISTENCY, FEW_NEIGHBOURS, INCONSISTENT, Expected
from neardup.matching import consistency
from neardup.matching.evidence import Pairs
from reference import average_link as twin

DOCUMENTS = 9
PARTS = 64  # scores are parts of this, so that sums are exact in floating point


@st.composite
def scored_pairs(draw: st.DrawFn) -> dict[tuple[int, int], Fraction]:
    every = [(a, b) for b in range(DOCUMENTS) for a in range(b)]
    chosen = draw(st.lists(st.sampled_from(every), unique=True))
    return {pair: Fraction(draw(st.integers(4, PARTS)), PARTS) for pair in chosen}


def as_pairs(scores: dict[tuple[int, int], Fraction]) -> Pairs:
    both = np.array(list(scores), np.int64).reshape(-1, 2)
    values = np.array([float(score) for score in scores.values()])
    return Pairs(both[:, 0].copy(), both[:, 1].copy(), values)


@given(scored_pairs(), st.integers(0, PARTS))
def test_clusters_are_merged_as_in_the_twin(scores, least):
    pairs = as_pairs(scores)
    low, high, height = _native.average_link(
        np.ones(DOCUMENTS), pairs.a, pairs.b, pairs.score, max(least, 1) / PARTS
    )
    expected = twin.average_link(DOCUMENTS, scores, Fraction(max(least, 1), PARTS))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(a, b) for a, b, _ in expected]
    assert height.tolist() == pytest.approx([float(h) for _, _, h in expected])


@given(scored_pairs())
def test_consistency_is_that_of_the_twin(scores):
    curve = consistency.consistency_curve(DOCUMENTS, as_pairs(scores))
    for step in range(0, len(consistency.GRID), 7):
        threshold = Fraction(round(100 * consistency.GRID[step]), 100)
        expected, linked = twin.consistency(DOCUMENTS, scores, threshold)
        assert curve.consistency[step] == pytest.approx(float(expected), abs=1e-9)
        assert curve.linked[step] == linked


@given(scored_pairs(), st.randoms(use_true_random=False))
def test_the_order_and_the_sides_of_pairs_change_no_bit(scores, random):
    pairs = as_pairs(scores)
    order = list(range(len(pairs)))
    random.shuffle(order)
    turned = Pairs(pairs.b[order], pairs.a[order], pairs.score[order])
    one, other = (consistency.consistency_curve(DOCUMENTS, some) for some in (pairs, turned))
    assert one.consistency.tobytes() == other.consistency.tobytes()
    assert one.linked.tobytes() == other.linked.tobytes()


def families(
    count: int, size: int, score: float, strangers: int = 0, noise: float = 0.0
) -> tuple[int, Pairs]:
    """Families whose documents have one score with each other; each first document has the score
    ``noise`` with the first one of the next family."""
    a, b, values = [], [], []
    for family in range(count):
        first = family * size
        members = range(first, first + size)
        inside = [(x, y) for y in members for x in members if x < y]
        a += [x for x, _ in inside]
        b += [y for _, y in inside]
        values += [score] * len(inside)
        if noise and family + 1 < count:
            a.append(first)
            b.append(first + size)
            values.append(noise)
    pairs = Pairs(np.array(a, np.int64), np.array(b, np.int64), np.array(values))
    return count * size + strangers, pairs


def chosen(documents: int, pairs: Pairs) -> consistency.Choice:
    curve = consistency.consistency_curve(documents, pairs)
    return consistency.chosen_threshold(documents, curve)


@pytest.mark.parametrize("count", [1, 10])
def test_few_documents_with_neighbours_move_nothing(count):
    assert chosen(*families(count, 2, 0.9)) == (0.5, FEW_NEIGHBOURS)
    assert chosen(*families(count, 2, 0.9, strangers=180)) == (0.5, FEW_NEIGHBOURS)


def test_no_pairs_at_all():
    assert chosen(2, Pairs.none()) == (0.5, FEW_NEIGHBOURS)


def test_a_sparse_collection_is_not_cut_low():
    """Most documents are alone, so pairs of a low score are not taken for duplicates."""
    documents, pairs = families(200, 2, 0.3, strangers=2000)
    assert chosen(documents, pairs) == (0.5, FEW_NEIGHBOURS)


def test_a_collection_of_scans_has_a_low_threshold():
    """Nearly all documents have a neighbour of a low score, far from everything else."""
    threshold, by = chosen(*families(300, 2, 0.3, noise=0.08))
    assert (threshold, by) == (0.3, CONSISTENCY)


def test_fewer_than_500_documents_have_no_low_threshold():
    assert chosen(*families(200, 2, 0.3)).threshold == 0.5


def test_the_threshold_is_above_what_neighbouring_families_share():
    threshold, by = chosen(*families(100, 4, 0.8, noise=0.6))
    assert by == CONSISTENCY
    assert 0.6 < threshold <= 0.8


def test_one_giant_family_is_kept_together():
    threshold, by = chosen(*families(1, 150, 0.7, strangers=500))
    assert by == CONSISTENCY
    assert 0.5 <= threshold <= 0.7


def test_groups_without_consistency_leave_the_general_threshold():
    """A long chain: every document has two neighbours, and every group has one outside."""
    count = 300
    chain = Pairs(np.arange(count - 1), np.arange(1, count), np.full(count - 1, 0.7))
    assert chosen(count, chain) == (0.5, INCONSISTENT)


def test_a_document_refuses_neighbours_that_are_much_worse_than_its_best():
    a, b = np.array([0, 0, 3], np.int64), np.array([1, 2, 4], np.int64)
    pairs = Pairs(a, b, np.array([1.0, 0.6, 0.6]))
    near = consistency.neighbourhoods(5, pairs, 0.5)
    # Document 2 has nothing better than 0.6, and the smaller of the two thresholds decides.
    assert near.passes(pairs, 0.5).tolist() == [True, True, True]
    both = Pairs(np.append(a, 1), np.append(b, 2), np.append(pairs.score, 0.9))
    near = consistency.neighbourhoods(5, both, 0.5)
    assert near.passes(both, 0.5).tolist() == [True, False, True, True]


def test_mutual_bests_pass_below_a_low_threshold_only():
    pairs = Pairs(np.array([0, 1]), np.array([1, 2]), np.array([0.1, 0.09]))
    for threshold, expected in ((0.2, [True, False]), (0.5, [False, False])):
        near = consistency.neighbourhoods(3, pairs, threshold)
        assert near.passes(pairs, threshold).tolist() == expected


def test_chance_neighbours_of_sparse_news_do_not_make_the_threshold_low():
    """Half of the articles have a best neighbour of 0.1, and hardly any has one of 0.5."""
    documents, pairs = families(300, 2, 0.1, strangers=500)
    copies = Pairs(np.arange(600, 640, 2), np.arange(601, 641, 2), np.full(20, 0.9))
    assert chosen(documents, Pairs.concat([pairs, copies])).threshold == 0.5


def expected(near: float, *settings: float) -> Expected:
    documents, pairs = families(*settings)
    curve = consistency.consistency_curve(documents, pairs)
    made = consistency.expected_quality(len(pairs), near, curve, 0.5)
    assert made is not None
    return made


def test_what_is_in_doubt_lowers_what_is_expected():
    sure, few = expected(0, 200, 3, 0.9), expected(0, 5, 3, 0.9)
    assert sure.precision == sure.recall == 1
    assert few.precision == few.recall == 1
    assert few.least_precision < sure.least_precision < 1  # few pairs show little
    beside = expected(0, 200, 3, 0.9, 0, 0.6)
    assert beside.precision < sure.precision
    assert beside.least_precision < sure.least_precision
    missed = expected(300, 200, 3, 0.9)
    assert missed.recall < sure.recall
    assert missed.least_recall < sure.least_recall
    for made in (sure, few, beside, missed):
        assert 0 <= made.least_precision <= made.precision <= 1
        assert 0 <= made.least_recall <= made.recall <= 1


def test_nothing_is_expected_of_no_pairs():
    curve = consistency.consistency_curve(2, Pairs.none())
    assert consistency.expected_quality(0, 10, curve, 0.5) is None


def cut_of(documents: int, pairs: Pairs, usual: float) -> float | None:
    curve = consistency.consistency_curve(documents, pairs, np.arange(6, 20) / 20, 0.3)
    choice = consistency.chosen_cut(documents, curve, usual)
    return choice and choice.threshold


def test_a_method_that_takes_only_its_threshold_from_the_groups():
    revised = families(200, 2, 0.45)
    assert cut_of(*revised, 0.8) == 0.45
    assert cut_of(*families(200, 2, 0.9), 0.8) == 0.9
    assert cut_of(*families(200, 2, 0.45, strangers=2000), 0.8) is None  # most are alone
    assert cut_of(*families(20, 2, 0.45), 0.8) is None  # few have neighbours
    chain = Pairs(np.arange(299), np.arange(1, 300), np.full(299, 0.7))
    assert cut_of(300, chain, 0.8) is None
    assert cut_of(2, Pairs.none(), 0.8) is None
