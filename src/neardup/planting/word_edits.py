"""Edits of single words: each changes ``rate`` of them, at least one."""

from __future__ import annotations

import re
from random import Random

from neardup.planting.material import Material
from neardup.planting.units import Unit, units

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
