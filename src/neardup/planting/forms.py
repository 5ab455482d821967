"""Forms: texts that say the same of other things, as notices of dividends and daily figures do.

The beginning of a document is the form; its numbers and its rarest words, among them the names, are
the blanks. Two fillings of one form share its frame and no fact, so a pair that passes is a false
alarm. They are traps of another shape than frames around unlike texts (``decoys.py``): what is
shared runs through the whole text.
"""

from __future__ import annotations

import unicodedata
from random import Random
from typing import Any

import pyarrow as pa

from neardup.planting.decoys import beginning
from neardup.planting.material import Material, Unit, units
from neardup.planting.plant import Planted, table_of
from neardup.planting.word_edits import other_number, replaced

PREFIX = "form:"
FORM = "form"
SHARES = (0.5, 0.75)  # of the words that are frame
UNITS = 150  # of a form, about
DRAWS = 8  # words that a blank is filled with the rarest of


def forms(planted: Planted, pairs: int, fillings: int = 2) -> pa.Table:
    """So many pairs for each share, in neighbouring rows; each form is filled ``fillings`` times,
    an even number. ``donors`` is whose beginning it is."""
    texts = planted.material.texts
    rows: list[dict[str, Any]] = []
    taken: list[int] = []
    for share in SHARES if len(texts) > 1 else ():
        random = Random(f"{planted.seed}:forms:{share:g}")
        for number in range(pairs * 2 // fillings):
            i = random.randrange(len(texts))
            form = beginning(texts[i][1], UNITS)
            for side in range(fillings):
                name = f"{PREFIX}{share:g}:{number}:{chr(ord('a') + side)}"
                text = _filled(form, share, planted.material, random)
                rows.append(_row(name, text, share, texts[i][0]))
            taken += [i] * fillings
    return table_of(rows, planted.drawn.take(pa.array(taken, pa.int64())))


def _row(id: str, text: str, share: float, donor: str) -> dict[str, Any]:
    return {"id": id, "text": text, "edit": FORM, "rate": share, "donors": [donor]}


def _blanks(text: str, there: list[Unit], share: float, material: Material) -> list[int]:
    """All but ``share`` of the words: numbers, and then the rarest."""

    def order(i: int) -> tuple[bool, int]:
        word = text[there[i].start : there[i].end]
        return not word.isdecimal(), material.count(word)

    return sorted(sorted(range(len(there)), key=order)[: round((1 - share) * len(there))])


def _filled(text: str, share: float, material: Material, random: Random) -> str:
    """What stood in two blanks, as a name may, is another in both, and the same one."""
    there = units(text)
    put: dict[int, str] = {}
    other: dict[str, str] = {}
    for i in _blanks(text, there, share, material):
        word = text[there[i].start : there[i].end]
        if word not in other:
            other[word] = _other(word, there[i], material, random)
        put[i] = other[word]
    return replaced(text, there, put)


def _other(word: str, blank: Unit, material: Material, random: Random) -> str:
    """A number, or of some words of the collection one in the same letters, the rarest."""
    if word.isdecimal():
        return other_number(word, random)

    def unlike(other: str) -> tuple[bool, int]:
        return _alphabet(other) != _alphabet(word), material.count(other)

    drawn = [
        material.word(random, spaceless=blank.spaceless, other_than=word) for _ in range(DRAWS)
    ]
    other = min((one or word for one in drawn), key=unlike)
    return other.capitalize() if word[0].isupper() else other


def _alphabet(word: str) -> str:
    return unicodedata.name(word[0], "").split(" ")[0]
