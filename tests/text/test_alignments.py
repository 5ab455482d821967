"""Many pairs at once: the columns, the edges of passages, and the same result however it is run."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import _native
from neardup.schema import Ragged
from neardup.text import alignment
from neardup.text.alignment import (
    BEGINS_PARAGRAPH,
    BEGINS_SENTENCE,
    ENDS_PARAGRAPH,
    ENDS_SENTENCE,
    HOW,
    ONLY_NUMBERS,
    Alignments,
    align,
    align_pairs,
)
from neardup.text.text_options import Text
from neardup.text.words import buffers
from text.test_words import long_texts

WHOLE_SENTENCE = BEGINS_SENTENCE | ENDS_SENTENCE
WHOLE_PARAGRAPH = WHOLE_SENTENCE | BEGINS_PARAGRAPH | ENDS_PARAGRAPH


def aligned(a: str, b: str, options: Text | None = None) -> Alignments:
    return align_pairs(Ragged(*buffers([a, b])), np.array([0]), np.array([1]), options)


def columns(found: Alignments) -> dict[str, list[int]]:
    return {field.name: getattr(found, field.name).tolist() for field in fields(Alignments)}


@given(st.lists(long_texts, min_size=1, max_size=5), st.data())
def test_pairs_are_aligned_as_alone(texts: list[str], data: st.DataObject) -> None:
    ids = st.lists(st.integers(0, len(texts) - 1), min_size=6, max_size=6)
    left, right = data.draw(ids), data.draw(ids)
    found = align_pairs(Ragged(*buffers(texts)), np.array(left), np.array(right))
    assert len(found) == 6
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        rows = slice(found.offsets[i], found.offsets[i + 1])
        a, b = (texts[at].encode("utf-8", "surrogatepass") for at in (x, y))
        spans = zip(found.a_begin[rows], found.a_end[rows], strict=True)
        others = zip(found.b_begin[rows], found.b_end[rows], strict=True)
        alone = align(texts[x], texts[y]).passages
        assert [HOW[how] for how in found.how[rows]] == [p.how for p in alone]
        assert [a[m:n].decode("utf-8", "surrogatepass") for m, n in spans] == [
            texts[x][slice(*p.a)] for p in alone
        ]
        assert [b[m:n].decode("utf-8", "surrogatepass") for m, n in others] == [
            texts[y][slice(*p.b)] for p in alone
        ]


def test_no_pairs() -> None:
    found = align_pairs(Ragged.of_texts([]), np.empty(0, np.int64), np.empty(0, np.int64))
    assert len(found) == len(found.pairs) == len(found.how) == 0


def test_threads_chunks_and_instructions_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sentences = [f"Sentence {i} says that {i * i} is more than {i}." for i in range(60)]
    texts = [" ".join(sentences[i:] + sentences[: i // 2]) + " ünd 日本語" for i in range(40)]
    left, right = (ids.ravel() for ids in np.mgrid[:40, :40])
    given = Ragged.of_texts(texts), left, right
    expected = columns(align_pairs(*given))
    monkeypatch.setattr(alignment, "_CHUNK_BYTES", 5000)
    assert columns(align_pairs(*given, workers=3)) == expected
    for name in _native.INSTRUCTIONS:
        _native.use_instructions(name)
        assert columns(align_pairs(*given)) == expected
    by_pair = np.bincount(align_pairs(*given).pairs, expected["a_words"])
    assert by_pair.tolist() == expected["words_a"]


@pytest.mark.parametrize(
    ("a", "b", "edges"),
    [
        ("One two. Three four. Five six.", "One two. Five six.", WHOLE_SENTENCE),
        ("One two.\n\nThree four.\n\nFive six.", "One two.\n\nFive six.", WHOLE_PARAGRAPH),
        ("One two\nThree four\nFive six", "One two\nFive six", WHOLE_PARAGRAPH),
        ("One two\nthree four\nfive six.\n\nSeven", "One two\nfive six.\n\nSeven", 0),
        ("One two. Three four five six", "One two. five six", BEGINS_SENTENCE),
        ("One two. Three four. Five six", "One two. Three Five six", ENDS_SENTENCE),
        ("One two 3.14 five six", "One two five six", ONLY_NUMBERS),
        ("One two Monday, 12th May 2024, five six", "One two five six", ONLY_NUMBERS),
        ("One two am Mittwoch five six", "One two five six", ONLY_NUMBERS),
        ("One two 5 apples five six", "One two five six", 0),
        ("1999", "x", WHOLE_PARAGRAPH | ONLY_NUMBERS),
        ("本日は 2024年5月3日 です", "本日は です", ONLY_NUMBERS),
        ("一二。三四。五六", "一二。五六", WHOLE_SENTENCE),
    ],
)
def test_edges(a: str, b: str, edges: int) -> None:
    for found, column in ((aligned(a, b), "a_edges"), (aligned(b, a), "b_edges")):
        differing = found.how == HOW.index("differs")
        assert getattr(found, column)[differing].tolist() == [edges]


def test_date_words_follow_the_options() -> None:
    options = Text(case="keep", stem="english")
    found = aligned("Seen on Monday in London", "Seen on in London", options)
    assert found.a_edges[found.how == HOW.index("differs")].tolist() == [ONLY_NUMBERS]


@pytest.mark.parametrize(("left", "right"), [([2], [0]), ([-1], [0]), ([0, 1], [0])])
def test_unknown_texts_are_refused(left: list[int], right: list[int]) -> None:
    with pytest.raises(ValueError, match="left and right"):
        _native.align_pairs(*buffers(["a", "b"]), np.array(left), np.array(right), Text().native())
