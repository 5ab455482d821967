"""Columns of any type, as policies read them: an order people expect, or a sentence."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from neardup import api as nd
from neardup.decisions.order import as_dates, group_codes, sortable
from neardup.errors import ColumnError, SettingsError

TEXT = "the same words in every document, so that the policy alone decides which one is kept here"


def kept(values: Any, **settings: Any) -> str:
    table = pa.table({"id": ["a", "b", "c"], "text": [TEXT] * 3, "v": values})
    return str(nd.dedup(table, **settings).kept["id"][0].as_py())


VIEW = pa.array(["x", "z", "y"], pa.string_view())
ORDERED = [
    pa.array([1, 3, 2]),
    pa.array([Decimal("1.1"), Decimal("3.3"), Decimal("2.2")]),
    pa.array(["x", "z", "y"]).dictionary_encode(),
    VIEW,
    pa.array(["9", "10", "9.5"]),
    pa.array([None, "z", None]),
    pa.array([False, True, False]),
    pa.array(pd.to_datetime(["2001-01-01", "2003-01-01", "2002-01-01"])),
]


@pytest.mark.parametrize("values", ORDERED, ids=lambda a: str(a.type))
def test_the_largest_is_kept(values: pa.Array) -> None:
    assert kept(values, keep="v:desc") == "b"


def test_categories_of_pandas() -> None:
    frame = pd.DataFrame({"text": [TEXT] * 2, "v": pd.Categorical(["a", "b"])})
    assert nd.dedup(frame, keep="v:desc").kept["v"].tolist() == ["b"]


def test_large_whole_numbers_stay_whole() -> None:
    docs = [{"id": str(v), "text": TEXT, "v": v} for v in (2**53, 2**53 + 1)]
    assert nd.dedup(docs, keep="v:desc").kept == docs[1:]


@pytest.mark.parametrize("values", [[[1], [2], [3]], [{"a": 1}] * 3, [b"1", b"2", b"3"]])
@pytest.mark.parametrize("settings", [{"keep": "v:asc"}, {"within": "v"}])
def test_what_has_no_order_is_refused(values: Any, settings: dict[str, str]) -> None:
    with pytest.raises(ColumnError, match=r"'v' holds values of type .* Hint: "):
        kept(pa.array(values), **settings)


@pytest.mark.parametrize("settings", [{"keep": "text:asc"}, {"within": "text"}])
def test_the_text_is_no_policy(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="names the text column"):
        kept([1, 2, 3], **settings)


def test_equal_values_are_one_group_and_missing_ones_another() -> None:
    twice = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, None, 2, 0], pa.int8()), pa.array(["p", "p", None])
    )
    assert group_codes(twice, "v").tolist() == [0, 0, 1, 1, 0]
    assert group_codes(pa.array([1.5, None, 1.5]), "v").tolist() == [0, 1, 0]


def test_numbers_as_json_writes_them() -> None:
    assert sortable(pa.array(["+5", " -7", None]), "v").to_pylist() == [5, -7, None]
    assert sortable(pa.array(["5", "1e3"]), "v").to_pylist() == [5.0, 1000.0]
    assert sortable(pa.array(["5", "x"]), "v").to_pylist() == ["5", "x"]


def test_microseconds_of_dates_do_not_tie() -> None:
    written = pa.array(["2003-11-03T12:30:00.000001+01:00", "2003-11-03T11:30:00.000002", "soon"])
    one, other, none = as_dates(written, "date").to_pylist()
    assert (other - one, none) == (1, None)
    with pytest.raises(ColumnError, match="date column"):
        as_dates(pa.array([True]), "date")
    assert np.isnan(as_dates(pa.array([np.nan]), "date").to_pylist()[0])
