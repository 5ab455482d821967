"""The method ``spotsigs``: the paper's example, its kernel against the twin, its format."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.methods.spotsigs import SpotSigs, antecedent_words, spots
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import spots as twin

WORDS = st.lists(st.sampled_from(["the", "is", "a", "of", *"klmn"]), max_size=30)
ANTECEDENTS = ("the", "is", "a")


def test_the_king_of_spain() -> None:
    text = "the king of Spain is a good man"
    found = spots(text, ANTECEDENTS, options=Text(stop_words=("of",)))
    assert found == ["the:king:spain", "is:good:man", "a:good:man"]
    # Antecedents that are stop words too still begin spots.
    everything = Text(stop_words=("the", "is", "a", "of"))
    assert spots(text, ANTECEDENTS, options=everything) == found


@given(WORDS, st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_spots_equal_the_twin(words: list[str], distance: int, chain: int, of: bool) -> None:
    options = Text(stop_words=("of",) if of else ())
    found = spots(" ".join(words), ANTECEDENTS, distance=distance, chain=chain, options=options)
    stop = ("of",) if of else ()
    assert found == twin.spots(words, ANTECEDENTS, distance, chain, stop)
    method = SpotSigs(ANTECEDENTS, distance, chain, min_spots=1, text=options)
    made = method.prepare(batch([" ".join(words)]))
    assert made.too_short.tolist() == [not found]
    assert not found or len(made.evidence[0]) == len(found)  # every occurrence is a feature


@given(st.lists(WORDS, max_size=8), st.sampled_from([0.2, 0.44, 0.5, 0.9, 1.0]))
def test_a_run_equals_the_twin(documents: list[list[str]], t: float) -> None:
    method = SpotSigs(ANTECEDENTS, threshold=t, min_spots=1)
    found = nd.find([" ".join(words) for words in documents], method=method).pairs.to_pylist()
    sets = [twin.spots(words, ANTECEDENTS, 1, 2) for words in documents]
    expected = {}
    for j, b in enumerate(sets):
        for i, a in enumerate(sets[:j]):
            score = twin.similarity(a, b)
            if a and b and score >= Fraction(str(t)):
                expected[f"input:{i + 1}", f"input:{j + 1}"] = float(score)
    empty = {f"input:{i + 1}" for i, one in enumerate(sets) if not one}
    scores = {(p["a"], p["b"]): p["score"] for p in found if p["a"] not in empty}
    assert scores == pytest.approx(expected)
    assert scores.keys() == expected.keys()


def test_antecedents_by_language() -> None:
    german, both = (antecedent_words(name, Text()) for name in ("german", "german,english"))
    assert "der" in german
    assert "the" not in german
    assert german < both < antecedent_words("auto", Text())
    assert SpotSigs(antecedents="de, en") == SpotSigs(antecedents="german,english")
    assert "the" in antecedent_words(("The",), Text())


def test_headings_are_not_compared() -> None:
    menu = "News Sport Weather Travel Culture Future Archive Contact Imprint Search Login Help"
    result = nd.dedup([menu, menu + " More", menu], method="spotsigs")
    assert result.decisions["reason"].to_pylist() == ["too_short", "too_short", "equal"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"antecedents": "klingon"},
        {"antecedents": ()},
        {"antecedents": (1, 2)},
        {"distance": 0},
        {"chain": 0},
        {"chain": 33},
        {"min_spots": -1},
        {"threshold": 0},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        SpotSigs(**wrong)


# A change is a change of the format: see tests/methods/test_shingles.py.
GOLDEN = {
    "features": [883944948, 1306015376, 1631383366],
    "keys": [8967848041070247626, 9905827389750367980],
}


def test_golden_vectors() -> None:
    text = "The king of Spain is a good man, and the queen of Spain is a good woman of the people."
    made = SpotSigs(antecedents="english", min_spots=1).prepare(batch([text]))
    assert {
        "features": made.evidence[0][:3].tolist(),
        "keys": made.keys[0][:2].tolist(),
    } == GOLDEN
