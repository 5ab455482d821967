from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.rule import number_clusters
from neardup.labels.agreement import SetAgreement, set_agreement
from neardup.labels.gold import NEGATIVE, UNKNOWN
from neardup.schema import Array
from reference.sets import agreement, as_sets

SMALL = st.integers(0, 14).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.sets(st.tuples(st.integers(0, max(n - 1, 0)), st.integers(0, max(n - 1, 0)))),
    )
)


@pytest.mark.parametrize(
    ("gold", "exact", "over", "recall", "precision"),
    [(88, 86, 3, 0.9773, 0.9663), (82, 79, 8, 0.9634, 0.9080)],
)
def test_table_8_as_printed(
    gold: int, exact: int, over: int, recall: float, precision: float
) -> None:
    made = SetAgreement(gold, exact, partial=0, overlapping=0, over=over)
    assert made.missed == gold - exact
    assert made.recall == pytest.approx(recall, abs=5e-5)
    assert made.precision == pytest.approx(precision, abs=5e-5)
    assert made.precision_apart == made.precision  # no set is partial


@given(SMALL)
def test_counts_equal_the_twin(drawn: tuple[list[int], list[int], set[tuple[int, int]]]) -> None:
    gold, found = (number_clusters(np.array(one, np.int64)) for one in drawn[:2])
    refused = {pair for a, b in drawn[2] for pair in ((a, b), (b, a))}

    def classes(a: Array, b: Array) -> Array:
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return np.array([NEGATIVE if p in refused else UNKNOWN for p in pairs], np.int8)

    made = set_agreement(gold, found, classes).data()
    sets = as_sets(gold.tolist()), as_sets(found.tolist())
    assert made == agreement(*sets, lambda a, b: (a, b) in refused)
    every = set_agreement(gold, found).data()
    assert every == agreement(*sets, lambda _a, _b: True)


def test_one_set_of_each_sort() -> None:
    gold = np.array([0, 0, 1, 1, 1, 2, 2, -1, -1])
    found = np.array([0, 0, 1, 1, -1, -1, -1, 2, 2])
    made = set_agreement(gold, found)
    assert made == SetAgreement(gold=3, exact=1, partial=1, overlapping=1, over=1)
    assert made.missed == 1
    assert (made.recall, made.precision) == (1 / 3, 1 / 3)
