from __future__ import annotations

import re

import pytest

from neardup.errors import SettingsError
from neardup.methods import registry
from neardup.methods.shingles import Shingles
from neardup.text.text_options import Text


def test_names_are_sorted_and_the_default_is_one_of_them() -> None:
    assert registry.names() == sorted(registry.names())
    assert registry.DEFAULT in registry.names()


def test_each_name_builds_the_method_of_that_name() -> None:
    for name in registry.names():
        assert registry.build(name).name == name


def test_a_near_name_is_suggested() -> None:
    with pytest.raises(SettingsError, match="did you mean 'shingles'"):
        registry.build("shingle")


def test_nested_parameters() -> None:
    made = registry.build("shingles", {"words": 3, "text": {"digits": "mask"}})
    assert made == Shingles(words=3, text=Text(digits="mask"))
    with pytest.raises(SettingsError, match="digit"):
        registry.build("shingles", {"text": {"digit": "mask"}})


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("minhash", "shingles"),
        ("MinHash-LSH", "shingles"),
        ("lsh", "shingles"),
        ("jaccard", "shingles"),
        ("broder", "shingles"),
        ("containment", "shingles"),
        ("tfidf", "keywords"),
        ("tf-idf", "keywords"),
        ("cosine", "keywords"),
        ("sbert", "semantic"),
        ("embeddings", "semantic"),
        ("svm", "learned"),
        ("char_ngram", "qgrams"),
        ("md5", "exact"),
        ("hash", "exact"),
        ("ppjoin", "join"),
        ("hamming", "simhash"),
    ],
)
def test_what_others_call_a_method_leads_to_its_name(name: str, own: str) -> None:
    with pytest.raises(SettingsError) as caught:
        registry.build(name)
    assert caught.value.message == f"There is no method {name!r}."
    assert f"`{own}`" in str(caught.value.hint)


def test_hints_name_methods_that_are_there() -> None:
    for hint in registry.HINTS.values():
        named = re.findall(r"`(\w+)`", hint)
        assert named
        assert set(named) <= set(registry.METHODS)
    assert not registry.HINTS.keys() & set(registry.METHODS)


@pytest.mark.parametrize("name", ["I-Match", "SimHash", "spot_sigs", "TermVector"])
def test_the_same_name_in_other_letters_is_suggested(name: str) -> None:
    with pytest.raises(SettingsError, match=f"did you mean '{registry.plain(name)}'"):
        registry.build(name)


def test_thresholds_of_other_tools() -> None:
    assert registry.build("shingles", {"jaccard_threshold": 0.7}) == Shingles(threshold=0.7)
