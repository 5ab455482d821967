"""Dates as measures: near, far and unknown."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.dates import NO_DATE
from neardup.features.similarity import HALF_AT, date_entries, vectors
from neardup.schema import Ragged

NAMES = tuple(f"date_{name}" for name in HALF_AT)
DAY = st.none() | st.integers(NO_DATE + 1, 2**31 - 1)


def made(*days: int | None) -> list[float]:
    """Of the first with each other."""
    since = np.array([NO_DATE if day is None else day for day in days], np.int32)
    entries = date_entries(since)
    rows = [[len(entries[i]), *entries[i].tolist()] for i in range(len(days))]
    values = np.array([value for row in rows for value in row], np.uint64)
    ends = np.cumsum([0, *map(len, rows)])
    others = np.arange(1, len(days))
    return vectors(Ragged(values, ends), np.zeros(len(others), np.int64), others, NAMES).tolist()


@given(DAY, DAY)
def test_nearness_is_half_at_its_distance_and_half_where_nothing_is_known(
    a: int | None, b: int | None
) -> None:
    if a is None or b is None:
        expected = [0.5] * len(NAMES)
    else:
        expected = [half / (half + abs(a - b)) for half in HALF_AT.values()]
    assert made(a, b) == made(b, a) == [expected]


def test_days_by_hand() -> None:
    assert made(8000, 8000, 8001, 8030) == [
        [1.0, 1.0, 1.0],
        [0.5, 30 / 31, 365 / 366],
        [1 / 31, 0.5, 365 / 395],
    ]
