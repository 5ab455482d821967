"""What edits put into a copy: words, sentences and whole texts of the collection itself, so that a
planted copy is written in the language and with the words of its neighbours.

How a word sounds, roughly: its consonants by where they are spoken, after Soundex (Russell
1918), for Latin and Cyrillic letters. Other letters stand for themselves.

Where the words, sentences and paragraphs of a raw text stand, so that a copy can be edited and
everything between them stays as it was.

A unit is what ``neardup.text.words`` takes for a word, before folding; in scripts without spaces,
where words are pairs of characters, it is one character with its marks.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby, islice
from random import Random
from typing import NamedTuple

from neardup.text.words import sentences, words

_SILENT = "aeiouyhаеёиоуыэюяьъйі"
_PLACES = ("bpfvwбпвф", "cgjkqsxzßгкхжшщчцзс", "dtдт", "lлł", "mnмн", "rр")
_CODES = {letter: str(number) for number, row in enumerate(_PLACES, 1) for letter in row}


def sound(word: str) -> str:
    """Words with the same one are confused by ear. Without a consonant, the word itself."""
    plain = [c for c in unicodedata.normalize("NFKD", word.casefold()) if not _mark(c)]
    codes = [_CODES.get(c, c) for c in plain if c not in _SILENT]
    return "".join(code for code, _ in groupby(codes)) or "".join(plain)


def _mark(letter: str) -> bool:
    return unicodedata.category(letter) == "Mn"


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


MOST_WORDS = 50_000  # running words to draw from
PHRASE = (2, 6)  # words of an entry of a menu or a footer
TRIES = 20


@dataclass(frozen=True)
class Material:
    """``texts`` are (id, text) of documents of the collection, in a seeded order."""

    texts: Sequence[tuple[str, str]]
    _frames: dict[str, tuple[Random, list[str], list[int]]] = field(
        default_factory=dict, compare=False
    )

    @cached_property
    def words(self) -> dict[bool, list[str]]:
        """Running words, so that frequent ones are drawn often; spaceless units apart."""
        found: dict[bool, list[str]] = {False: [], True: []}
        for word, spaceless in islice(self._running(), MOST_WORDS):
            found[spaceless].append(word)
        return found

    def _running(self) -> Iterable[tuple[str, bool]]:
        for _, text in self.texts:
            for unit in units(text):
                yield text[unit.start : unit.end], unit.spaceless

    def word(self, random: Random, *, spaceless: bool, other_than: str = "") -> str | None:
        """None where the collection has no other word to offer."""
        pool = self.words[spaceless] or self.words[not spaceless]
        for _ in range(TRIES if pool else 0):
            word = random.choice(pool)
            if word.casefold() != other_than.casefold():
                return word
        return None

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word.casefold() for some in self.words.values() for word in some)

    def count(self, word: str) -> int:
        """How often it stands among the running words."""
        return self._counts[word.casefold()]

    @cached_property
    def _by_sound(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in dict.fromkeys(word.casefold() for word in self.words[False]):
            found.setdefault(sound(word), []).append(word)
        return found

    def sounding(self, word: str) -> list[str]:
        """Words of the collection that sound like this one, itself among them."""
        return self._by_sound.get(sound(word), [])

    def sentences(self, random: Random, own: str, length: int) -> tuple[list[Part], list[str]]:
        """Sentences in a row of one other document, and of more where it is too short, of
        ``length`` units together; and the ids of these documents."""
        found: list[Part] = []
        donors: list[str] = []
        for _ in range(TRIES):
            if length <= 0 or not self.texts:
                break
            donor, text = random.choice(self.texts)
            parts = sentence_parts(text) if text != own and donor not in donors else []
            begin = random.randrange(len(parts)) if parts else 0
            for part in parts[begin:]:
                if length <= 0:
                    break
                cut = _cut(part, length)
                length -= len(units(cut.text))
                found.append(cut)
            donors += [donor] if parts else []
        return found, donors

    def phrases(self, template: str, length: int) -> list[str]:
        """Short runs of words of many documents, ``length`` units together: a frame that no
        document wrote. A template has the same beginning at any length."""
        made: list[str] = []
        for phrase in self._frame(template, length):
            if length <= 0:
                break
            cut = _cut(Part(phrase, ""), length)
            made.append(cut.text)
            length -= len(units(cut.text))
        return made

    def _frame(self, template: str, length: int) -> list[str]:
        """At least so many units of a template; made once and kept, because all copies of an edit
        ask for it."""
        random, frame, made = self._frames.setdefault(template, (Random(template), [], [0]))
        while made[0] < length and any(self.words.values()):
            text = random.choice(self.texts)[1]
            there = _units(text)
            begin = random.randrange(len(there)) if there else 0
            run = there[begin : begin + random.randint(*PHRASE)]
            if run:
                frame.append(" ".join(text[run[0].start : run[-1].end].split()))
                made[0] += len(run)
        return frame


@lru_cache(256)  # frames of many templates are drawn from the same few texts
def _units(text: str) -> list[Unit]:
    return units(text)


def _cut(part: Part, length: int) -> Part:
    """No more than so many units of a sentence: some documents are one sentence."""
    there = units(part.text)
    if len(there) <= length:
        return part
    return Part(part.text[: there[length - 1].end], part.gap)
