"""Dates from whatever a column holds."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ColumnError, SettingsError
from neardup.features.dates import EPOCH, NO_DATE, check_dates, days

DAY = date(2003, 11, 3)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["2003-11-03"]),
        pa.array(["20031103"], pa.large_string()),
        pa.array([" 2003-11-03T23:59:59-05:00 "]),
        pa.array(["2003-11-03 10:00"]).dictionary_encode(),
        pa.array(["20031103T100000Z"], pa.string_view()),
        pa.array([20031103]),
        pa.array([DAY]),
        pa.array([DAY], pa.date64()),
        pa.array([datetime(2003, 11, 3, 23, 59)], pa.timestamp("s")),
        pa.array([datetime(2003, 11, 3, 1, tzinfo=UTC)], pa.timestamp("ns", "UTC")),
    ],
    ids=lambda column: str(column.type),
)
def test_the_day_of_the_paper(column: pa.Array) -> None:
    assert days(column, "d").tolist() == [8707]


@pytest.mark.parametrize(
    "text",
    ["", "2003", "2003-11", "2003-13-01", "2003-02-29", "2003-11-00", "2003-1103", "03.11.2003"],
)
def test_no_date(text: str) -> None:
    assert days(pa.array([text, None, "2004-02-29"]), "d").tolist() == [NO_DATE, NO_DATE, 8825]


@given(st.lists(st.one_of(st.none(), st.dates()), max_size=5))
def test_every_day(given_: list[date | None]) -> None:
    expected = [NO_DATE if day is None else (day - EPOCH).days for day in given_]
    assert days(pa.array(given_, pa.date32()), "d").tolist() == expected
    for join in ("-", ""):
        written = [None if day is None else day.isoformat().replace("-", join) for day in given_]
        assert days(pa.array(written, pa.string()), "d").tolist() == expected


def test_columns_without_dates() -> None:
    check_dates(pa.array([None, "Monday", "2003-11-03"]), "d")
    check_dates(pa.nulls(3), "d")
    check_dates(pa.array(["", None]), "d")
    with pytest.raises(SettingsError, match=r"'d'.*'Monday'.*Hint: "):
        check_dates(pa.array([None, "", "Monday"]), "d")
    with pytest.raises(ColumnError, match="bool"):
        check_dates(pa.array([True]), "d")
