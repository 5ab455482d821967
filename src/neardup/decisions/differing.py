"""The differing passages of two texts, each in the class that a reader would put it in.

Both sides of a passage, or the one that is there, are looked at as they were written: whether only
numbers changed, or letters as a scanner misreads them, or where lines end; whether what one text
alone has is page furniture, or stands at an end, is whole paragraphs or inside of them. A change
that is made again and again counts once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from rapidfuzz.distance import Indel

from neardup.decisions.written import (
    Side,
    begins_line,
    begins_paragraph,
    ends_line,
    ends_paragraph,
    letters,
    lines,
    more_characters,
    no_digits,
    whole_paragraphs,
)
from neardup.text.alignments import BEGINS_SENTENCE, ENDS_SENTENCE, ONLY_NUMBERS

BOTH = ("replaced", "numbers", "misread", "rebroken")
ONE = ("furniture", "cut", "end_sentences", "end_paragraphs", "paragraphs", "inside")

BEGINNING, END, WITHIN = range(3)  # of both texts

MOVED_WORDS = 5  # fewer in another place are an edit
ALIKE, MOST_ALIKE_BYTES = 0.65, 400  # of the letters of words that were misread
PARAGRAPH_WORDS = 8  # shorter ones are lines, headings, entries
MOSTLY = 0.8  # of the words, for texts in another order
NOTICE, NOTICE_LINE = 12, 7  # words of short lines around a text, and of each
MOST_RUNNING = 40  # words of headers and footers between two pages
ONCE_WORDS = 4  # of what counts once, however often it was added

_WORD = re.compile(rb"[0-9a-z\x80-\xff]+")
_BARS = re.compile("[|•·»]")
_PIECES = re.compile("[\n|•·»]+")
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


class Alone(NamedTuple):
    """What one text alone has; ``at`` its BEGINNING, its END or WITHIN it."""

    letter: str
    side: Side
    words: int
    at: int
    own_line: bool


class Tally:
    """The differing passages of one pair."""

    def __init__(self) -> None:
        self._found: list[tuple[str, int]] = []
        self._alone: list[Alone] = []
        self._seen: set[tuple[bytes, bytes]] = set()
        self._running: Counter[tuple[str, bytes]] = Counter()
        self._words: tuple[list[bytes], list[bytes]] = ([], [])

    def add(self, a: Side, b: Side, at: int) -> None:
        for words, side in zip(self._words, (a, b), strict=True):
            words.append(side.bytes)
        if not (a.words and b.words):
            self._add_alone("a" if a.words else "b", a if a.words else b, max(a.words, b.words), at)
            return
        if more := more_characters(a, b):
            self._found.append((f"inside_{'a' if more > 0 else 'b'}", abs(more)))
            return
        most, least = max(a.words, b.words), min(a.words, b.words)
        if most - least > max(PARAGRAPH_WORDS, 3 * least):  # an addition beside a small edit
            longer = "a" if a.words > b.words else "b"
            self._add_alone(longer, a if longer == "a" else b, most - least, at)
            most = least
        name = self._both(a, b)
        if name:
            self._found.append((name, most))

    def _both(self, a: Side, b: Side) -> str | None:
        """The class of words that stand for others; None for a change that was made before."""
        one, other = letters(a.bytes), letters(b.bytes)
        if one == other:
            return "rebroken"
        if a.edges & b.edges & ONLY_NUMBERS or no_digits(one) == no_digits(other):
            return "numbers"
        change = no_digits(one), no_digits(other)
        if change in self._seen:
            return None
        self._seen.add(change)
        if max(len(one), len(other)) > MOST_ALIKE_BYTES:
            return "replaced"
        return "misread" if Indel.normalized_similarity(one, other) >= ALIKE else "replaced"

    def _add_alone(self, letter: str, side: Side, words: int, at: int) -> None:
        if words <= ONCE_WORDS and (word := no_digits(letters(side.bytes))):
            change = letter.encode(), word
            if change in self._seen:
                return
            self._seen.add(change)
        own_line = begins_line(side) and ends_line(side)
        self._alone.append(Alone(letter, side, words, at, own_line))
        if own_line and words <= MOST_RUNNING:
            self._running.update((letter, line) for line in lines(side))

    def is_reordered(self) -> bool:
        """Whether nearly the same words are on both sides, only elsewhere."""
        sizes = [sum(map(len, side)) for side in self._words]
        if min(sizes) < MOSTLY / 2 * max(sizes):  # it cannot be
            return False
        of_a, of_b = (Counter(_WORD.findall(b" ".join(side).lower())) for side in self._words)
        least = min(of_a.total(), of_b.total())
        return least >= MOVED_WORDS and (of_a & of_b).total() >= MOSTLY * max(
            of_a.total(), of_b.total()
        )

    def counts(self) -> Iterator[tuple[str, int]]:
        yield from self._found
        known: set[tuple[str, bytes]] = set()
        for one in self._alone:
            name = self._class(one)
            line = one.letter, b"".join(lines(one.side)) if one.words <= MOST_RUNNING else b""
            if name == "furniture" and line in known:
                continue  # the same header on another page
            known.add(line)
            yield f"{name}_{one.letter}", one.words

    def _class(self, one: Alone) -> str:
        if one.own_line and (self._is_running(one) or _is_notice(one) or _is_menu(one)):
            return "furniture"
        if one.at != WITHIN:
            return _class_at_end(one)
        long = one.words >= PARAGRAPH_WORDS
        return "paragraphs" if long and whole_paragraphs(one.side) else "inside"

    def _is_running(self, one: Alone) -> bool:
        """Page numbers, and lines that come again with other ones."""
        if one.words > MOST_RUNNING:
            return False
        return all(not line or self._running[one.letter, line] > 1 for line in lines(one.side))


def _is_notice(one: Alone) -> bool:
    """Short lines before or after the text: a byline, a heading, a page, a right."""
    if one.at == WITHIN or one.words > NOTICE:
        return False
    return all(len(line.split()) <= NOTICE_LINE for line in one.side.bytes.split(b"\n"))


def _is_menu(one: Alone) -> bool:
    """Short entries with bars between them, before or after the text: a frame."""
    if one.at == WITHIN:
        return False
    text = one.side.bytes.decode("utf-8", "replace")
    bars = len(_BARS.findall(text))
    pieces = [piece for piece in map(str.strip, _PIECES.split(text)) if piece]
    ended = sum(piece.endswith(_SENTENCE_ENDS) for piece in pieces)
    return bars > 0 and bars * 8 >= one.words - 8 and ended * 4 <= len(pieces)


def _class_at_end(one: Alone) -> str:
    """By where the cut is: within a sentence, between sentences, between paragraphs."""
    side, at = one.side, one.at
    if (ends_paragraph, begins_paragraph)[at](side):
        return "end_paragraphs"
    return "end_sentences" if side.edges & (ENDS_SENTENCE, BEGINS_SENTENCE)[at] else "cut"
