"""Passages of two texts: what they cover, and how they read."""

from __future__ import annotations

import pytest
from hypothesis import given

from neardup.text.alignment import DIFFERS, SHARED, Alignment, align
from neardup.text.words import words
from text.test_words import SETTINGS, long_texts


def read(a: str, b: str, alignment: Alignment) -> list[tuple[str, str, str]]:
    return [(p.how, a[slice(*p.a)], b[slice(*p.b)]) for p in alignment.passages]


@SETTINGS
@given(long_texts, long_texts)
def test_every_word_is_in_one_passage(a: str, b: str) -> None:
    found = align(a, b)
    assert found.words == (len(words(a)), len(words(b)))
    for side in (0, 1):
        assert sum(passage.words[side] for passage in found.passages) == found.words[side]
    for spans in ([p.a for p in found.passages], [p.b for p in found.passages]):
        places = [at for span in spans for at in span]
        assert places == sorted(places)


@SETTINGS
@given(long_texts)
def test_a_text_and_itself_share_one_passage(text: str) -> None:
    found = align(text, text)
    assert len(found.passages) == len(found.shared) == (1 if words(text) else 0)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("", "", []),
        ("one two", "", [(DIFFERS, "one two", "")]),
        (
            "The quick brown Fox.",
            "the QUICK red fox!",
            [
                (SHARED, "The quick", "the QUICK"),
                (DIFFERS, "brown", "red"),
                (SHARED, "Fox", "fox"),
            ],
        ),
        (
            "我们爱北京天安门",
            "我们很爱北京天安门",
            [
                (SHARED, "我们", "我们"),
                (DIFFERS, "", "很"),
                (SHARED, "爱北京天安门", "爱北京天安门"),
            ],
        ),
    ],
)
def test_examples(a: str, b: str, expected: list[tuple[str, str, str]]) -> None:
    assert read(a, b, align(a, b)) == expected
