"""Edits of single words: each changes ``rate`` of them, at least one.

Edits of what a text looks like: layout, frames around it, case and punctuation.
"""

from __future__ import annotations

import re
from random import Random

from neardup.planting.material import Material, Unit, units

_SPACE = re.compile(r"\s+")
_DIGITS = re.compile(r"\d+")


def how_many(rate: float, there: int) -> int:
    return min(there, max(1, round(rate * there))) if there else 0


def chosen(there: int, rate: float, random: Random) -> list[int]:
    return sorted(random.sample(range(there), how_many(rate, there)))


def substitutions(text: str, rate: float, random: Random, material: Material) -> str:
    """Words replaced by others of the collection."""
    there = units(text)
    changed: dict[int, str] = {}
    for i in chosen(len(there), rate, random):
        unit = there[i]
        word = text[unit.start : unit.end]
        other = material.word(random, spaceless=unit.spaceless, other_than=word)
        changed[i] = word if other is None else other
    return replaced(text, there, changed)


def insertions(text: str, rate: float, random: Random, material: Material) -> str:
    """Words of the collection put before words of the text."""
    there = units(text)
    changed: dict[int, str] = {}
    for i in chosen(len(there), rate, random):
        unit = there[i]
        word = material.word(random, spaceless=unit.spaceless)
        if word is not None:
            space = "" if unit.spaceless else " "
            changed[i] = f"{word}{space}{text[unit.start : unit.end]}"
    return replaced(text, there, changed)


def deletions(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Words left out, each with the white space behind it; one word always stays."""
    there = units(text)
    gone = set(chosen(len(there), rate, random)[: max(len(there) - 1, 0)])
    kept: list[str] = []
    at = 0
    for i, unit in enumerate(there):
        if i in gone:
            kept.append(text[at : unit.start])
            space = _SPACE.match(text, unit.end)
            at = space.end() if space else unit.end
    return "".join([*kept, text[at:]])


def numbers(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Numbers, and so dates in figures, replaced by others of as many digits of the same script."""
    found = list(_DIGITS.finditer(text))
    pieces: list[str] = []
    at = 0
    for i in chosen(len(found), rate, random):
        pieces += [text[at : found[i].start()], other_number(found[i][0], random)]
        at = found[i].end()
    return "".join([*pieces, text[at:]])


def other_number(number: str, random: Random) -> str:
    """Its first digit always changes, so the number does; a leading 0 appears only where one
    stood."""
    first = int(number[0])
    digits = [random.choice([d for d in range(1, 10) if d != first])]
    digits += [random.randrange(10) for _ in number[1:]]
    return "".join(chr(ord(old) - int(old) + new) for old, new in zip(number, digits, strict=True))


def replaced(text: str, there: list[Unit], changed: dict[int, str]) -> str:
    pieces: list[str] = []
    at = 0
    for i, word in sorted(changed.items()):
        pieces += [text[at : there[i].start], word]
        at = there[i].end
    return "".join([*pieces, text[at:]])


WIDTHS = (45, 90)  # columns of a line
PAGE_LINES = 30
_MARKS = {".": "…", ",": ";", ";": ",", '"': "”", "-": "–", "'": "’", "(": "[", ")": "]", ":": " –"}
_MARKS |= {"。": "．", "、": "，", "，": "、", "「": "『", "」": "』", "،": "؛", "।": "॥", "؟": "!"}


def layout(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Lines of another width, ``rate`` of their ends inside a hyphenated word, numbered pages."""
    width = random.randint(*WIDTHS)
    lines = _lines(text, width, rate, random)
    page = random.randint(1, 200)
    made: list[str] = []
    for k, line in enumerate(lines):
        made.append(line)
        if k % PAGE_LINES == PAGE_LINES - 1 or k == len(lines) - 1:
            made += ["", f"– {page} –", ""]
            page += 1
    return "\n".join(made).strip()


def _lines(text: str, width: int, rate: float, random: Random) -> list[str]:
    lines, line = [], ""
    for word in text.split():
        rest = word
        while len(line) + 1 + len(rest) > width:
            head = "" if line else rest[:width]  # longer than a line: broken wherever that ends
            if line and random.random() < rate:
                head = _syllables(rest, width - len(line) - 2)
            lines.append(f"{line} {head}{'-' if line and head else ''}".strip())
            line, rest = "", rest[len(head) :]
        line = f"{line} {rest}".strip()
    return [*lines, line] if line else lines


def _syllables(word: str, room: int) -> str:
    """The beginning that stands before the hyphen; empty where the word cannot be cut."""
    head = word[:room] if 3 <= room <= len(word) - 3 else ""
    return head if head.isalpha() and not _spaceless(head) else ""


def _spaceless(word: str) -> bool:
    return any(unit.spaceless for unit in units(word))


def boilerplate(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """One site's header, menu and footer around it, ``rate`` of the text in length. All copies have
    the same frame, cut to that length: framed copies of unlike texts share it."""
    count = how_many(rate, len(units(text)))
    return framed(text, material, "site", count)


def framed(text: str, material: Material, template: str, count: int) -> str:
    """The text inside a frame of ``count`` words, half of them before it."""
    head = material.phrases(f"{template}:head", (count + 1) // 2)
    foot = material.phrases(f"{template}:foot", count // 2)
    return "\n\n".join(part for part in (" | ".join(head), text, " | ".join(foot)) if part)


def case(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the words in capitals, or in small letters where they were in capitals."""
    there = [unit for unit in units(text) if _recased(text[unit.start : unit.end])]
    changed = {
        i: str(_recased(text[there[i].start : there[i].end]))
        for i in chosen(len(there), rate, random)
    }
    return replaced(text, there, changed)


def _recased(word: str) -> str | None:
    """None where there is no other case, or folding would not undo it (ı → I → i)."""
    for other in (word.upper(), word.lower()):
        if other != word and other.casefold() == word.casefold():
            return other
    return None


def punctuation(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the punctuation marks replaced by others."""
    places = [i for i, c in enumerate(text) if c in _MARKS]
    pieces = list(text)
    for k in chosen(len(places), rate, random):
        pieces[places[k]] = _MARKS[text[places[k]]]
    return "".join(pieces)
