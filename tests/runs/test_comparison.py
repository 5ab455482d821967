"""Measures on the papers' own numbers; kinds, passages and verdicts of two texts."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.features.measures import containment, resemblance
from neardup.features.qgrams import doc_q
from neardup.features.vectors import Products
from neardup.runs import comparison
from neardup.runs.comparison import Comparison, compare
from neardup.text.alignment import Passage
from neardup.text.words import words
from neardup.wording import ACTING

ROSE = ("a rose is red a rose is white", "a rose is white a rose is red")
A = (
    "People rally on the sidewalk as legal arguments over the Patient Protection and Affordable "
    "Care Act take place at the Supreme Court."
)
B = A.replace("sidewalk", "pavement")


@pytest.mark.parametrize(("w", "r"), [(1, 1), (2, 4 / 6), (3, 3 / 7), (4, 2 / 8), (5, 0)])
def test_roses(w: int, r: float) -> None:
    assert resemblance(*ROSE, words=w) == r


def test_containment_of_roses() -> None:
    assert containment(*ROSE, words=4) == 2 / 5


@pytest.mark.parametrize(("w", "r"), [(5, 13 / 23), (3, 17 / 23)])
def test_sidewalk_and_pavement(w: int, r: float) -> None:
    assert resemblance(A, B, words=w) == r


def test_containment_has_a_direction() -> None:
    assert containment("a b c", "a b c d e", words=1) == 1
    assert containment("a b c d e", "a b c", words=1) == 3 / 5


def test_a_text_shorter_than_w_is_one_shingle() -> None:
    assert resemblance("a b c", "A, b, c!", words=5) == 1
    assert resemblance("a b c", "a b d", words=5) == 0


def test_no_words_share_nothing() -> None:
    assert resemblance("", "") == 0
    assert containment("", "a") == 0


def test_options_reach_the_measures() -> None:
    assert resemblance("page 12", "page 34", words=1, text=nd.Text(digits="mask")) == 1


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        (A, A, "identical"),
        (A, A.upper() + "!", "normalised"),
        (A, B, "revision"),
        ("", "", "identical"),
    ],
)
def test_kind(a: str, b: str, kind: str) -> None:
    assert compare(a, b).kind == kind


def test_the_direction_is_told() -> None:
    more = f"{A} A second sentence says what happened in the room afterwards."
    assert compare(A, more).direction == "a_in_b"
    assert "the second is in the first" in str(compare(more, A))


def said(compared: Comparison, passages: tuple[Passage, ...]) -> list[tuple[str, str]]:
    return [compared.texts_of(passage) for passage in passages]


def test_passages_are_as_they_were_written() -> None:
    compared = compare(A, B)
    assert said(compared, compared.differing) == [("sidewalk", "pavement")]
    assert said(compared, compared.shared)[0] == ("People rally on the",) * 2
    assert compared.edit_similarity == 21 / 22
    assert (compared.words, compared.characters) == ((22, 22), (132, 132))


def test_edits_of_long_texts_are_read_off_the_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = compare(A, B)
    monkeypatch.setattr(comparison, "MOST_WORDS", 21)
    bounded = compare(A, B)
    assert (exact.edits_exact, bounded.edits_exact) == (True, False)
    assert bounded.edit_similarity <= exact.edit_similarity
    assert "edits       at least 0.9545 of the words need none" in str(bounded)
    assert compare(A, A).edits_exact


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_bound_is_one(a: str, b: str) -> None:
    exact = compare(a, b)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "MOST_WORDS", 0)
        assert compare(a, b).edit_similarity <= exact.edit_similarity + 1e-12


@given(st.text(st.sampled_from("ab c.中文"), max_size=40), st.text(st.sampled_from("ab c.中文")))
def test_measures_are_those_of_the_slow_twins(a: str, b: str) -> None:
    measures = compare(a, b).measures
    assert measures.doc_q == doc_q(a, b, 4)
    x, y = Counter(words(a)), Counter(words(b))
    every = sorted({*x, *y})
    vectors = Products.of_vectors([x[word] for word in every], [y[word] for word in every])
    for name in ("cosine", "extended_jaccard", "dice", "euclidean"):
        assert getattr(measures, name) == pytest.approx(float(getattr(vectors, name)))


@pytest.mark.parametrize(
    ("method", "duplicate"),
    [
        ("shingles", False),
        (nd.Shingles(threshold=0.5), True),
        (nd.Shingles(words=1, measure="containment", threshold=0.95), True),
        ("exact", False),
    ],
)
def test_the_verdict_is_the_one_of_a_run(method: str | nd.Shingles, duplicate: bool) -> None:
    verdict = compare(A, B, method).verdict
    assert verdict is not None
    run = nd.dedup([A, B], method=method)
    assert verdict.duplicate == duplicate == (run.counts.duplicates == 1)
    if duplicate:
        assert verdict.score == pytest.approx(run.pairs["score"][0].as_py())


@pytest.mark.parametrize(
    ("a", "b"), [("one", "two"), ("one two", "One, two."), ("", ""), ("", "x")]
)
def test_the_verdict_on_short_texts_too(a: str, b: str) -> None:
    verdict = compare(a, b, "shingles").verdict
    assert verdict is not None
    assert verdict.duplicate == (nd.dedup([a, b]).counts.duplicates == 1)


def test_to_dict_is_json() -> None:
    found = json.loads(json.dumps(nd.compare(A, B, "shingles").to_dict()))
    assert found["passages"][1] == {
        "how": "differs",
        "a": {"begin": 20, "end": 28, "text": "sidewalk"},
        "b": {"begin": 20, "end": 28, "text": "pavement"},
        "words": [1, 1],
    }
    assert found["measures"]["shingles"][0] == {
        "w": 1,
        "a": 20,
        "b": 20,
        "shared": 19,
        "resemblance": 19 / 21,
        "a_in_b": 0.95,
        "b_in_a": 0.95,
    }
    assert found["verdict"]["decided"] == "score"


@given(st.text(max_size=80), st.text(max_size=80))
def test_positions_are_those_of_the_original(a: str, b: str) -> None:
    for passage in compare(a, b).to_dict()["passages"]:
        for name, text in (("a", a), ("b", b)):
            side = passage[name]
            assert text[side["begin"] : side["end"]] == side["text"]


def test_for_people() -> None:
    same = " ".join(f"w{i}" for i in range(90))
    lines = str(compare(same, "", "shingles")).splitlines()
    assert lines[0].startswith("kind        other (confidence 0.")
    assert lines[-1].startswith("1:1 - w0 w1")
    assert "w17 … 56 words … w74" in str(compare(same, same))


def test_what_acts_is_shown_and_does_not_act() -> None:
    hostile = "\x1b[2J\x00 \u202e word \ud800"
    compared = compare(hostile, f"{hostile} more", "shingles", names=("\x1b[31m", "<script>"))
    for written in (str(compared), compared.to_html()):
        assert "␛[2J␀ ⟨202E⟩ word ⟨D800⟩" in written
        assert not ACTING.search(written)
    assert "<script" not in compared.to_html()


@pytest.mark.parametrize(
    ("a", "b", "decided"),
    [
        (A, A.upper(), "equal"),
        (A, B, "score"),
        ("one two", "three", "too short"),
    ],
)
def test_what_decided(a: str, b: str, decided: str) -> None:
    verdict = compare(a, b, "shingles").verdict
    assert verdict is not None
    assert verdict.decided == decided
