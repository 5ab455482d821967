"""Noise of machines and hands that copy a text: OCR, scans, typing, lost spaces, transcripts.

A rate of ``ocr`` and ``typing`` is a character error rate: the edits that turn the text into its
copy, as a share of its characters. Bad paper and tired hands come in stretches, so errors do too.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from random import Random

from neardup.planting.lookalikes import JOINED, LOOKALIKES, NEIGHBOURS
from neardup.planting.material import Material
from neardup.planting.surface_edits import layout
from neardup.planting.units import Unit, units
from neardup.planting.word_edits import chosen, how_many

STRETCH = 80  # characters of about one quality
WORST = 4.0  # times the errors of the best stretches
TRIES = 20
LINE_ENDS = 0.3  # of a scan, that are inside a word

Error = tuple[int, str, int]  # characters of the text that it takes, what stands there, its edits


def ocr(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Characters misread: confused with what looks alike, lost, or words merged and split."""
    return _with_errors(text, rate, random, _misread)


def scan(text: str, rate: float, random: Random, material: Material) -> str:
    """The same on paper: lines of one width, words hyphenated at their ends, numbered pages."""
    return ocr(layout(text, LINE_ENDS, random, material), rate, random, material)


def typing(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Characters left out, doubled, changed for a neighbour on the keyboard, and transposed."""
    return _with_errors(text, rate, random, _mistyped)


def _with_errors(
    text: str, rate: float, random: Random, make: Callable[[str, int, Random], Error]
) -> str:
    """Errors one by one, where the text is bad first, until their edits are ``rate`` of it."""
    left = how_many(rate, len(text))
    pieces = list(text)
    free = [True] * len(text)
    for i in _worst_first(len(text), random):
        taken, put, edits = make(text, i, random)
        if left <= 0:
            break
        if edits <= left and all(free[i : i + taken]):
            pieces[i : i + taken] = [put, *[""] * (taken - 1)]
            free[i : i + taken] = [False] * taken
            left -= edits
    return "".join(pieces)


def _worst_first(length: int, random: Random) -> list[int]:
    """Places in a random order, those of bad stretches rather early (Efraimidis and Spirakis)."""
    quality = [random.uniform(1, WORST) for _ in range(length // STRETCH + 1)]
    late = [random.expovariate(quality[i // STRETCH]) for i in range(length)]
    return sorted(range(length), key=late.__getitem__)


def _misread(text: str, i: int, random: Random) -> Error:
    letter, fate = text[i], random.random()
    if letter.isspace() or fate < 0.08:
        return 1, "", 1  # merged words, a lost letter
    if fate < 0.16:
        return 1, f"{letter} ", 1  # a split word
    if fate < 0.2:
        return 1, f"{letter}{random.choice('.,-·')}", 1  # a speck
    if text[i : i + 2] in JOINED and fate < 0.7:
        return 2, JOINED[text[i : i + 2]], 2
    other = random.choice(LOOKALIKES.get(letter) or [_of_its_sort(text, letter, random)])
    return 1, other, max(len(other), 1)


def _of_its_sort(text: str, letter: str, random: Random) -> str:
    """Han and Hangul stand in the order of their parts, so a near code point looks alike; for
    others a letter of the text that is of the same sort, or none."""
    if unicodedata.name(letter, "").startswith(("CJK UNIFIED", "HANGUL SYLLABLE")):
        near = chr(ord(letter) + random.choice((-3, -2, -1, 1, 2, 3)))
        if unicodedata.category(near) == "Lo":
            return near
    for _ in range(TRIES):
        other = random.choice(text)
        if other != letter and unicodedata.category(other) == unicodedata.category(letter):
            return other
    return ""


def _mistyped(text: str, i: int, random: Random) -> Error:
    letter, fate = text[i], random.random()
    if fate < 0.3 or letter.isspace():
        return 1, "", 1
    if fate < 0.5:
        return 1, letter * 2, 1
    following = text[i + 1 : i + 2]
    if fate < 0.65 and following not in ("", letter):
        return 2, following + letter, 2
    near = NEIGHBOURS.get(letter.casefold())
    other = random.choice(near) if near else _of_its_sort(text, letter, random)
    return 1, other.upper() if letter.isupper() else other, 1


def spacing(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """Words that lost the space behind them, or were broken in two."""
    there = units(text)
    pieces: list[str] = []
    at = 0
    for i in chosen(len(there), rate, random):
        start, end, _ = there[i]
        merged = _space_behind(text, end) and random.random() < 0.5
        cut = end if merged or end - start < 2 else random.randrange(start + 1, end)
        pieces += [text[at:cut], "" if merged else " "]
        at = end + 1 if merged else cut
    return "".join([*pieces, text[at:]])


def _space_behind(text: str, end: int) -> bool:
    return text[end : end + 1].isspace() and not text[end + 1 : end + 2].isspace()


def transcript(text: str, rate: float, random: Random, material: Material) -> str:
    """As a machine writes down what is read aloud: small letters, no punctuation, and ``rate`` of
    the words lost or heard as another that sounds alike."""
    there = units(text)
    missed = set(chosen(len(there), rate, random))
    said: list[str] = []
    at = 0
    for i, unit in enumerate(there):
        word = text[unit.start : unit.end]
        said.append(_pause(text[at : unit.start], unit))
        said.append(_misheard(word, unit, random, material) if i in missed else word.lower())
        at = unit.end
    return "".join(said).strip()


def _misheard(word: str, unit: Unit, random: Random, material: Material) -> str:
    if random.random() < 0.3:
        return ""
    alike = [one for one in material.sounding(word) if one.casefold() != word.casefold()]
    other = random.choice(alike) if alike else material.word(random, spaceless=unit.spaceless)
    return (other or "").lower()


def _pause(between: str, unit: Unit) -> str:
    """Paragraphs stay; a mark becomes a space, or nothing before a word that is written without."""
    if not between or "\n" in between:
        return between and ("\n\n" if "\n\n" in between else "\n")
    return "" if unit.spaceless and " " not in between else " "
