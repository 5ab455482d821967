"""Passages of two texts: what they cover, and how they read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.text.alignment import DIFFERS, MOVED, SHARED, Alignment, align
from neardup.text.words import words
from text.test_words import SETTINGS, long_texts

SENTENCES = [
    "The quick brown fox jumps over the lazy dog again.",
    "Nobody saw it coming, not even the ﬁve oﬃcers at the café.",
    "Prices rose by 3.5 % in May 2024.",
    "It is late.",
    "\n\n",
    "Über die Straße ging niemand, und das war auch gut so, sagte sie.",
]


def read(a: str, b: str, alignment: Alignment) -> list[tuple[str, str, str]]:
    return [(p.how, a[slice(*p.a)], b[slice(*p.b)]) for p in alignment.passages]


def assert_sound(a: str, b: str, found: Alignment) -> None:
    assert found.words == (len(words(a)), len(words(b)))
    for side in (0, 1):
        assert sum(passage.words[side] for passage in found.passages) == found.words[side]
    in_order = [p.b for p in found.passages if p.how != MOVED]
    for spans in ([p.a for p in found.passages], in_order, sorted(p.b for p in found.passages)):
        places = [at for span in spans for at in span]
        assert places == sorted(places)
    for passage in (*found.shared, *found.moved):
        assert passage.words[0] == passage.words[1] > 0


@SETTINGS
@given(long_texts, long_texts)
def test_every_word_is_in_one_passage(a: str, b: str) -> None:
    assert_sound(a, b, align(a, b))
    assert_sound(a, b, align(a, b, by_chance=True))


@given(
    st.lists(st.sampled_from(SENTENCES), max_size=12),
    st.lists(st.sampled_from(SENTENCES), max_size=12),
)
def test_passages_that_are_shared_read_alike(a: list[str], b: list[str]) -> None:
    one, other = " ".join(a), "\n".join(b).upper()
    found = align(one, other)
    assert_sound(one, other, found)
    for how, x, y in read(one, other, found):
        assert (words(x) == words(y)) == (how != DIFFERS)


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


def test_an_insertion_begins_where_its_sentence_does() -> None:
    a = "The cat sat. The end."
    b = "The cat sat. The dog ran. The end."
    assert read(a, b, align(a, b)) == [
        (SHARED, "The cat sat", "The cat sat"),
        (DIFFERS, "", "The dog ran"),
        (SHARED, "The end", "The end"),
    ]


def test_a_moved_sentence() -> None:
    first, second = SENTENCES[0], SENTENCES[5]
    rest = " ".join(f"word{i}" for i in range(40))
    found = align(f"{first} {rest} {second}", f"{second} {rest} {first}")
    assert [(p.how, p.words) for p in found.passages] == [
        (MOVED, (10, 10)),
        (SHARED, (40, 40)),
        (MOVED, (13, 13)),
    ]
