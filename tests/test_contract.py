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
from neardup.methods.parameters import threshold_fraction
from neardup.schema import Ragged
from neardup.testing import CHECKS

# Every method as it comes, and the other ways some of them can work.
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((name, {}) for name in registry.names()),
    ("exact", {"form": "bytes"}),
    ("fingerprint", {"terms": "alnum+", "bin": 10, "idf_max": 1.0, "length_tolerance": 0.5}),
    ("imatch", {"idf_min": 0.0, "min_terms": 1, "lexicons": 5, "dropped": 0.5, "min_equal": 2}),
    ("imatch", {"lexicons": 1, "terms": "alnum+"}),
    ("keywords", {"measure": "cosine", "tf": "count", "min_documents": 2}),
    ("keywords", {"per": "sentence", "measure": "extended_jaccard", "k": 5, "threshold": 0.3}),
    ("keywords", {"per": "sentence", "unit": "tuple", "measure": "euclidean", "min_words": 1}),
    ("keywords", {"unit": "tuple", "measure": "dice", "terms": "alpha"}),
    ("shingles", {"keys": "prefix", "words": 2, "threshold": 0.3}),
    ("shingles", {"measure": "containment", "min_words": 1}),
    ("shingles", {"weights": "idf", "words": 2, "threshold": 0.4, "min_words": 2}),
    ("rareshingles", {"calibrate": False, "templates": "accept", "words": 1, "min_words": 0}),
    ("rareshingles", {"lone": 0.0, "common": 2, "threshold": 0.2}),
    ("raregrams", {"calibrate": False, "templates": "accept", "threshold": 0.3, "min_words": 5}),
    ("simhash", {"weights": "idf", "bits": 128, "distance": 10}),
    ("simhash", {"weak_bits": 12}),
    ("editdistance", {"threshold": 0.5, "q": 2, "distance": 3}),
    ("uniquewords", {"measure": "max", "min_unique": 5, "threshold": 0.3}),
    ("keywords", {"order": "3tf-idf+2df", "tf": "capped", "threshold": 0.6}),
    ("combined", {"methods": ["exact", "shingles measure=containment"], "rule": "union"}),
    ("shingles", {"sampling": "minima", "threshold": 0.5}),
    ("shingles", {"sampling": "minima", "family": "classic", "permutations": 84, "keys": "all"}),
    ("shingles", {"sampling": "mod", "modulus": 3, "sample_limit": 5, "threshold": 0.5}),
    ("shingles", {"sampling": "mod", "modulus": 4, "sample_limit": 0, "measure": "containment"}),
    ("shingles", {"sampling": "bottom", "sample_limit": 20, "keys": "all", "min_words": 0}),
    ("termvector", {"size": 10, "threshold": 0.5, "length_ratio": 0.5}),
    ("termvector", {"terms": "words", "min_count": 2, "min_words": 0}),
    ("termvector", {"packed": True, "size": 20}),
    ("join", {"measure": "containment", "min_words": 1, "size": 2}),
    ("join", {"features": "qgrams", "measure": "cosine", "threshold": 0.5}),
    ("join", {"features": "windows", "every": 4, "measure": "containment", "threshold": 0.25}),
    ("join", {"features": "qgrams", "size": 30, "most": 20, "measure": "max", "min_words": 0}),
    ("join", {"features": "sentences", "measure": "containment"}),
    ("join", {"features": "pauses", "threshold": 0.5, "min_words": 0}),
    ("join", {"features": "skips", "size": 2, "measure": "dice"}),
    ("join", {"features": "sentence_shingles", "every": 2, "text": {"stop_words": ["and"]}}),
    ("qgrams", {"keys": "prefix", "q": 1, "min_chars": 0, "text": {"case": "keep"}}),
    ("spotsigs", {"antecedents": ["and", "x"], "min_spots": 0, "text": {"stop_words": ["and"]}}),
    ("shingles", {"text": {"digits": "drop", "stop_words": ["and"]}}),
    ("semantic", {"length": 2000, "threshold": 0.6, "tables": 300, "bits": 10, "min_words": 0}),
    ("supershingles", {"variant": "broder", "size": 5, "words": 2}),
    ("supershingles", {"variant": "broder", "threshold": 0.2, "min_words": 0}),
    ("supershingles", {"threshold": 0.5, "family": "classic", "words": 3}),
    ("supershingles", {"size": 4, "words": 3, "min_words": 1}),
]


def _built(variant: tuple[str, dict[str, Any]], *marks: pytest.MarkDecorator) -> Any:
    name, parameters = variant
    return pytest.param(variant, id=f"{name} {parameters or ''}".strip(), marks=marks)


def _ten_megabytes() -> list[Any]:
    """Each method as it comes; the other ways to work go through `make long`."""
    return [_built(one, pytest.mark.long if one[1] else pytest.mark.slow) for one in VARIANTS]


every_variant = pytest.mark.parametrize("variant", [_built(variant) for variant in VARIANTS])
on_ten_megabytes = pytest.mark.parametrize("variant", _ten_megabytes())


@every_variant
@pytest.mark.parametrize("check", [name for name in CHECKS if "ten megabytes" not in name])
def test_keeps_its_promise(variant: tuple[str, dict[str, Any]], check: str) -> None:
    CHECKS[check](registry.build(*variant))


@on_ten_megabytes
@pytest.mark.parametrize("check", [name for name in CHECKS if "ten megabytes" in name])
def test_takes_ten_megabytes(variant: tuple[str, dict[str, Any]], check: str) -> None:
    CHECKS[check](registry.build(*variant))


@on_ten_megabytes
def test_a_long_word_is_not_the_same_with_one_more_letter(
    variant: tuple[str, dict[str, Any]],
) -> None:
    method = registry.build(*variant)
    line = "a" * 1_000_000
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
