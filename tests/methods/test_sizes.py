"""Sizes that can be partners are in the same class or in the next."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.methods.qgrams import size_classes, sized_keys
from neardup.schema import Ragged


@given(st.integers(1, 999), st.lists(st.integers(1, 5000), min_size=1, max_size=40))
def test_partners_are_in_neighbouring_classes(thousandths: int, sizes: list[int]) -> None:
    t = Fraction(thousandths, 1000)
    # What is exactly at the limit is where rounding would go wrong.
    sizes += [int(s / t) for s in sizes if s / t < 10**6] + [-int(-s * t // 1) or 1 for s in sizes]
    classes = size_classes(np.array(sizes), t).tolist()
    for a, x in zip(sizes, classes, strict=True):
        for b, y in zip(sizes, classes, strict=True):
            if min(a, b) >= t * max(a, b):
                assert abs(x - y) <= 1


def test_partners_share_a_key_and_others_do_not() -> None:
    rows = Ragged(np.full(4, 7, np.uint64), np.arange(5))
    keys, probes = sized_keys(rows, np.array([100, 120, 125, 1000]), Fraction(4, 5))
    sets = [{*keys[i].tolist()} for i in range(4)]
    assert probes.tolist() == [2, 2, 2, 2]
    assert sets[0] & sets[1]
    assert sets[0] & sets[2]
    assert not sets[0] & sets[3]
