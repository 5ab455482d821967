"""Decoys: pairs of documents with the same template and different content.

A decoy is a frame of header, menu and footer around sentences of a document. The two decoys of a
pair share the frame and nothing else, like two pages of one web site. A decoy pair that is reported
as a duplicate is therefore a false alarm. Ids and the column ``edit`` call decoys ``trap``.

A second sort, forms, reports different facts in the same words, like two dividend notices. The
beginning of a document is the form. Its numbers and its rarest words, which include names, are
the blanks. Two fillings of a form share its wording and no fact, so a pair of them that is reported
as a duplicate is a false alarm. In contrast to a frame around
different texts, the shared words are spread over the whole text.
"""

from __future__ import annotations

import unicodedata
from random import Random
from typing import Any

import pyarrow as pa

from neardup.planting.material import Material, Unit, joined, sentence_parts, unit_count, units
from neardup.planting.plant import Planted, table_of
from neardup.planting.word_edits import framed, other_number, replaced

PREFIX = "trap:"
TRAP = "trap"
SHARES = (0.25, 0.5, 0.75)  # the share of a decoy that is frame
MOST_UNITS = 400  # of content; longer decoys would only cost time


def decoys(planted: Planted, pairs: int) -> pa.Table:
    """``pairs`` pairs of decoys for each share, a pair in neighbouring rows.

    ``donors`` names the document whose sentences a decoy contains. Each pair has its own template,
    so that pairs are independent trials."""
    texts = planted.material.texts
    rows: list[dict[str, Any]] = []
    originals: list[int] = []
    for share in SHARES if len(texts) > 1 else ():
        random = Random(f"{planted.seed}:traps:{share:g}")
        for number in range(pairs):
            donors = random.sample(range(len(texts)), 2)
            length = min(MOST_UNITS, *(unit_count(texts[donor][1]) for donor in donors))
            name = f"{share:g}:{number}"
            frame = round(length * share / (1 - share))
            for side, donor in zip("ab", donors, strict=True):
                id, text = texts[donor]
                content = beginning(text, length)
                rows.append(
                    {
                        "id": f"{PREFIX}{name}:{side}",
                        "text": framed(content, planted.material, f"{planted.seed}:{name}", frame),
                        "edit": TRAP,
                        "rate": share,
                        "donors": [id],
                    }
                )
            originals += [donors[0]] * 2  # equal dates and groups must not separate the pair
    return table_of(rows, planted.drawn.take(pa.array(originals, pa.int64())))


def beginning(text: str, length: int) -> str:
    """The first sentences, together at least ``length`` units long."""
    parts = sentence_parts(text)
    total = 0
    for number, part in enumerate(parts, 1):
        total += unit_count(part.text)
        if total >= length:
            return joined(parts[:number]).strip()
    return text.strip()


FORM_PREFIX = "form:"
FORM = "form"
FORM_SHARES = (0.5, 0.75)  # the share of the words that all fillings have
UNITS = 150  # the approximate length of a form
DRAWS = 8  # words drawn for a blank; the rarest of them fills it


def forms(planted: Planted, pairs: int, fillings: int = 2) -> pa.Table:
    """``pairs`` pairs of filled forms for each share, a pair in neighbouring rows.

    Each form is filled ``fillings`` times, an even number. ``donors`` names the document whose
    beginning is the form."""
    texts = planted.material.texts
    rows: list[dict[str, Any]] = []
    originals: list[int] = []
    for share in FORM_SHARES if len(texts) > 1 else ():
        random = Random(f"{planted.seed}:forms:{share:g}")
        for number in range(pairs * 2 // fillings):
            original = random.randrange(len(texts))
            id, text = texts[original]
            form = beginning(text, UNITS)
            rows += [
                {
                    "id": f"{FORM_PREFIX}{share:g}:{number}:{chr(ord('a') + side)}",
                    "text": _filled(form, share, planted.material, random),
                    "edit": FORM,
                    "rate": share,
                    "donors": [id],
                }
                for side in range(fillings)
            ]
            originals += [original] * fillings
    return table_of(rows, planted.drawn.take(pa.array(originals, pa.int64())))


def _blanks(text: str, words: list[Unit], share: float, material: Material) -> list[int]:
    """All but ``share`` of the words: first numbers, then the rarest words."""

    def order(i: int) -> tuple[bool, int]:
        word = text[words[i].start : words[i].end]
        return not word.isdecimal(), material.count(word)

    return sorted(sorted(range(len(words)), key=order)[: round((1 - share) * len(words))])


def _filled(text: str, share: float, material: Material, random: Random) -> str:
    """A word that stands in several blanks, such as a name, is replaced by one word in all."""
    words = units(text)
    changed: dict[int, str] = {}
    replacement: dict[str, str] = {}
    for i in _blanks(text, words, share, material):
        word = text[words[i].start : words[i].end]
        if word not in replacement:
            replacement[word] = _replacement(word, words[i], material, random)
        changed[i] = replacement[word]
    return replaced(text, words, changed)


def _replacement(word: str, blank: Unit, material: Material, random: Random) -> str:
    """Another number, or the rarest of some words of the collection, if possible of the same
    alphabet."""
    if word.isdecimal():
        return other_number(word, random)

    def order(candidate: str) -> tuple[bool, int]:
        return _alphabet(candidate) != _alphabet(word), material.count(candidate)

    drawn = [
        material.word(random, spaceless=blank.spaceless, other_than=word) for _ in range(DRAWS)
    ]
    rarest = min((candidate or word for candidate in drawn), key=order)
    return rarest.capitalize() if word[0].isupper() else rarest


def _alphabet(word: str) -> str:
    return unicodedata.name(word[0], "").split(" ")[0]
