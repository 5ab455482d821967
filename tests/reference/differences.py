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

from neardup.decisions.kinds import FEATURES, ROW, Measures
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

LINE = 100  # characters; a text with longer lines is not wrapped: its lines are paragraphs
LONG_LINES = 0.2  # the share of a wrapped text that may nevertheless be in longer lines
WHOLE = 0.8  # the least share of a passage that is whole paragraphs
SPACELESS = 0xE0  # the least first byte of a character of Han, Kana, Hangul, Thai … in UTF-8
NEAR = 200  # bytes in which the beginning or the end of a line is searched for

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
        """What separates paragraphs: a blank line in a wrapped text, else a line end."""
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
    """The letters and digits in lower case, without spaces and marks."""
    low = part.translate(_LOWER, _SIGNS)
    return low if low.isascii() else _MARKS.sub(b"", low)


def lines(side: Side) -> list[bytes]:
    return [no_digits(letters(line)) for line in side.bytes.split(b"\n") if line.strip()]


def no_digits(letters: bytes) -> bytes:
    left = letters.translate(None, b"0123456789")
    return left if left.isascii() else _DIGITS.sub(b"", left)


def more_characters(a: Side, b: Side) -> int:
    """The number of characters that ``a`` has more than ``b`` (negative: fewer), if the script has
    no spaces and characters were only inserted at one place; else 0."""
    if min(a.bytes[0], b.bytes[0]) < SPACELESS:
        return 0
    text_a, text_b = (side.bytes.decode("utf-8", "replace") for side in (a, b))
    short, long = sorted((text_a, text_b), key=len)
    prefix = next(
        (i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short)
    )
    return len(text_a) - len(text_b) if long.endswith(short[prefix:]) else 0


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
    """Whether nearly all of the passage is whole paragraphs, which the other text lacks."""
    breaks = side.text.line_breaks.finditer(side.text.bytes, side.begin, side.end)
    edges = [match.start() for match in breaks]
    edges = [side.begin] * begins_paragraph(side) + edges + [side.end] * ends_paragraph(side)
    return bool(edges) and edges[-1] - edges[0] >= WHOLE * (side.end - side.begin)


BEGINNING, END, WITHIN = range(3)  # the place of a passage in both texts

MOVED_WORDS = 5  # fewer moved words are an edit
ALIKE, MOST_ALIKE_BYTES = 0.65, 400  # similarity and length of words that were misread
PARAGRAPH_WORDS = 8  # shorter paragraphs are lines, headings, entries
MOSTLY = 0.8  # the share of common words in reordered texts
NOTICE, NOTICE_LINE = 12, 7  # most words of the short lines around a text, and of each line
MOST_RUNNING = 40  # most words of the headers and footers between two pages
ONCE_WORDS = 4  # an addition of at most so many words counts once, even if it is repeated

_WORD = re.compile(rb"[0-9a-z\x80-\xff]+")
_BARS = re.compile("[|•·»]")
_PIECES = re.compile("[\n|•·»]+")
_SENTENCE_ENDS = (".", "!", "?", "。", "！", "？")


class Alone(NamedTuple):
    """A passage that one text alone has, at its BEGINNING, at its END or WITHIN it."""

    letter: str
    side: Side
    words: int
    at: int
    own_line: bool


