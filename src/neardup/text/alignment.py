"""Two texts side by side: which passages they share, which moved, and where they differ.

Words are compared as the methods see them (normalised, stop words left out, stems), while spans
point at the text as it was written. Every word of either text lies in exactly one passage of its
side, and the spans of a side never overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.schema import Array
from neardup.text.options import Text
from neardup.text.words import buffers, word_map

SHARED, MOVED, DIFFERS = "shared", "moved", "differs"
MOST_WORDS = 20_000  # beyond, only what both texts begin and end with is compared


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

    ``words`` counts those of each text. ``whole`` is False where the bound on time was met and
    some stretch was left as "differs" without looking further.
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


def align(a: str, b: str, options: Text | None = None) -> Alignment:
    """All words of both texts, in order, cut into passages."""
    first, second = _words(a, options or Text()), _words(b, options or Text())
    counts = len(first.hashes), len(second.hashes)
    whole = max(counts) <= MOST_WORDS
    passages, ends = [], [0, 0]
    for same, (i, j), (k, m) in _stretches(first.hashes.tolist(), second.hashes.tolist(), whole):
        spans = first.span(i, j, ends[0], same), second.span(k, m, ends[1], same)
        ends = [spans[0].end, spans[1].end]
        passages.append(Passage(SHARED if same else DIFFERS, *spans, (j - i, m - k)))
    return Alignment(tuple(passages), counts, whole)


@dataclass(frozen=True)
class _Words:
    """The words of a text and where they are in it."""

    hashes: Array
    begins: Array
    ends: Array

    def span(self, i: int, j: int, after: int, shared: bool) -> Span:
        """Of the words i … j − 1. Pairs of characters (Chinese) overlap: shared ones take both."""
        if i == j:
            return Span(after, after)
        begin = max(int(self.begins[i]), after)
        end = int(self.ends[j - 1])
        if not shared and j < len(self.begins):
            end = min(end, int(self.begins[j]))
        return Span(begin, max(begin, end))


def _words(text: str, options: Text) -> _Words:
    values, offsets = buffers([text])
    found = _native.word_spans(
        values, offsets, options.native(), word_map(values, offsets, options)
    )
    hashes, begins, ends, _ = found
    if not text.isascii():
        # Characters before each byte: all but the bytes that continue one.
        before = np.concatenate([[0], np.cumsum((values & 0xC0) != 0x80)])
        begins, ends = before[begins], before[ends]
    return _Words(hashes, begins, ends)


def _stretches(
    a: list[int], b: list[int], whole: bool
) -> Iterator[tuple[bool, tuple[int, int], tuple[int, int]]]:
    """(equal, words of a, words of b), in order; equal and differing ones take turns."""
    head = _equal_words(a, b)
    tail = _equal_words(a[head:][::-1], b[head:][::-1])
    steps = [(True, (0, head), (0, head))]
    steps += _steps(a[head : len(a) - tail], b[head : len(b) - tail], head, whole)
    steps.append((True, (len(a) - tail, len(a)), (len(b) - tail, len(b))))
    joined: list[tuple[bool, tuple[int, int], tuple[int, int]]] = []
    for same, x, y in steps:
        if joined and joined[-1][0] == same:
            _, before_x, before_y = joined.pop()
            x, y = (before_x[0], x[1]), (before_y[0], y[1])
        if x[0] < x[1] or y[0] < y[1]:
            joined.append((same, x, y))
    yield from joined


def _equal_words(a: list[int], b: list[int]) -> int:
    unequal = (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y)
    return next(unequal, min(len(a), len(b)))


def _steps(
    a: list[int], b: list[int], at: int, whole: bool
) -> list[tuple[bool, tuple[int, int], tuple[int, int]]]:
    if not whole:
        return [(False, (at, at + len(a)), (at, at + len(b)))]
    from rapidfuzz.distance import Indel

    return [
        (step.tag == "equal", (at + i, at + j), (at + k, at + m))
        for step in Indel.opcodes(a, b)
        for i, j, k, m in [(step.src_start, step.src_end, step.dest_start, step.dest_end)]
    ]
