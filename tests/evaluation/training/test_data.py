"""Of many pairs some are drawn to fit to: duplicates of every cluster, and others."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.training.fit import f1, fit
from neardup.evaluation.training.machines import FEW_PAIRS, KINDS, one_thread
from neardup.evaluation.training.training_data import Data

sizes = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def chains(lengths: list[int], others: int) -> Data:
    """A cluster of each length, as a chain of duplicates, and pairs of unlike documents."""
    ends = np.cumsum([length + 1 for length in lengths])
    first = np.setdiff1d(np.arange(ends[-1]), ends - 1)
    apart = ends[-1] + 2 * np.arange(others)
    a, b = np.concatenate([first, apart]), np.concatenate([first, apart]) + 1
    y = np.repeat([1, 0], [len(first), others])
    return Data(a, b, y, np.arange(len(a), dtype=float)[:, None])


@given(sizes, st.integers(0, 60), st.integers(1, 40), st.integers(0, 3))
def test_half_are_duplicates_and_clusters_take_turns(
    lengths: list[int], others: int, most: int, seed: int
) -> None:
    data = chains(lengths, others)
    some = data.balanced(most, seed)
    assert len(some) == min(most, len(data))
    assert len(np.unique(some.x)) == len(some)
    if len(data) > most:
        rest = max(most // 2, most - others)
        assert some.positives == min(data.positives, rest)
        cluster = np.repeat(np.arange(len(lengths)), lengths)
        taken = np.bincount(cluster[some.x[some.y == 1, 0].astype(int)], minlength=len(lengths))
        left = np.array(lengths) > taken
        assert not left.any() or taken[left].min() >= taken.max() - 1


def test_many_pairs_of_which_few_are_duplicates_give_a_cut_for_such_pairs() -> None:
    draw = np.random.default_rng(0)
    count = 3 * FEW_PAIRS
    y = (draw.random(count) < 0.02).astype(np.int64)
    x = draw.normal(0.3 + 0.25 * y[:, None], 0.1, (count, 2))
    data = Data(2 * np.arange(count), 2 * np.arange(count) + 1, y, x)
    train, test = data.at(np.arange(count // 2)), data.at(np.arange(count // 2, count))
    with one_thread():
        made = fit(KINDS["linear"], train, (0, 1), 0, {"C": 1.0})
    best = max(f1(test.y, test.x.sum(axis=1) >= cut) for cut in np.linspace(0.6, 1.2, 61))
    assert f1(test.y, made.passed(test.x)) > best - 0.03
