"""Two texts side by side: which passages they share, which moved, and where they differ.

Words are compared as the methods see them (normalised, stop words left out, stems), while spans
point at the text as it was written. Every word of either text lies in exactly one passage of its
side, and the spans of a side never overlap. Texts of up to 1,024 words get a longest common
subsequence; longer ones may be cut first at runs of words that are unique in both. Time and memory
are linear in the words, at most some 2,048 cells of one bit a word, however alike, unlike or
repetitive the texts are (``native/text/matches.hpp``). Texts of 4 GiB are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.schema import Array, Ragged
from neardup.text.alignments import HOW, Alignments, align_pairs
from neardup.text.options import Text
from neardup.text.words import buffers

__all__ = [
    "DIFFERS",
    "MOVED",
    "SHARED",
    "Alignment",
    "Alignments",
    "Passage",
    "Span",
    "align",
    "align_pairs",
]

SHARED, MOVED, DIFFERS = HOW


class Span(NamedTuple):
    """``text[begin:end]``, in characters of the original text."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words. ``how``: "shared", "moved" (shared, but in another order) or "differs".

    Where words differ one side may be empty; its span then says where the others would stand.
    ``words`` counts them on each side.
    """

    how: str
    a: Span
    b: Span
    words: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Alignment:
    """``passages`` in the reading order of ``a``; what only ``b`` has stands where ``b`` has it.

    A moved passage stands where ``a`` has it. ``words`` counts those of each text. ``whole`` is
    False where a stretch was too long and too repetitive to be aligned as a whole: more may be
    shared there than is said.
    """

    passages: tuple[Passage, ...]
    words: tuple[int, int]
    whole: bool

    @property
    def shared(self) -> tuple[Passage, ...]:
        return self._which(SHARED)

    @property
    def moved(self) -> tuple[Passage, ...]:
        return self._which(MOVED)

    @property
    def differing(self) -> tuple[Passage, ...]:
        return self._which(DIFFERS)

    def _which(self, how: str) -> tuple[Passage, ...]:
        return tuple(passage for passage in self.passages if passage.how == how)


def align(a: str, b: str, options: Text | None = None, *, by_chance: bool = False) -> Alignment:
    """All words of both texts, cut into passages.

    Unlike texts still have many words in the same order, one here and one there. Such matches
    count as differing, unless ``by_chance``.
    """
    texts = Ragged(*buffers([a, b]))
    left, right = np.array([0]), np.array([1])
    found = align_pairs(texts, left, right, options, by_chance=by_chance)
    spans = _spans(a, texts[0], found.a_begin, found.a_end)
    others = _spans(b, texts[1], found.b_begin, found.b_end)
    words = zip(found.a_words.tolist(), found.b_words.tolist(), strict=True)
    rows = zip(found.how.tolist(), spans, others, words, strict=True)
    passages = tuple(Passage(HOW[how], x, y, count) for how, x, y, count in rows)
    return Alignment(passages, _totals(found), bool(found.whole[0]))


def _totals(found: Alignments) -> tuple[int, int]:
    return int(found.words_a[0]), int(found.words_b[0])


def _spans(text: str, encoded: Array, begins: Array, ends: Array) -> list[Span]:
    if not text.isascii():
        # Characters before each byte: all but the bytes that continue one.
        before = np.concatenate([[0], np.cumsum((encoded & 0xC0) != 0x80)])
        begins, ends = before[begins], before[ends]
    return [Span(*span) for span in zip(begins.tolist(), ends.tolist(), strict=True)]
