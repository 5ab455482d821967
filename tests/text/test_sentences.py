"""Sentences: examples of the rule, and that nothing is ever lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import Ragged
from neardup.text.words import sentences
from reference import sentences as twin

MARKS = st.sampled_from(
    [*'.!?…。！？।؟።．)"»”」 \t\n\r\v\u2028\u2029\u3000', "a", "7", "東", "é", "😀"]
)


@pytest.mark.parametrize(
    "expected",
    [
        [],
        ["one"],
        ["  "],
        ["One. ", "Two! ", "Three? ", "Four… ", "five"],
        ["Pi is 3.14 on example.org/a?b=c. ", "Yes"],
        ["He said “Go.” ", "She (who?) ", "went."],
        ["東京都は首都である。", "人口は？", "多い！」", "終わり"],
        ["राम घर गया। ", "सीता आई॥ ", "ठीक"],
        ["كيف الحال؟ ", "بخير"],
        ["A line\nthat goes on.\n", "Next"],
        ["A headline\n\n", "Text\r\nwrapped\r\n\r\n", "More\n \t\n", "End"],
        ["\n\n Leading space. ", "Then"],
        ["Page one\f", "page two\u2029", "three"],
        ["Dr. ", "Who?! ", "..."],
    ],
)
def test_examples(expected: list[str]) -> None:
    assert sentences("".join(expected)) == expected


@given(st.one_of(st.text(), st.lists(MARKS).map("".join)))
def test_joined_they_are_the_text(text: str) -> None:
    found = sentences(text)
    assert "".join(found) == text
    assert all(found)
    assert all(sentence.strip() for sentence in found[:-1])
    assert found == twin.sentences(text)


@given(st.lists(st.lists(MARKS).map("".join), max_size=5))
def test_batches_are_cut_text_by_text(texts: list[str]) -> None:
    given_texts = Ragged.of_texts(texts)
    ends, of_texts = _native.sentences(given_texts.values, given_texts.offsets)
    assert of_texts.tolist()[1:] == [
        sum(len(sentences(t)) for t in texts[: i + 1]) for i in range(len(texts))
    ]
    assert ends[-1] == sum(len(t.encode()) for t in texts)


@given(st.binary(max_size=30))
def test_any_bytes_are_safe(raw: bytes) -> None:
    ends, _ = _native.sentences(*_bytes(raw))
    assert ends.tolist() == sorted(set(ends.tolist()))
    assert ends[-1] == len(raw)


def _bytes(raw: bytes):  # type: ignore[no-untyped-def]
    import numpy as np

    return np.frombuffer(raw, np.uint8), np.array([0, len(raw)], np.int64)
