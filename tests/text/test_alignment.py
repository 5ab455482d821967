"""Passages of two texts: what they cover, and how they read."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.text.alignment import DIFFERS, MOVED, SHARED, Alignment, align
from neardup.text.words import words
from reference import alignment as reference
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


@SETTINGS
@given(long_texts, long_texts)
def test_short_texts_share_as_many_words_as_can_be(a: str, b: str) -> None:
    shared = sum(passage.words[0] for passage in align(a, b, by_chance=True).shared)
    assert shared == reference.longest_common(words(a), words(b))


def test_an_insertion_that_meets_another_becomes_one_with_it() -> None:
    a = "In the forties it was used by Richard Bellman. The word has no meaning here."
    b = a.replace(" The", " It describes how Richard Bellman would do it today, so they say. The")
    assert len(align(a, b).differing) == 1


def test_words_shared_by_chance_are_told_if_asked_for() -> None:
    a = "the cat sat on the mat and looked at all of the birds that went by in the garden today"
    b = "of all things the mayor had in mind the worst was to be seen by a man he knew at night"
    assert align(a, b).shared == ()
    assert len(align(a, b, by_chance=True).shared) > 3


def long_text() -> str:
    """10 MB on one line; made when a test runs, not in each process that looks for tests."""
    return " ".join(f"w{i * i % 99_991}" for i in range(1_500_000))


@pytest.mark.parametrize(
    ("pair", "least"),
    [
        (lambda: (a := long_text(), a.replace("77 ", ". ").upper()), 1_400_000),
        (lambda: (a := long_text(), a.replace(" ", ". ").replace("w", "v")), 0),
        (lambda: ("word " * 2_000_000, "Word, " * 1_500_000), 1_500_000),
        (lambda: ("汉字文本 " * 500_000, "一二" + "汉字文本。" * 490_000 + "三四"), 1_400_000),
        (lambda: ("x" * 10_000_000, "x" * 9_999_999), 0),
        (lambda: ("a\n" * 5_000_000, "\n\n" * 5_000_000), 0),
    ],
    ids=["edited", "unlike", "one word", "chinese", "long words", "lines"],
)
def test_ten_megabytes(pair: Callable[[], tuple[str, str]], least: int) -> None:
    a, b = pair()
    found = align(a, b)
    assert_sound(a, b, found)
    assert sum(passage.words[0] for passage in found.shared) >= least
