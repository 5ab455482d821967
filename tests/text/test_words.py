"""Words, normal forms and hashes against the slow twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.text.text_options import CHOICES, Text
from neardup.text.words import buffers, normal_form, words
from reference import text as reference
from repeats import examples

KNOWN = frozenset(reference.KNOWN)
SETTINGS = examples(100)

# Characters where normalisation, words or the paths of the kernel differ, often enough to meet.
SHORT = "aZ09 .-'\n_$́̈́̓"
TRICKY = (
    "\u0345\u1e9e\u03f4\u2126\u212a\u0130ıßﬁ\ufdfaﷺǅÅÅÉé\u0301\u0323\u0307\u0338\u0327\u0488"
    "\u00ad\u200d\u200c\ufeff\ufe0f\u034f\u3164\u1160\u115f한\u1112\u1161\u11ab각"
    "中国々〇〆ーがカ\u3099\u309aｶﾞ゛ไทยกำ๑์ลາ្កဿ\u1025\u102e\u0f40\u0f71\u0f72ꦗ\ua9cfᬅ\u1b35"
    "क्षि\u09c7\u09be\u0b48ೋ\u0cc0\u07a6ئ\u0627\u0654٣१½²Ⅷ①Ａ１！…«»¡–—’。、\u2028\u1680\u0085\xa0\u3000"
    "\ufffd\U0001d400\U0001f600\U00016fe4\U000e0100"
)
characters = st.one_of(
    st.sampled_from(SHORT), st.sampled_from(TRICKY), st.sampled_from(reference.KNOWN)
)
texts = st.text(characters, max_size=40)
long_texts = st.lists(
    st.one_of(st.sampled_from(["The quick brown fox ", "x" * 63, "über "]), texts), max_size=12
).map("".join)
twin_options = st.builds(
    reference.Options, **{name: st.sampled_from(choices) for name, choices in CHOICES.items()}
)


def option(twin: reference.Options) -> Text:
    return Text(twin.case, twin.digits, twin.punctuation, twin.diacritics)


def hashes(text: str, options: Text) -> list[int]:
    found: list[int] = _native.word_hashes(*buffers([text]), options.native())[0].tolist()
    return found


def hashes_of(found: list[str]) -> list[int]:
    listed: list[int] = _native.hash_words(*buffers(found)).tolist()
    return listed


@SETTINGS
@given(long_texts, twin_options)
def test_words_equal_the_twin(text: str, twin: reference.Options) -> None:
    assert words(text, option(twin)) == reference.words(text, twin)


@SETTINGS
@given(long_texts, twin_options)
def test_normal_form_equals_the_twin(text: str, twin: reference.Options) -> None:
    assert normal_form(text, option(twin)) == reference.normal_form(text, twin)


@SETTINGS
@given(long_texts, twin_options)
def test_hashes_are_the_hashes_of_the_words(text: str, twin: reference.Options) -> None:
    assert hashes(text, option(twin)) == hashes_of(reference.words(text, twin))


@pytest.mark.parametrize("case", CHOICES["case"])
@pytest.mark.parametrize("diacritics", CHOICES["diacritics"])
def test_every_character_equals_the_twin(case: str, diacritics: str) -> None:
    twin = reference.Options(case=case, diacritics=diacritics)
    surrounded = [f"e{c}\u0323 中{c}a {c}\u0338" for c in reference.KNOWN]
    values, offsets = _native.normal_forms(*buffers(surrounded), option(twin).native())
    joined, ends = bytes(values), offsets.tolist()
    for i, text in enumerate(surrounded):
        assert joined[ends[i] : ends[i + 1]].decode() == reference.normal_form(text, twin), text


@SETTINGS
@given(st.text(st.characters(max_codepoint=127), max_size=300), twin_options)
def test_ascii_is_the_same_beside_other_characters(text: str, twin: reference.Options) -> None:
    options = option(twin)
    assert words(f"ж {text} ж", options) == ["ж", *words(text, options), "ж"]
    assert words("\u200b".join(text), options) == words(text, options)


@SETTINGS
@given(st.binary(max_size=200), twin_options)
def test_any_bytes_are_safe(data: bytes, twin: reference.Options) -> None:
    values, offsets = np.frombuffer(data, np.uint8), np.array([0, len(data)])
    formed = bytes(_native.normal_forms(values, offsets, option(twin).native())[0]).decode()
    text = reference.decode(data)
    if KNOWN.issuperset(text):
        assert formed == reference.normal_form(text, twin)


@pytest.mark.parametrize(
    "data",
    [b"\xc3", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"],
)
def test_invalid_bytes_separate(data: bytes) -> None:
    whole = b"one" + data + b"two"
    values, ends, _ = _native.words(
        np.frombuffer(whole, np.uint8), np.array([0, len(whole)]), Text().native()
    )
    assert bytes(values) == b"onetwo"
    assert ends.tolist() == [0, 3, 6]


@SETTINGS
@given(st.lists(texts, max_size=6))
def test_documents_do_not_touch(batch: list[str]) -> None:
    values, offsets = _native.word_hashes(*buffers(batch), Text().native())
    for i, text in enumerate(batch):
        assert values[offsets[i] : offsets[i + 1]].tolist() == hashes(text, Text())


@SETTINGS
@given(st.lists(texts, max_size=6))
def test_unique_words(batch: list[str]) -> None:
    values, offsets, found = _native.unique_words(*buffers(batch), Text().native())
    expected = list(dict.fromkeys(word for text in batch for word in words(text)))
    ends = offsets.tolist()
    joined = bytes(values)
    assert [joined[a:b].decode() for a, b in pairwise(ends)] == expected
    assert found.tolist() == hashes_of(expected)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 2047, 2048, 2049, 9000])
def test_word_lengths_around_every_boundary(size: int) -> None:
    word = ("Abcdefghij" * 1000)[:size]
    for before in (0, 1, 62, 63, 64, 2040):
        text = " " * before + word + " end"
        assert words(text) == ([word.lower()] if size else []) + ["end"]
        assert hashes(text, Text()) == hashes_of(words(text))


def test_long_runs_of_marks_take_linear_time() -> None:
    n = 500_000
    assert words("a" + "\u0301\u0323" * n) == ["ạ" + "\u0323" * (n - 1) + "\u0301" * n]
