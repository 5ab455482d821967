from __future__ import annotations

import pytest

from neardup import api as nd
from neardup.engines.index.index import Index
from neardup.errors import SettingsError
from neardup.methods.exact import Exact

TEXTS = ["One two", "one  TWO.", "One two", "two one", "", "", " ", "!", "!"]


def test_normal_form() -> None:
    result = nd.dedup(TEXTS, method="exact")
    kept = [None, "input:1", "input:1", None, None, "input:5", "input:5", None, "input:8"]
    assert result.decisions["kept_id"].to_pylist() == kept
    kinds = result.decisions["kind"].to_pylist()
    assert kinds[1:3] == ["normalised", "identical"]


def test_bytes() -> None:
    result = nd.dedup(TEXTS, method=Exact(form="bytes"))
    kept = [None, None, "input:1", None, None, "input:5", None, None, "input:8"]
    assert result.decisions["kept_id"].to_pylist() == kept
    assert set(result.duplicates["kind"].to_pylist()) == {"identical"}
    assert set(result.duplicates["score"].to_pylist()) == {1.0}


@pytest.mark.parametrize("wrong", [{"form": "words"}, {"threshold": 0.8}])
def test_wrong_parameters_are_explained(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match="Hint: "):
        Exact(**wrong)  # type: ignore[arg-type]


RECORDS = [
    {"id": "a", "title": "On Roses", "year": 2001, "text": "one scan of the paper"},
    {"id": "b", "title": "ON ROSES.", "year": 2001, "text": "another scan, longer"},
    {"id": "c", "title": "On Roses", "year": 2002, "text": "one scan of the paper"},
    {"id": "d", "title": None, "year": None, "text": "no metadata"},
    {"id": "e", "title": "", "year": None, "text": "none either"},
    {"id": "f", "title": None, "year": None, "text": "No metadata!"},
]


def test_chosen_fields_are_compared_in_place_of_the_text() -> None:
    method = Exact(fields=("title", "year"))
    decisions = nd.dedup(RECORDS, method=method).decisions.to_pylist()
    assert {row["id"]: row["kept_id"] for row in decisions if row["kept_id"]} == {
        "b": "a",
        "f": "d",
    }
    assert decisions[1]["reason"] == "equal title, year"
    with Index.open("memory:", method=method) as index:
        matches = [index.add(row) for row in RECORDS]
    assert [match and match.of for match in matches] == [None, "a", None, None, None, "d"]


def test_fields_are_a_list_of_columns() -> None:
    with pytest.raises(SettingsError, match="list of columns"):
        Exact(fields="title")  # type: ignore[arg-type]
