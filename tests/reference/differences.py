"""The slow, obvious twin of native/decisions: how two texts differ, in numbers.

``Side`` is one side of a passage as it was written: its letters, and how it sits in lines and
paragraphs. ``Tally`` puts each differing passage of a pair into the class that a reader would put
it in; ``measured`` adds the words of each class by pair.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Indel

from neardup.decisions.differences import COLUMN, FEATURES, Measures
from neardup.schema import Array, Ragged
from neardup.text.alignment import (
    BEGINS_PARAGRAPH,
    BEGINS_SENTENCE,
    ENDS_PARAGRAPH,
    ENDS_SENTENCE,
    HOW,
    ONLY_NUMBERS,
    Alignments,
    align_pairs,
)

LINE = 100  # characters; a text of longer lines is not hard-wrapped: its lines are paragraphs
LONG_LINES = 0.2  # of the text, that longer lines may be all the same
WHOLE = 0.8  # of a passage, that is whole paragraphs
SPACELESS = 0xE0  # the first byte of a character of Han, Kana, Hangul, Thai … in UTF-8
NEAR = 200  # bytes in which the beginning or the end of a line is looked for

_ALL = bytes(range(256))
_LETTERS = bytes(c for c in _ALL if c >= 128 or chr(c).isalnum())
_SIGNS = bytes(c for c in _ALL if c not in _LETTERS)
_LOWER = _ALL.lower()
# In UTF-8: Latin-1 signs, general punctuation, CJK and full-width punctuation.
_MARKS = re.compile(
    rb"\xc2[\x80-\xbf]|\xe2[\x80-\x81][\x80-\xbf]|\xe3\x80[\x80-\xbf]|\xef\xbc[\x81-\x8f\x9a-\xa0]"
)
# Arabic, Persian, Devanagari, Bengali, Thai and full-width digits.
_DIGITS = re.compile(
    rb"\xd9[\xa0-\xa9]|\xdb[\xb0-\xb9]|\xe0\xa5[\xa6-\xaf]|\xe0\xa7[\xa6-\xaf]"
    rb"|\xe0\xb9[\x90-\x99]|\xef\xbc[\x90-\x99]"
)
_BLANK_LINE = re.compile(rb"\n[ \t\r]*\n")
_LINE_END = re.compile(rb"\n")


class Text:
    def __init__(self, text: bytes) -> None:
        self.bytes = text

    @cached_property
    def line_breaks(self) -> re.Pattern[bytes]:
        """What parts paragraphs: a line end, or a blank line where lines are short."""
        lengths = [len(line) for line in self.bytes.decode("utf-8", "replace").split("\n")]
        long = sum(length for length in lengths if length > LINE)
        return _LINE_END if long > LONG_LINES * sum(lengths) else _BLANK_LINE

    @property
    def wrapped(self) -> bool:
        return self.line_breaks is _BLANK_LINE


class Side(NamedTuple):
    """One side of a passage."""

    text: Text
    begin: int
    end: int
    words: int
    edges: int

    @property
    def bytes(self) -> bytes:
        return self.text.bytes[self.begin : self.end]


def letters(part: bytes) -> bytes:
    """In small letters, without spaces and marks."""
    low = part.translate(_LOWER, _SIGNS)
    return low if low.isascii() else _MARKS.sub(b"", low)


def lines(side: Side) -> list[bytes]:
    return [no_digits(letters(line)) for line in side.bytes.split(b"\n") if line.strip()]


def no_digits(letters: bytes) -> bytes:
    left = letters.translate(None, b"0123456789")
    return left if left.isascii() else _DIGITS.sub(b"", left)


def more_characters(a: Side, b: Side) -> int:
    """How many ``a`` has more (``b``, below 0) where the script has no spaces and that is all the
    difference; else 0."""
    if min(a.bytes[0], b.bytes[0]) < SPACELESS:
        return 0
    one, other = (side.bytes.decode("utf-8", "replace") for side in (a, b))
    short, long = sorted((one, other), key=len)
    left = next(
        (i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short)
    )
    right = len(short) - left
    return len(one) - len(other) if long.endswith(short[left:] if right else "") else 0


def begins_line(side: Side) -> bool:
    text, floor = side.text.bytes, max(0, side.begin - NEAR)
    at = text.rfind(b"\n", floor, side.begin)
    if at < 0 and floor > 0:
        return False
    return not letters(text[max(at, floor) : side.begin])


def ends_line(side: Side) -> bool:
    text = side.text.bytes
    at = text.find(b"\n", side.end, side.end + NEAR)
    if at < 0 and side.end + NEAR < len(text):
        return False
    return not letters(text[side.end : at if at >= 0 else len(text)])


def begins_paragraph(side: Side) -> bool:
    return bool(side.edges & BEGINS_PARAGRAPH) or (not side.text.wrapped and begins_line(side))


def ends_paragraph(side: Side) -> bool:
    return bool(side.edges & ENDS_PARAGRAPH) or (not side.text.wrapped and ends_line(side))


def whole_paragraphs(side: Side) -> bool:
    """Whether nearly all of it is paragraphs that the other text has not at all."""
    inside = side.text.line_breaks.finditer(side.text.bytes, side.begin, side.end)
    edges = [found.start() for found in inside]
    edges = [side.begin] * begins_paragraph(side) + edges + [side.end] * ends_paragraph(side)
    return bool(edges) and edges[-1] - edges[0] >= WHOLE * (side.end - side.begin)


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


SHARED, MOVED, DIFFERS = range(len(HOW))

BEGINS, ENDS = BEGINS_SENTENCE | BEGINS_PARAGRAPH, ENDS_SENTENCE | ENDS_PARAGRAPH
ISLAND, SEA = 3, 8  # words that may be there by chance, and times so many around them
VERBATIM = 16  # words in a row that both have: text that nobody touched
BLOCK = 32  # so many, and they were copied: who rewrites does not leave two sentences as they are


def measured(texts: Ragged, a: Array, b: Array) -> Measures:
    """Of pairs of these texts."""
    found = without_islands(align_pairs(texts, a, b))
    words = np.stack([_units(texts, a, found, "a"), _units(texts, b, found, "b")])
    shared, moved = found.how == SHARED, found.how == MOVED
    far = moved & (words.min(axis=0) >= MOVED_WORDS)
    made = Measures(
        words=np.stack([found.words_a, found.words_b], axis=1).astype(np.float64),
        shared=_sums(found, words[0], shared | moved),
        verbatim=_sums(found, words[0], shared & (words[0] >= VERBATIM)),
        blocks=_sums(found, words[0], (shared | moved) & (words[0] >= BLOCK)),
        longest=_longest(found, words[0], shared | moved),
        moved=_sums(found, words.max(axis=0), far),
        counts=np.zeros((len(found), len(FEATURES))),
        differs=np.bincount(found.pairs[~shared], minlength=len(found)) > 0,
    )
    made.of("replaced")[:] = _sums(found, words.max(axis=0), moved & ~far)
    for pair, tally in _tallies(texts, a, b, found, words):
        if tally.is_reordered():
            made.moved[pair] += sum(many for _, many in tally.counts())
            continue
        for name, many in tally.counts():
            made.counts[pair, COLUMN[name]] += many
    return made


def _units(texts: Ragged, of: Array, found: Alignments, side: str) -> Array:
    """Words, or characters where words are pairs of these: a character more makes two pairs more,
    but the span of a passage has it once."""
    begin, end, words = (getattr(found, f"{side}_{name}") for name in ("begin", "end", "words"))
    size = end.astype(np.int64) - begin
    units = np.where(size > 0, words, 0).astype(np.int64)
    there = np.flatnonzero(size)
    lead = texts.values[(texts.offsets[of][found.pairs] + begin)[there]]
    pairs_of = there[lead >= SPACELESS]
    units[pairs_of] = np.minimum(units[pairs_of], -(-size[pairs_of] // 3))
    return units


def _sums(found: Alignments, units: Array, where: Array) -> npt.NDArray[np.float64]:
    return np.bincount(found.pairs[where], units[where], len(found)).astype(np.float64)


def _longest(found: Alignments, units: Array, where: Array) -> npt.NDArray[np.float64]:
    made = np.zeros(len(found))
    np.maximum.at(made, found.pairs[where], units[where])
    return made


def without_islands(found: Alignments) -> Alignments:
    """A word or two that both have, in the midst of much that differs, are there by chance: the
    passages around them become one."""
    words = np.maximum(found.a_words, found.b_words).astype(np.int64)
    differs, pairs = found.how == DIFFERS, found.pairs
    inner = np.zeros(len(words), np.bool_)
    if len(words) > 2:
        around = differs[:-2] & differs[2:] & (pairs[:-2] == pairs[2:])
        least = np.minimum(words[:-2], words[2:])
        lone = (found.how[1:-1] == SHARED) & (words[1:-1] <= ISLAND)
        inner[1:-1] = around & lone & (least >= SEA * words[1:-1])
    joined = inner.copy()  # with the passage before
    joined[1:] |= inner[:-1]
    return _merged(found, ~joined) if joined.any() else found


def _merged(found: Alignments, begins: Array) -> Alignments:
    """Runs of passages as one; ``begins`` marks the first of each."""
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(begins)) - 1
    columns = {name: getattr(found, name) for name in ("words_a", "words_b", "whole")}
    columns["how"] = np.where(first < last, DIFFERS, found.how[first])
    columns["offsets"] = np.searchsorted(first, found.offsets)
    for side in "ab":
        begin, end, words, edges = (
            getattr(found, f"{side}_{name}") for name in ("begin", "end", "words", "edges")
        )
        columns[f"{side}_begin"] = np.minimum.reduceat(begin, first)
        columns[f"{side}_end"] = np.maximum.reduceat(end, first)
        columns[f"{side}_words"] = np.add.reduceat(words, first)
        numbers = np.bitwise_and.reduceat(edges, first) & ONLY_NUMBERS
        columns[f"{side}_edges"] = edges[first] & BEGINS | edges[last] & ENDS | numbers
    return Alignments(**columns)


def _tallies(
    texts: Ragged, a: Array, b: Array, found: Alignments, words: Array
) -> Iterator[tuple[int, Tally]]:
    """Of each pair with differing passages. Texts that are alike have few of them."""
    rows = np.flatnonzero((found.how == DIFFERS) & (words.max(axis=0) > 0))
    first, last = found.offsets[:-1], found.offsets[1:] - 1
    pairs = found.pairs[rows]
    at = np.where(rows == first[pairs], BEGINNING, np.where(rows == last[pairs], END, WITHIN))
    of_a, of_b = _sides(found, rows, words[0], "a"), _sides(found, rows, words[1], "b")
    ends = np.searchsorted(pairs, np.arange(len(found) + 1))
    for pair in np.flatnonzero(np.diff(ends)).tolist():
        part = slice(ends[pair], ends[pair + 1])
        one, other = (Text(texts[of[pair]].tobytes()) for of in (a, b))
        tally = Tally()
        for x, y, where in zip(of_a[part], of_b[part], at[part].tolist(), strict=True):
            tally.add(Side(one, *x), Side(other, *y), where)
        yield pair, tally


def _sides(found: Alignments, rows: Array, words: Array, side: str) -> list[list[int]]:
    """Begin, end, words and edges of these passages."""
    begin, end, edges = (getattr(found, f"{side}_{name}") for name in ("begin", "end", "edges"))
    columns = (column.astype(np.int64)[rows] for column in (begin, end, words, edges))
    found_rows: list[list[int]] = np.stack(list(columns), axis=1).tolist()
    return found_rows
