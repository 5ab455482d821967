"""Where each word is in the text as it was written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.text.text_options import Text
from neardup.text.words import buffers, word_map, words
from reference import text as reference
from text.test_words import SETTINGS, hashes, long_texts, option, twin_options


def spans(text: str, options: Text | None = None) -> list[tuple[int, int]]:
    """In characters; refuses spans that begin or end inside of one."""
    options = options or Text()
    values, offsets = buffers([text])
    given = values, offsets, options.native(), word_map(values, offsets, options)
    _, begins, ends, _ = _native.word_spans(*given)
    starts = {0: 0}
    for at, character in enumerate(text):
        size = len(character.encode("utf-8", "surrogatepass"))
        starts[max(starts) + size] = at + 1
    return [(starts[a], starts[b]) for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]


def slices(text: str, options: Text | None = None) -> list[str]:
    return [text[a:b] for a, b in spans(text, options)]


@SETTINGS
@given(long_texts, twin_options)
def test_a_word_is_found_where_its_span_says(text: str, twin: reference.Options) -> None:
    options = option(twin)
    found, places = words(text, options), spans(text, options)
    assert len(found) == len(places)
    for word, (a, b) in zip(found, places, strict=True):
        assert a < b
        assert word in words(text[a:b], options)
    assert places == sorted(places)
    assert [b for _, b in places] == sorted(b for _, b in places)


@SETTINGS
@given(long_texts, twin_options)
def test_hashes_are_those_without_spans(text: str, twin: reference.Options) -> None:
    options = option(twin)
    assert _native.word_spans(*buffers([text]), options.native())[0].tolist() == hashes(
        text, options
    )


@given(st.lists(long_texts, max_size=5))
def test_places_are_counted_in_each_text(texts: list[str]) -> None:
    found = _native.word_spans(*buffers(texts), Text().native())
    alone = [_native.word_spans(*buffers([text]), Text().native()) for text in texts]
    for column in range(3):
        joined = [value for one in alone for value in one[column].tolist()]
        assert found[column].tolist() == joined


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("one", ["one"]),
        ("\ufeffThe ﬁne\r\nCafe\u0301, (x\u00adyz)\u200b!", "The|ﬁne|Cafe\u0301|x\u00adyz"),
        ("Ａ１ ½ 😀 e\u0323\u0301ê", "Ａ１|½|½|e\u0323\u0301ê"),
        ("日本語 語。ไทย", "日本|本語|語|ไท|ทย"),
        ("a ﷺ b", "a|ﷺ|ﷺ|ﷺ|ﷺ|b"),
        ("a=\u0338b\ud800c", "a|b|c"),
        ("x" * 5000 + " é", "x" * 5000 + "|é"),
    ],
)
def test_examples(text: str, expected: str | list[str]) -> None:
    assert slices(text) == (expected.split("|") if isinstance(expected, str) else expected)


def test_words_left_out_have_no_span() -> None:
    assert slices("The dogs of war", Text(stop_words="english", stem="english")) == ["dogs", "war"]


def test_deleted_characters_stay_in_the_span() -> None:
    options = Text(punctuation="remove", digits="drop")
    assert slices("don't (co-operate) a1b2", options) == ["don't", "co-operate", "a1b"]
