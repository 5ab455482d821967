"""Chunks of a text are the text, cut before words."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neardup.methods.semantic import chunks
from neardup.schema import Ragged
from neardup.testing import HOSTILE
from neardup.text.words import words

TEXT = st.text(st.sampled_from("ab cé.\n日本語ไทย😀e\u0301ﬁ"), max_size=60)


@given(st.lists(TEXT, max_size=5), st.integers(0, 7))
def test_joined_they_are_the_text(texts: list[str], length: int) -> None:
    cut = chunks(Ragged.of_texts(texts), length)
    assert len(cut.offsets) == len(texts) + 1
    for text, (a, b) in zip(texts, pairwise(cut.offsets.tolist()), strict=True):
        assert "".join(cut.texts[a:b]) == text
        assert cut.words[a:b].sum() == len(words(text))
        assert b - a == (max(-(-len(words(text)) // length), 1) if length else 1)
        assert (cut.words[a : b - 1] == length).all()


def test_hostile_texts_are_cut_too() -> None:
    cut = chunks(Ragged.of_texts(HOSTILE), 4)
    assert "".join(cut.texts) == "".join(HOSTILE)
