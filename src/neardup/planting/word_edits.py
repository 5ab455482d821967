"""Edits of words, numbers, case and punctuation, of the layout, and of the frame around a text.

An edit changes the share ``rate`` of the things that it edits, and at least one of them.
"""

from __future__ import annotations

import re
from random import Random

from neardup.planting.material import Material, Unit, units

_SPACE = re.compile(r"\s+")
_DIGITS = re.compile(r"\d+")


def how_many(rate: float, total: int) -> int:
    return min(total, max(1, round(rate * total))) if total else 0


def chosen(total: int, rate: float, random: Random) -> list[int]:
    return sorted(random.sample(range(total), how_many(rate, total)))


def substitutions(text: str, rate: float, random: Random, material: Material) -> str:
    """Words are replaced by other words of the collection."""
    words = units(text)
    changed: dict[int, str] = {}
    for i in chosen(len(words), rate, random):
        unit = words[i]
        word = text[unit.start : unit.end]
        other = material.word(random, spaceless=unit.spaceless, other_than=word)
        changed[i] = word if other is None else other
    return replaced(text, words, changed)


def insertions(text: str, rate: float, random: Random, material: Material) -> str:
    """Words of the collection are inserted before words of the text."""
    words = units(text)
    changed: dict[int, str] = {}
    for i in chosen(len(words), rate, random):
        unit = words[i]
        word = material.word(random, spaceless=unit.spaceless)
        if word is not None:
            space = "" if unit.spaceless else " "
            changed[i] = f"{word}{space}{text[unit.start : unit.end]}"
    return replaced(text, words, changed)


def deletions(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Words are left out, each with the white space after it; one word always stays."""
    words = units(text)
    kept: list[str] = []
    at = 0
    for i in chosen(len(words), rate, random)[: max(len(words) - 1, 0)]:
        kept.append(text[at : words[i].start])
        space = _SPACE.match(text, words[i].end)
        at = space.end() if space else words[i].end
    return "".join([*kept, text[at:]])


def numbers(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Numbers, also those in dates, are replaced by numbers of equal length in the same script."""
    matches = list(_DIGITS.finditer(text))
    pieces: list[str] = []
    at = 0
    for i in chosen(len(matches), rate, random):
        pieces += [text[at : matches[i].start()], other_number(matches[i][0], random)]
        at = matches[i].end()
    return "".join([*pieces, text[at:]])


def other_number(number: str, random: Random) -> str:
    """A different number of the same length: its first digit changes and is not 0."""
    first = int(number[0])
    digits = [random.choice([d for d in range(1, 10) if d != first])]
    digits += [random.randrange(10) for _ in number[1:]]
    return "".join(chr(ord(old) - int(old) + new) for old, new in zip(number, digits, strict=True))


def replaced(text: str, words: list[Unit], changed: dict[int, str]) -> str:
    pieces: list[str] = []
    at = 0
    for i, word in sorted(changed.items()):
        pieces += [text[at : words[i].start], word]
        at = words[i].end
    return "".join([*pieces, text[at:]])


WIDTHS = (45, 90)  # least and most columns of a line
PAGE_LINES = 30
_MARKS = {".": "…", ",": ";", ";": ",", '"': "”", "-": "–", "'": "’", "(": "[", ")": "]", ":": " –"}
_MARKS |= {"。": "．", "、": "，", "，": "、", "「": "『", "」": "』", "،": "؛", "।": "॥", "؟": "!"}


def layout(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """The text is wrapped at another width, with ``rate`` of the line ends inside a hyphenated
    word, and gets page numbers."""
    width = random.randint(*WIDTHS)
    lines = _lines(text, width, rate, random)
    page = random.randint(1, 200)
    paged: list[str] = []
    for number, line in enumerate(lines, 1):
        paged.append(line)
        if number % PAGE_LINES == 0 or number == len(lines):
            paged += ["", f"– {page} –", ""]
            page += 1
    return "\n".join(paged).strip()


def _lines(text: str, width: int, rate: float, random: Random) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        rest = word
        while len(line) + 1 + len(rest) > width:
            head = "" if line else rest[:width]  # a word longer than a line is broken at its end
            if line and random.random() < rate:
                head = _syllables(rest, width - len(line) - 2)
            lines.append(f"{line} {head}{'-' if line and head else ''}".strip())
            line, rest = "", rest[len(head) :]
        line = f"{line} {rest}".strip()
    return [*lines, line] if line else lines


def _syllables(word: str, room: int) -> str:
    """The letters before the hyphen; empty if the word cannot be hyphenated."""
    head = word[:room] if 3 <= room <= len(word) - 3 else ""
    return head if head.isalpha() and not any(unit.spaceless for unit in units(head)) else ""


def boilerplate(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """The text gets the header, menu and footer of a web site, together ``rate`` as long as the
    text. All copies have the same frame, shortened to that length, so copies of different texts
    share it."""
    count = how_many(rate, len(units(text)))
    return framed(text, material, "site", count)


def framed(text: str, material: Material, template: str, count: int) -> str:
    """The text in a frame of ``count`` words, half of them before the text."""
    head = material.phrases(f"{template}:head", (count + 1) // 2)
    foot = material.phrases(f"{template}:foot", count // 2)
    return "\n\n".join(part for part in (" | ".join(head), text, " | ".join(foot)) if part)


def case(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the words are written in upper case, or in lower case if they were in upper."""
    words = [unit for unit in units(text) if _recased(text[unit.start : unit.end])]
    changed = {
        i: str(_recased(text[words[i].start : words[i].end]))
        for i in chosen(len(words), rate, random)
    }
    return replaced(text, words, changed)


def _recased(word: str) -> str | None:
    """The word in another case; None if it has none, or if case folding would not undo the change
    (ı → I → i)."""
    for other in (word.upper(), word.lower()):
        if other != word and other.casefold() == word.casefold():
            return other
    return None


def punctuation(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the punctuation marks are replaced by different ones."""
    places = [i for i, c in enumerate(text) if c in _MARKS]
    pieces = list(text)
    for k in chosen(len(places), rate, random):
        pieces[places[k]] = _MARKS[text[places[k]]]
    return "".join(pieces)
