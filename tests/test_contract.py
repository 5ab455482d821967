"""What every method promises, whoever wrote it: one test over the whole registry."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.fractions import threshold_fraction
from neardup.methods.method import Method
from neardup.schema import Ragged
from neardup.testing import CHECKS

# Every method as it comes, and the other ways some of them can work.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.names()),
    ("exact", {"form": "bytes"}),
    ("keywords", {"measure": "cosine", "tf": "count", "min_documents": 2}),
    ("keywords", {"per": "sentence", "measure": "extended_jaccard", "k": 5, "threshold": 0.3}),
    ("keywords", {"per": "sentence", "unit": "tuple", "measure": "euclidean", "min_words": 1}),
    ("keywords", {"unit": "tuple", "measure": "dice", "terms": "alpha"}),
    ("shingles", {"keys": "prefix", "words": 2, "threshold": 0.3}),
    ("shingles", {"measure": "containment", "min_words": 1}),
    ("shingles", {"text": {"digits": "drop", "stop_words": ["and"]}}),
]


@pytest.fixture(params=VARIANTS, ids=lambda variant: f"{variant[0]} {variant[1] or ''}".strip())
def method(request: pytest.FixtureRequest) -> Method:
    return registry.build(*request.param)


@pytest.mark.parametrize("check", CHECKS)
def test_keeps_its_promise(method: Method, check: str) -> None:
    CHECKS[check](method)


def test_a_long_word_is_not_the_same_with_one_more_letter(method: Method) -> None:
    line = "a" * 10_000_000
    result = nd.dedup([line, line + "b", line], method=method)
    assert result.decisions["decision"].to_pylist() == ["kept", "kept", "duplicate"]


@pytest.mark.parametrize("written", [0.8, np.float64(0.8), "0.8", Fraction(4, 5)])
def test_a_threshold_is_the_fraction_that_was_written(written: Any) -> None:
    assert threshold_fraction(written) == Fraction(4, 5)


@pytest.mark.parametrize("written", [0, -0.1, 1.1, 0.1234567, float("nan"), float("inf"), "much"])
def test_a_threshold_that_is_none_is_refused(written: Any) -> None:
    with pytest.raises(SettingsError, match="threshold"):
        threshold_fraction(written)


def test_ragged_views_of_sliced_strings() -> None:
    strings = pa.array(["ab", "", "cde", "f"], pa.large_string())
    for start in range(5):
        ragged = Ragged.of_strings(strings.slice(start))
        texts = [bytes(ragged[i]).decode() for i in range(len(ragged))]
        assert texts == strings.slice(start).to_pylist()
