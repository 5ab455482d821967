"""Keyword arguments: settings, parameters of the method, the names that other tools use."""

from __future__ import annotations

from typing import Any

import pytest

import neardup as nd
from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.settings import settings_of


def parameters(**given: Any) -> dict[str, Any]:
    settings: dict[str, Any] = nd.dedup(["a", "b"], **given).info["settings"]["parameters"]
    return settings


@pytest.mark.parametrize("name", ["words", "ngram", "ngram_size"])
def test_parameters_are_keywords(name: str) -> None:
    for find in (nd.dedup, nd.find):
        made = find(["a"], method="shingles", **{name: 3})
        assert made.info["settings"]["parameters"]["words"] == 3
    assert parameters(method="shingles", set={name: 3})["words"] == 3
    assert parameters(method=nd.Shingles(min_words=2), **{name: 3})["min_words"] == 2


def test_several_together() -> None:
    made = parameters(method="shingles", num_perm=64, ngram=4, threshold=0.9, set={"min_words": 3})
    assert (made["permutations"], made["words"], made["min_words"]) == (64, 4, 3)
    assert made["threshold"] == 0.9


@pytest.mark.parametrize(
    "given",
    [
        {"ngram": 3, "words": 3},
        {"ngram": 3, "set": {"words": 4}},
        {"set": {"ngram": 1, "words": 2}},
    ],
)
def test_given_twice(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match="words is given twice"):
        parameters(method="shingles", **given)


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"treshold": 0.5}, "did you mean 'threshold'?"),
        ({"permutation": 64, "method": "shingles"}, "did you mean 'permutations'?"),
        ({"zzz": 1}, "there are against, clusters, date"),
        ({"num_perm": 64}, "it is a parameter of qgrams, shingles and supershingles; name"),
        (
            {"measure": "containment"},
            "it is a parameter of join, keywords, shingles and uniquewords; name",
        ),
        ({"set": {"clip": 0.1}}, "it is a parameter of shingles; name the method too."),
    ],
)
def test_unknown_keywords_are_settings_errors(given: dict[str, Any], hint: str) -> None:
    with pytest.raises(SettingsError) as caught:
        nd.dedup(["a"], **given)
    assert str(caught.value.hint).startswith(hint)


def test_the_constructor_stays_clean() -> None:
    with pytest.raises(TypeError):
        nd.Shingles(num_perm=64)  # type: ignore[call-arg]
    assert settings_of({"keep": "last"}).set == {}


def test_a_parameter_of_that_name_comes_before_the_alias() -> None:
    from dataclasses import dataclass

    @dataclass
    class Own:
        ngram: int = 1
        words: int = 1

    assert registry.canonical(Own, {"ngram": 2, "ngram_size": 3}) == {"ngram": 2, "words": 3}