class Tally:
    """The differing passages of one pair."""

    def __init__(self) -> None:
        self._counts: list[tuple[str, int]] = []
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
            self._counts.append((f"inside_{'a' if more > 0 else 'b'}", abs(more)))
            return
        most, least = max(a.words, b.words), min(a.words, b.words)
        if most - least > max(PARAGRAPH_WORDS, 3 * least):  # an addition beside a small edit
            longer = "a" if a.words > b.words else "b"
            self._add_alone(longer, a if longer == "a" else b, most - least, at)
            most = least
        if name := self._replacement(a, b):
            self._counts.append((name, most))

    def _replacement(self, a: Side, b: Side) -> str | None:
        """The class of words that replace others; None for a change that occurred before."""
        letters_a, letters_b = letters(a.bytes), letters(b.bytes)
        if letters_a == letters_b:
            return "rebroken"
        change = no_digits(letters_a), no_digits(letters_b)
        if a.edges & b.edges & ONLY_NUMBERS or change[0] == change[1]:
            return "numbers"
        if change in self._seen:
            return None
        self._seen.add(change)
        if max(len(letters_a), len(letters_b)) > MOST_ALIKE_BYTES:
            return "replaced"
        alike = Indel.normalized_similarity(letters_a, letters_b) >= ALIKE
        return "misread" if alike else "replaced"

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
        """Whether both sides have nearly the same words at different places."""
        sizes = [sum(map(len, side)) for side in self._words]
        if min(sizes) < MOSTLY / 2 * max(sizes):  # saves counting words that cannot suffice
            return False
        of_a, of_b = (Counter(_WORD.findall(b" ".join(side).lower())) for side in self._words)
        totals = of_a.total(), of_b.total()
        return min(totals) >= MOVED_WORDS and (of_a & of_b).total() >= MOSTLY * max(totals)

    def counts(self) -> Iterator[tuple[str, int]]:
        yield from self._counts
        known: set[tuple[str, bytes]] = set()
        for passage in self._alone:
            name = self._class(passage)
            short = passage.words <= MOST_RUNNING
            line = passage.letter, b"".join(lines(passage.side)) if short else b""
            if name == "furniture" and line in known:
                continue  # the same header on another page
            known.add(line)
            yield f"{name}_{passage.letter}", passage.words

    def _class(self, passage: Alone) -> str:
        if passage.own_line and (
            self._is_running(passage) or _is_notice(passage) or _is_menu(passage)
        ):
            return "furniture"
        if passage.at != WITHIN:
            return _class_at_end(passage)
        long = passage.words >= PARAGRAPH_WORDS
        return "paragraphs" if long and whole_paragraphs(passage.side) else "inside"

    def _is_running(self, passage: Alone) -> bool:
        """Whether the lines are page numbers, or are repeated with different numbers."""
        if passage.words > MOST_RUNNING:
            return False
        repeated = (self._running[passage.letter, line] > 1 for line in lines(passage.side) if line)
        return all(repeated)


def _is_notice(passage: Alone) -> bool:
    """Whether short lines stand before or after the text: a byline, a heading, a copyright note."""
    if passage.at == WITHIN or passage.words > NOTICE:
        return False
    return all(len(line.split()) <= NOTICE_LINE for line in passage.side.bytes.split(b"\n"))


def _is_menu(passage: Alone) -> bool:
    """Whether short entries, separated by bars, stand before or after the text."""
    if passage.at == WITHIN:
        return False
    text = passage.side.bytes.decode("utf-8", "replace")
    bars = len(_BARS.findall(text))
    pieces = [piece for piece in map(str.strip, _PIECES.split(text)) if piece]
    ended = sum(piece.endswith(_SENTENCE_ENDS) for piece in pieces)
    return bars > 0 and bars * 8 >= passage.words - 8 and ended * 4 <= len(pieces)


def _class_at_end(passage: Alone) -> str:
    """The class depends on whether the text is cut within a sentence or between sentences or
    paragraphs."""
    side, at = passage.side, passage.at
    if (ends_paragraph, begins_paragraph)[at](side):
        return "end_paragraphs"
    return "end_sentences" if side.edges & (ENDS_SENTENCE, BEGINS_SENTENCE)[at] else "cut"


SHARED, MOVED, DIFFERS = range(len(HOW))

BEGINS, ENDS = BEGINS_SENTENCE | BEGINS_PARAGRAPH, ENDS_SENTENCE | ENDS_PARAGRAPH
ISLAND, SEA = 3, 8  # most words of a chance match, and how many times more words surround it
VERBATIM = 16  # shared words in a row that show unedited text
BLOCK = 32  # shared words in a row that show copying: a rewriter does not keep two whole sentences


def measured(texts: Ragged, a: Array, b: Array) -> Measures:
    """The measures of pairs of these texts."""
    aligned = without_islands(align_pairs(texts, a, b))
    words = np.stack([_units(texts, a, aligned, "a"), _units(texts, b, aligned, "b")])
    shared, moved = aligned.how == SHARED, aligned.how == MOVED
    far = moved & (words.min(axis=0) >= MOVED_WORDS)
    longest = np.zeros(len(aligned))
    np.maximum.at(longest, aligned.pairs[shared | moved], words[0][shared | moved])
    measures = Measures(
        words=np.stack([aligned.words_a, aligned.words_b]).astype(np.float64),
        shared=_sums(aligned, words[0], shared | moved),
        verbatim=_sums(aligned, words[0], shared & (words[0] >= VERBATIM)),
        blocks=_sums(aligned, words[0], (shared | moved) & (words[0] >= BLOCK)),
        longest=longest,
        moved=_sums(aligned, words.max(axis=0), far),
        counts=np.zeros((len(FEATURES), len(aligned))),
        differs=np.bincount(aligned.pairs[~shared], minlength=len(aligned)) > 0,
    )
    measures.of("replaced")[:] = _sums(aligned, words.max(axis=0), moved & ~far)
    for pair, tally in _tallies(texts, a, b, aligned, words):
        if tally.is_reordered():
            measures.moved[pair] += sum(count for _, count in tally.counts())
            continue
        for name, count in tally.counts():
            measures.counts[ROW[name], pair] += count
    return measures


