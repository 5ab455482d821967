"""Where the words, sentences and paragraphs of a raw text stand, so that a copy can be edited and
everything between them stays as it was.

A unit is what ``neardup.text.words`` takes for a word, before folding; in scripts without spaces,
where words are pairs of characters, it is one character with its marks.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from neardup.text.sentences import sentences
from neardup.text.words import words

SEPARATOR, ORDINARY, SPACELESS, MARK = "s", "o", "x", "m"
_UNIT = re.compile(f"{SPACELESS}{MARK}*|[{ORDINARY}{MARK}]+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")


class Unit(NamedTuple):
    start: int
    end: int
    spaceless: bool


class Part(NamedTuple):
    """A sentence or paragraph, and the white space behind it."""

    text: str
    gap: str


class _Classes(dict[int, str]):
    """Code point → class, asked of the tokenizer itself: three of a letter are one word, or two
    pairs where the script has no spaces."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if unicodedata.category(letter)[0] == "M":
            found = MARK
        else:
            found = (SEPARATOR, ORDINARY, SPACELESS)[min(len(words(letter * 3)), 2)]
        self[code] = found
        return found


_CLASSES = _Classes()


def units(text: str) -> list[Unit]:
    classes = text.translate(_CLASSES)
    return [
        Unit(found.start(), found.end(), classes[found.start()] == SPACELESS)
        for found in _UNIT.finditer(classes)
    ]


def unit_count(text: str) -> int:
    return sum(1 for _ in _UNIT.finditer(text.translate(_CLASSES)))


def sentence_parts(text: str) -> list[Part]:
    """The parts joined are the text."""
    return [_part(one) for one in sentences(text)]


def paragraph_parts(text: str) -> list[Part]:
    """Cut at blank lines; where there are none, at line ends. The parts joined are the text."""
    cut = _BLANK_LINE if _BLANK_LINE.search(text.strip()) else _LINE
    ends = [found.end() for found in cut.finditer(text)]
    starts = [0, *ends]
    pieces = [text[a:b] for a, b in zip(starts, [*ends, len(text)], strict=True)]
    return [_part(piece) for piece in pieces if piece]


def _part(piece: str) -> Part:
    body = piece.rstrip()
    return Part(body, piece[len(body) :])


def joined(parts: list[Part]) -> str:
    return "".join(part.text + part.gap for part in parts)


def shuffled_bodies(parts: list[Part], order: list[int]) -> str:
    """The bodies in another order; the white space stays where it stood."""
    return "".join(parts[i].text + part.gap for i, part in zip(order, parts, strict=True))
