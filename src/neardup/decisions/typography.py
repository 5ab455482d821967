"""One side of a passage as written: its letters, and its position in lines and paragraphs.

The functions work on UTF-8 bytes, because most passages have few words and are examined once.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

from neardup.text.alignment import BEGINS_PARAGRAPH, ENDS_PARAGRAPH

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