def _units(texts: Ragged, rows: Array, aligned: Alignments, side: str) -> Array:
    """The words of each passage; in scripts without spaces its characters, because one character
    more makes two words (pairs of characters) more."""
    begin, end, words = (getattr(aligned, f"{side}_{name}") for name in ("begin", "end", "words"))
    size = end.astype(np.int64) - begin
    units = np.where(size > 0, words, 0).astype(np.int64)
    nonempty = np.flatnonzero(size)
    first_byte = texts.values[(texts.offsets[rows][aligned.pairs] + begin)[nonempty]]
    spaceless = nonempty[first_byte >= SPACELESS]
    units[spaceless] = np.minimum(units[spaceless], -(-size[spaceless] // 3))
    return units


def _sums(aligned: Alignments, units: Array, where: Array) -> npt.NDArray[np.float64]:
    return np.bincount(aligned.pairs[where], units[where], len(aligned)).astype(np.float64)


def without_islands(aligned: Alignments) -> Alignments:
    """The alignment without chance matches: a few shared words amid many that differ are joined
    with the passages around them."""
    words = np.maximum(aligned.a_words, aligned.b_words).astype(np.int64)
    differs, pairs = aligned.how == DIFFERS, aligned.pairs
    islands = np.zeros(len(words), np.bool_)
    if len(words) > 2:
        around = differs[:-2] & differs[2:] & (pairs[:-2] == pairs[2:])
        least = np.minimum(words[:-2], words[2:])
        few = (aligned.how[1:-1] == SHARED) & (words[1:-1] <= ISLAND)
        islands[1:-1] = around & few & (least >= SEA * words[1:-1])
    joined = islands.copy()  # with the passage before
    joined[1:] |= islands[:-1]
    return _merged(aligned, ~joined) if joined.any() else aligned


def _merged(aligned: Alignments, begins: Array) -> Alignments:
    """The alignment with runs of passages joined; ``begins`` marks the first passage of each."""
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(begins)) - 1
    columns = {name: getattr(aligned, name) for name in ("words_a", "words_b", "whole")}
    columns["how"] = np.where(first < last, DIFFERS, aligned.how[first])
    columns["offsets"] = np.searchsorted(first, aligned.offsets)
    for side in "ab":
        begin, end, words, edges = (
            getattr(aligned, f"{side}_{name}") for name in ("begin", "end", "words", "edges")
        )
        columns[f"{side}_begin"] = np.minimum.reduceat(begin, first)
        columns[f"{side}_end"] = np.maximum.reduceat(end, first)
        columns[f"{side}_words"] = np.add.reduceat(words, first)
        numbers = np.bitwise_and.reduceat(edges, first) & ONLY_NUMBERS
        columns[f"{side}_edges"] = edges[first] & BEGINS | edges[last] & ENDS | numbers
    return Alignments(**columns)


def _tallies(
    texts: Ragged, a: Array, b: Array, aligned: Alignments, words: Array
) -> Iterator[tuple[int, Tally]]:
    """The tally of each pair that has differing passages."""
    rows = np.flatnonzero((aligned.how == DIFFERS) & (words.max(axis=0) > 0))
    first, last = aligned.offsets[:-1], aligned.offsets[1:] - 1
    pairs = aligned.pairs[rows]
    at = np.where(rows == first[pairs], BEGINNING, np.where(rows == last[pairs], END, WITHIN))
    of_a, of_b = _sides(aligned, rows, words[0], "a"), _sides(aligned, rows, words[1], "b")
    ends = np.searchsorted(pairs, np.arange(len(aligned) + 1))
    for pair in np.flatnonzero(np.diff(ends)).tolist():
        part = slice(ends[pair], ends[pair + 1])
        text_a, text_b = (Text(texts[numbers[pair]].tobytes()) for numbers in (a, b))
        tally = Tally()
        for x, y, where in zip(of_a[part], of_b[part], at[part].tolist(), strict=True):
            tally.add(Side(text_a, *x), Side(text_b, *y), where)
        yield pair, tally


def _sides(aligned: Alignments, rows: Array, words: Array, side: str) -> list[list[int]]:
    """Begin, end, words and edges of these passages."""
    begin, end, edges = (getattr(aligned, f"{side}_{name}") for name in ("begin", "end", "edges"))
    columns = (column.astype(np.int64)[rows] for column in (begin, end, words, edges))
    sides: list[list[int]] = np.stack(list(columns), axis=1).tolist()
    return sides
