from __future__ import annotations

import pytest

from neardup import api as nd
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
