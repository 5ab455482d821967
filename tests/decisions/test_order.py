"""The policy's order against Python's stable sort."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.order import Order, as_dates
from neardup.errors import SettingsError


def order_of(keep: str, values: pa.Array | None, lengths: list[int] | None = None) -> list[int]:
    count = len(values) if values is not None else len(lengths or [])
    parsed = Order.parse(keep, "date")
    column = {} if values is None else dict.fromkeys(parsed.columns, pa.chunked_array([values]))
    rank = parsed.rank(np.array(lengths or [0] * count, np.int64), column)
    assert sorted(rank.tolist()) == list(range(count))
    return np.argsort(rank).tolist()


def expected(values: list[Any], descending: bool) -> list[int]:
    places = range(len(values))
    known = sorted(
        (i for i in places if values[i] is not None), key=lambda i: values[i], reverse=descending
    )
    return known + [i for i in places if values[i] is None]


VALUES = st.lists(st.none() | st.integers(-3, 3), max_size=12)


@given(VALUES, st.booleans())
def test_columns_of_numbers(values: list[int | None], descending: bool) -> None:
    keep = f"rank:{'desc' if descending else 'asc'}"
    assert order_of(keep, pa.array(values, pa.int64())) == expected(values, descending)
    floats = [None if v is None else v / 2 for v in values]
    assert order_of(keep, pa.array(floats, pa.float64())) == expected(values, descending)


@given(st.lists(st.none() | st.integers(-3, 120), max_size=12), st.booleans())
def test_numbers_written_as_text_are_numbers(values: list[int | None], descending: bool) -> None:
    """JSON Lines give them so: 9 comes before 10."""
    written = pa.array([None if v is None else str(v) for v in values], pa.large_string())
    keep = f"rank:{'desc' if descending else 'asc'}"
    assert order_of(keep, written) == expected(values, descending)


@given(st.lists(st.none() | st.sampled_from(["", "b", "a", "10", "9"]), max_size=8))
def test_texts_that_are_not_all_numbers_are_texts(values: list[str | None]) -> None:
    values = [*values, "z"]
    assert order_of("name:asc", pa.array(values, pa.string())) == expected(values, False)


@given(st.lists(st.integers(0, 4), max_size=12))
def test_lengths_and_positions(lengths: list[int]) -> None:
    assert order_of("longest", None, lengths) == expected(lengths, True)
    assert order_of("shortest", None, lengths) == expected(lengths, False)
    assert order_of("first", None, lengths) == list(range(len(lengths)))
    assert order_of("last", None, lengths) == list(range(len(lengths)))[::-1]


@given(st.lists(st.none() | st.sampled_from(["a", "b", "c", "d"]), max_size=12))
def test_preferred_values(values: list[str | None]) -> None:
    place = {"c": 0, "a": 1}
    ranked = [place.get(v) if v is not None else None for v in values]
    for keep in ("source:c, a", "court:c,a"):
        assert order_of(keep, pa.array(values, pa.string())) == expected(ranked, False)
    years = pa.array([None if v is None else "abcd".index(v) for v in values], pa.int64())
    assert order_of("year:2,0", years) == expected(ranked, False)


MOMENTS = st.lists(
    st.none() | st.integers(0, 10**6).map(lambda s: datetime(2000, 1, 1) + timedelta(minutes=s)),
    max_size=10,
)


@given(MOMENTS, st.booleans(), st.sampled_from(["s", "ms", "us", "ns"]))
def test_dates_in_tables(moments: list[datetime | None], newest: bool, unit: str) -> None:
    keep = "newest" if newest else "oldest"
    assert order_of(keep, pa.array(moments, pa.timestamp(unit))) == expected(moments, newest)


@given(MOMENTS, st.booleans())
def test_dates_as_text(moments: list[datetime | None], newest: bool) -> None:
    written = [None if m is None else m.isoformat() for m in moments]
    keep = "newest" if newest else "oldest"
    assert order_of(keep, pa.array(written, pa.large_string())) == expected(moments, newest)


def test_finer_than_a_microsecond() -> None:
    moments = pa.array([1_577_836_800_123_456_789, 1_577_836_800_223_456_789], pa.timestamp("ns"))
    assert order_of("newest", moments) == [1, 0]


def test_time_zones_are_one_time() -> None:
    east = datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))).isoformat()
    utc = "2024-01-01T00:00:00Z"
    assert order_of("oldest", pa.array([utc, east, "2024-01-01"])) == [1, 0, 2]
    days = pa.array([date(2024, 1, 2), date(2024, 1, 1)])
    assert order_of("oldest", days) == [1, 0]
    aware = pa.array([datetime(2024, 1, 2), datetime(2024, 1, 1)], pa.timestamp("ns", "UTC"))
    assert order_of("oldest", aware) == [1, 0]


def test_years_months_and_dates_with_slashes_or_dots_are_dates_beside_iso() -> None:
    written = ["2022-05", "2019", "2021-03-04T10:00:00Z", "2022/05/06", "03.06.2024", "2020/7"]
    assert order_of("oldest", pa.array(written)) == [1, 5, 2, 0, 3, 4]
    assert order_of("newest", pa.array(written)) == [4, 3, 0, 2, 5, 1]
    same = ["2024-06-03T00:00", "2024/6/3", " 3.6.2024 ", "03.06.2024 00:00", "2024-06-03"]
    assert len(set(as_dates(pa.array(same), "date").to_pylist())) == 1
    wrong = ["2024/13", "31.02.2024", "06/03/2024", "2024-06/03", "1717372800", "2024 spring"]
    assert as_dates(pa.array([*wrong, "2024"]), "date").null_count == len(wrong)


def test_an_order_says_how_many_dates_it_could_not_read() -> None:
    order = Order.parse("longest; newest", "day")
    columns = {"day": pa.chunked_array([["2024", " "], [None, "soon", "later"]])}
    undated = order.undated(order.values(np.zeros(5, np.int64), columns), columns)
    assert undated == ("day", 4, 5, "soon")
    assert undated is not None
    assert undated.sentence().startswith("4 of 5 documents have no readable date in 'day' (the ")
    columns = {"day": pa.chunked_array([["2024", "2023"]])}
    assert order.undated(order.values(np.zeros(2, np.int64), columns), columns) is None


def test_what_is_no_date_comes_last_and_only_such_is_an_error() -> None:
    assert order_of("newest", pa.array(["soon", "2024-01-01", "", None])) == [1, 0, 2, 3]
    assert order_of("newest", pa.array([None, None], pa.string())) == [0, 1]
    with pytest.raises(SettingsError, match="'soon'") as error:
        as_dates(pa.array(["soon", "later"]), "date")
    assert "03.11.2003" in str(error.value)
    assert "--" not in str(error.value)  # the commands that read dates have different options


@pytest.mark.parametrize("written", ["", "best", ":asc", "rank:", "source:", "rank:up", "FIRST"])
def test_an_unknown_policy_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match=r"Hint: .*expected first"):
        Order.parse(written, "date")


def test_a_direction_is_no_preferred_value() -> None:
    with pytest.raises(SettingsError, match="did you mean 'score:desc'"):
        Order.parse("score:descending", None)


def test_newest_needs_to_know_the_date() -> None:
    with pytest.raises(SettingsError, match="--date"):
        Order.parse("newest", None)
