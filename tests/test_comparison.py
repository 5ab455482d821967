"""Measures on the papers' own numbers; kinds, passages and verdicts of two texts."""

from __future__ import annotations

import json

import pytest

import neardup as nd
from neardup.comparison import compare
from neardup.features.measures import containment, resemblance
from neardup.text import edits
from neardup.text.edits import align, edit_similarity

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
    [(A, A, "identical"), (A, A.upper() + "!", "normalised"), (A, B, None), ("", "", "identical")],
)
def test_kind(a: str, b: str, kind: str | None) -> None:
    assert compare(a, b).kind == kind


def test_passages() -> None:
    compared = compare(A, B)
    assert compared.differing == ((("sidewalk",), ("pavement",)),)
    assert compared.shared is not None
    assert compared.shared[0].a == ("people", "rally", "on", "the")
    assert compared.edit_similarity == 21 / 22
    assert (compared.words, compared.characters) == ((22, 22), (132, 132))


def test_passages_hold_all_words() -> None:
    a, b = ["x", "a", "b", "c", "y", "d", "e"], ["a", "b", "z", "c", "d", "e", "f"]
    passages = align(a, b)
    assert [word for passage in passages for word in passage.a] == a
    assert [word for passage in passages for word in passage.b] == b
    assert [passage.shared for passage in passages] == [False, True] * 3 + [False]


def test_edit_similarity_of_nothing() -> None:
    assert edit_similarity([], []) == 1


def test_long_texts_are_not_aligned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edits, "MOST_WORDS", 21)
    compared = compare(A, B)
    assert (compared.edit_similarity, compared.passages, compared.shared) == (None, None, None)
    assert compared.note is not None
    assert compared.shingles[2].resemblance == 13 / 23
    json.dumps(compared.to_dict())


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
    said = json.loads(json.dumps(nd.compare(A, B, "shingles").to_dict()))
    assert said["differing"] == [["sidewalk", "pavement"]]
    assert said["shingles"][0] == {
        "w": 1,
        "a": 20,
        "b": 20,
        "shared": 19,
        "resemblance": 19 / 21,
        "a_in_b": 0.95,
        "b_in_a": 0.95,
    }


def test_for_people() -> None:
    said = str(compare(" ".join(f"w{i}" for i in range(60)), "", "shingles")).splitlines()
    assert said[0] == "kind        not classified"
    assert said[-1].startswith("- w0 w1")
    same = " ".join(f"w{i}" for i in range(60))
    assert "w7 … 44 words … w52" in str(compare(same, same))
