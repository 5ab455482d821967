"""The method ``qgrams``: the paper's numbers, its kernel against the twin, its format."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.errors import SettingsError
from neardup.features.qgrams import doc_q, qgram_form, qgram_sets, qgrams
from neardup.matching import paths
from neardup.methods.qgrams import Qgrams
from neardup.runs.result import Result
from neardup.schema import Ragged
from neardup.testing import batch
from neardup.text.text_options import Text
from reference import qgrams as twin

AS_WRITTEN = Text(case="keep")
SIDEWALK = (
    "People rally on the sidewalk as legal arguments over the Patient Protection and Affordable "
    "Care Act take place at the Supreme Court."
)
PAVEMENT = SIDEWALK.replace("sidewalk", "pavement")
TEXT = st.text(st.sampled_from("abcAB éÉßﬁ東京1２.,!-_…“€$+=\n\t\u00a0\u2003😀"), max_size=60)


def test_the_list_of_the_paper() -> None:
    printed = "Aro ros ose sei eis isa saf afl flo low owe wer"
    assert qgrams("A rose is a flower", 3, AS_WRITTEN) == printed.split()


def test_the_numbers_of_the_paper() -> None:
    rose, red = "A rose is a flower", "A rose is a red flower"
    assert doc_q(rose, red, 3, AS_WRITTEN) == 10 / 15
    assert doc_q(rose, red, 4, AS_WRITTEN) == 8 / 14
    assert doc_q(SIDEWALK, PAVEMENT, 4, AS_WRITTEN) == 96 / 107
    assert doc_q(SIDEWALK, PAVEMENT) == 96 / 106


def test_a_run_gives_the_numbers_of_the_paper() -> None:
    kept = nd.find([SIDEWALK, PAVEMENT], method=Qgrams(text=AS_WRITTEN))
    assert kept.pairs["score"].to_pylist() == [96 / 107]
    assert nd.find([SIDEWALK, PAVEMENT], method="qgrams").pairs["score"].to_pylist() == [96 / 106]


def test_equal_sets_are_not_equal_texts() -> None:
    found = nd.find(["abcabc", "abcabcabc"], method=Qgrams(q=3, min_chars=0)).pairs.to_pylist()
    (pair,) = found
    assert pair["score"] == 1.0
    assert pair["kind"] not in (None, "identical", "normalised")


def test_symbols_and_digits_stay() -> None:
    assert qgram_form("5 € + 3 $ = (x), «y»! \u2003…_-") == "5€+3$=xy"


@given(TEXT, st.integers(1, 6), st.booleans())
def test_sets_equal_the_twin(text: str, q: int, fold: bool) -> None:
    options = Text(case="fold" if fold else "keep")
    assert qgrams(text, q, options) == twin.qgrams(text, q, fold=fold)
    made = qgram_sets(Ragged.of_texts([text]), q, options)
    assert made.features[0].tolist() == sorted(
        {*map(twin.feature, twin.qgrams(text, q, fold=fold))}
    )
    assert made.characters.tolist() == [len(twin.normal_form(text, fold=fold))]


@pytest.mark.parametrize("size", [8190, 8192, 8195, 20_000])
@pytest.mark.parametrize("every", [1, 3, 4])
@pytest.mark.parametrize("foreign", [0, 5, 90])  # a character that is not ASCII, after so many
def test_long_texts_are_read_in_pieces(size: int, every: int, foreign: int) -> None:
    letters = [chr(ord("a") + i * i * i // 7 % 23) for i in range(size)]
    if foreign:
        letters[::foreign] = "é" * len(letters[::foreign])
    text = "".join(letters)
    made = qgram_sets(Ragged.of_texts([text]), 5, Text(), every=every)
    features = sorted({twin.feature(gram) for gram in twin.qgrams(text, 5)})
    assert made.features[0].tolist() == [f for f in features if (f >> 8) % every == 0]


@given(
    st.lists(st.text("abc ", min_size=1, max_size=40), max_size=8),
    st.sampled_from([Fraction(1, 4), Fraction(7, 10), Fraction(4, 5), Fraction(1)]),
)
def test_the_complete_keys_find_what_the_twin_finds(texts: list[str], t: Fraction) -> None:
    method = Qgrams(q=3, threshold=float(t), keys="prefix", min_chars=3)
    found = nd.find(texts, method=method).pairs.to_pylist()
    long = [len(twin.normal_form(text)) >= 3 for text in texts]
    expected = {
        (f"input:{i + 1}", f"input:{j + 1}"): twin.doc_q(texts[i], texts[j], 3)
        for j in range(len(texts))
        for i in range(j)
        if long[i] and long[j] and twin.doc_q(texts[i], texts[j], 3) >= t
    }
    scores = {(p["a"], p["b"]): p["score"] for p in found}
    assert {pair: scores[pair] for pair in expected} == {p: float(s) for p, s in expected.items()}
    places = {f"input:{i + 1}": i for i in range(len(texts))}
    assert not any(long[places[a]] for a, _ in scores.keys() - expected.keys())


def test_bands_serve_where_they_keep_the_miss_rate() -> None:
    usual = Qgrams(keys="bands")
    assert usual.bands is not None
    assert usual.bands.rows == 8
    assert 0 < usual.miss_rate <= usual.miss_rate_limit
    assert Qgrams(threshold=0.3).bands is None
    assert Qgrams(keys="prefix").miss_rate == 0


def test_paths_serve_where_bands_would() -> None:
    assert Qgrams().resolved() == {"scheme": "paths", "miss_rate": 0.001}
    assert Qgrams(threshold=0.3).resolved() == {"scheme": "prefix", "miss_rate": 0.0}
    assert Qgrams(keys="bands").resolved()["scheme"] == "bands"


def versions(count: int, seed: int, words: int = 120) -> list[dict[str, str]]:
    """Texts in few words, every third with some words of it replaced, by unlike shares."""
    rng = np.random.default_rng(seed)
    known = np.array([f"{a}{b}{c}" for a in "bdfgk" for b in "aeio" for c in ("n", "rst", "l")])
    made: list[list[str]] = []
    for i in range(count):
        made.append(list(rng.choice(known, words)))
        if i % 3 == 2:
            made[i] = list(made[i - 1])
            for place in rng.integers(0, words, i % 40):
                made[i][place] = str(rng.choice(known))
    return [{"text": " ".join(w), "source": str(i // 3 % 2)} for i, w in enumerate(made)]


def scores(result: Result) -> dict[tuple[str, str], float]:
    return {(pair["a"], pair["b"]): pair["score"] for pair in result.pairs.to_pylist()}


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
@pytest.mark.parametrize("within", [None, "source"])
def test_paths_find_what_the_complete_keys_find(threshold: float, within: str | None) -> None:
    """At the stated miss rate, one of the pairs may be lost once in hundreds of such tests."""
    documents = versions(600, 3)
    found = [
        scores(nd.find(documents, method=Qgrams(threshold=threshold, keys=keys), within=within))
        for keys in ("auto", "prefix")
    ]
    assert found[0] == found[1]
    assert len(found[0]) > 50


def test_paths_are_the_same_in_any_memory_and_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    documents = versions(400, 4)
    usual = nd.find(documents, method="qgrams", workers=1).decisions
    monkeypatch.setattr(paths, "BLOCK_FEATURES", 5000)
    monkeypatch.setattr(paths, "PART_PATHS", 500)
    for memory, workers in (("1MB", 3), ("1GB", 2)):
        assert (
            nd.find(documents, method="qgrams", memory=memory, workers=workers).decisions == usual
        )


def test_unlike_documents_of_one_language_are_seldom_scored() -> None:
    documents = versions(3000, 5)  # in 60 words: any two share a third of their q-grams or more
    result = nd.find(documents, method="qgrams")
    assert result.info["candidates"] <= 15 * len(documents)  # of 4.5 M pairs


def test_a_crowd_of_versions_stays_linear() -> None:
    rng = np.random.default_rng(6)
    text = versions(1, 7, words=300)[0]["text"]
    texts = []
    for i in range(5000):
        place = int(rng.integers(0, len(text)))
        texts.append(f"{text[:place]} {i} {text[place:]}")
    result = nd.dedup(texts, method="qgrams")
    assert result.counts.kept == 1
    assert result.info["candidates"] <= 30 * len(texts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"q": 0},
        {"q": 33},
        {"min_chars": -1},
        {"threshold": 0},
        {"keys": "lsh"},
        {"keys": "bands", "threshold": 0.2},
        {"permutations": 4},
        {"miss_rate_limit": 0},
        {"text": Text(stop_words="english")},
        {"text": Text(stem="english")},
    ],
)
def test_wrong_parameters_are_explained(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"Hint: |expected"):
        Qgrams(**wrong)


# A change is a change of the format: see tests/methods/test_shingles.py.
GOLDEN_TEXT = "Größe & café: the ﬁrst naïve Ⅷ test, 2024! 東京都は日本の首都である。 Москва 😀"
GOLDEN = {
    "features": [137128481, 369822738, 419624956],
    "band keys": [17378330647507206352, 1397437895999753421],
    "prefix keys": [14259479613132003630, 11340504387516323378],
}


def test_golden_vectors() -> None:
    bands = Qgrams().prepare(batch([GOLDEN_TEXT]))
    prefix = Qgrams(keys="prefix").prepare(batch([GOLDEN_TEXT]))
    assert {
        "features": bands.evidence[0][:3].tolist(),
        "band keys": bands.keys[0][:2].tolist(),
        "prefix keys": prefix.keys[0][:2].tolist(),
    } == GOLDEN
