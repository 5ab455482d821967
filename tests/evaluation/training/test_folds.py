"""What is tested was never trained on: no document is on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InputError
from neardup.evaluation.training.folds import folds_of
from neardup.evaluation.training.training_data import Data

pairs = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 60), st.booleans()).filter(lambda p: p[0] != p[1]),
    min_size=12,
    max_size=80,
    unique_by=lambda p: (min(p[:2]), max(p[:2])),
)


def data_of(rows: list[tuple[int, int, bool]]) -> Data:
    a, b, y = (np.array(side, np.int64) for side in zip(*rows, strict=True))
    return Data(a, b, y, np.zeros((len(rows), 1)))


@given(pairs, st.integers(0, 5))
def test_no_document_is_on_both_sides(rows: list[tuple[int, int, bool]], seed: int) -> None:
    data = data_of(rows)
    try:
        folds = folds_of(data, 5, seed)
    except InputError:
        return
    tested = []
    for train, test in folds.sides():
        sides = [{*some.a.tolist(), *some.b.tolist()} for some in (data.at(train), data.at(test))]
        assert not sides[0] & sides[1]
        assert data.at(train).both
        tested += test.tolist()
    assert len(tested) == len(set(tested)) == len(data) - folds.untested
    assert folds_of(data, 5, seed).of.tolist() == folds.of.tolist()


def test_what_hangs_together_stays_together() -> None:
    rows = [(4 * i + j, 4 * i + j + 1, j != 1) for i in range(20) for j in range(3)]
    folds = folds_of(data_of(rows), 5, 0)
    assert (folds.count, folds.untested) == (5, 0)
    assert sorted(len(test) for _, test in folds.sides()) == [12] * 5
    by_chain = folds.of[:, 0].reshape(20, 3)
    assert (by_chain == by_chain[:, :1]).all()


def test_a_chain_through_everything_is_cut_at_few_places() -> None:
    rows = [(i, i + 1, i % 2 == 0) for i in range(100)]
    folds = folds_of(data_of(rows), 5, 0)
    assert 0 < folds.untested <= 20
    assert len(list(folds.sides())) > 1


def test_one_document_in_every_pair_cannot_be_divided() -> None:
    rows = [(0, i, i % 2 == 0) for i in range(1, 40)]
    with pytest.raises(InputError, match="hang together by few documents"):
        folds_of(data_of(rows), 5, 0)
