"""Words and sentences of the collection, from which edits build copies.

Because the material comes from the collection itself, a copy has the language and the vocabulary of
its neighbours. ``units``, ``sentence_parts`` and ``paragraph_parts`` locate words, sentences and
paragraphs in the raw text, so that an edit leaves everything between them unchanged. A unit is a
word as ``neardup.text.words`` finds it, before case folding; in scripts without spaces, where words
are pairs of characters, it is one character with its marks. ``sound`` is a rough phonetic code
after Soundex (Russell 1918) for Latin and Cyrillic letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby, islice, pairwise
from random import Random
from typing import NamedTuple

from neardup.text.words import sentences, words

_SILENT = "aeiouyhаеёиоуыэюяьъйі"
_PLACES = ("bpfvwбпвф", "cgjkqsxzßгкхжшщчцзс", "dtдт", "lлł", "mnмн", "rр")
_CODES = {letter: str(number) for number, row in enumerate(_PLACES, 1) for letter in row}


def sound(word: str) -> str:
    """A code that words have in common if they are confused by ear; the word itself if it has no
    consonant."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    plain = [c for c in decomposed if unicodedata.category(c) != "Mn"]
    codes = [_CODES.get(c, c) for c in plain if c not in _SILENT]
    return "".join(code for code, _ in groupby(codes)) or "".join(plain)


SEPARATOR, ORDINARY, SPACELESS, MARK = "s", "o", "x", "m"
_UNIT = re.compile(f"{SPACELESS}{MARK}*|[{ORDINARY}{MARK}]+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")


class Unit(NamedTuple):
    start: int
    end: int
    spaceless: bool


class Part(NamedTuple):
    """A sentence or paragraph, and the white space after it."""

    text: str
    gap: str


class _Classes(dict[int, str]):
    """The class of a code point, from the tokenizer itself: three times a letter is one word, or
    two pairs in a script without spaces."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if unicodedata.category(letter)[0] == "M":
            self[code] = MARK
        else:
            self[code] = (SEPARATOR, ORDINARY, SPACELESS)[min(len(words(letter * 3)), 2)]
        return self[code]


_CLASSES = _Classes()


def units(text: str) -> list[Unit]:
    classes = text.translate(_CLASSES)
    return [
        Unit(match.start(), match.end(), classes[match.start()] == SPACELESS)
        for match in _UNIT.finditer(classes)
    ]


def unit_count(text: str) -> int:
    return sum(1 for _ in _UNIT.finditer(text.translate(_CLASSES)))


def sentence_parts(text: str) -> list[Part]:
    """The parts joined are the text."""
    return [_part(sentence) for sentence in sentences(text)]


def paragraph_parts(text: str) -> list[Part]:
    """Paragraphs end at blank lines, or at line ends if there are no blank lines. The parts joined
    are the text."""
    separator = _BLANK_LINE if _BLANK_LINE.search(text.strip()) else _LINE
    ends = [match.end() for match in separator.finditer(text)]
    return [_part(text[a:b]) for a, b in pairwise([0, *ends, len(text)]) if a < b]


def _part(piece: str) -> Part:
    body = piece.rstrip()
    return Part(body, piece[len(body) :])


def joined(parts: list[Part]) -> str:
    return "".join(part.text + part.gap for part in parts)


def shuffled_bodies(parts: list[Part], order: list[int]) -> str:
    """The bodies in the given order; the white space stays at its place."""
    return "".join(parts[i].text + part.gap for i, part in zip(order, parts, strict=True))


MOST_WORDS = 50_000  # running words to draw from
PHRASE = (2, 6)  # least and most words of an entry of a menu or a footer
TRIES = 20


@dataclass(frozen=True)
class Material:
    """``texts`` are pairs (id, text) of documents of the collection, in a seeded order."""

    texts: Sequence[tuple[str, str]]
    _frames: dict[str, tuple[Random, list[str], list[int]]] = field(
        default_factory=dict, compare=False
    )

    @cached_property
    def words(self) -> dict[bool, list[str]]:
        """Words with their repetitions, so that frequent words are drawn often; False → words of
        scripts with spaces, True → characters of scripts without."""
        running = ((text, unit) for _, text in self.texts for unit in units(text))
        drawn: dict[bool, list[str]] = {False: [], True: []}
        for text, unit in islice(running, MOST_WORDS):
            drawn[unit.spaceless].append(text[unit.start : unit.end])
        return drawn

    def word(self, random: Random, *, spaceless: bool, other_than: str = "") -> str | None:
        """A random word; None if the collection has no other word."""
        pool = self.words[spaceless] or self.words[not spaceless]
        for _ in range(TRIES if pool else 0):
            word = random.choice(pool)
            if word.casefold() != other_than.casefold():
                return word
        return None

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word.casefold() for running in self.words.values() for word in running)

    def count(self, word: str) -> int:
        """The number of its occurrences among the running words."""
        return self._counts[word.casefold()]

    @cached_property
    def _by_sound(self) -> dict[str, list[str]]:
        by_sound: dict[str, list[str]] = {}
        for word in dict.fromkeys(word.casefold() for word in self.words[False]):
            by_sound.setdefault(sound(word), []).append(word)
        return by_sound

    def sounding(self, word: str) -> list[str]:
        """Words of the collection that sound like this one, possibly itself among them."""
        return self._by_sound.get(sound(word), [])

    def sentences(self, random: Random, own: str, length: int) -> tuple[list[Part], list[str]]:
        """Consecutive sentences of another document, or of several if one is too short, together
        ``length`` units long; and the ids of these documents. ``own`` is the text to edit."""
        passage: list[Part] = []
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
                shortened = _shortened(part, length)
                length -= len(units(shortened.text))
                passage.append(shortened)
            donors += [donor] if parts else []
        return passage, donors

    def phrases(self, template: str, length: int) -> list[str]:
        """Short runs of words of many documents, together ``length`` units long. They form a frame
        that no document contains. A template begins alike at every length."""
        phrases: list[str] = []
        for phrase in self._frame(template, length):
            if length <= 0:
                break
            text = _shortened(Part(phrase, ""), length).text
            phrases.append(text)
            length -= len(units(text))
        return phrases

    def _frame(self, template: str, length: int) -> list[str]:
        """At least ``length`` units of a template, stored because all copies of an edit use it."""
        random, frame, size = self._frames.setdefault(template, (Random(template), [], [0]))
        while size[0] < length and any(self.words.values()):
            text = random.choice(self.texts)[1]
            words = _cached_units(text)
            begin = random.randrange(len(words)) if words else 0
            run = words[begin : begin + random.randint(*PHRASE)]
            if run:
                frame.append(" ".join(text[run[0].start : run[-1].end].split()))
                size[0] += len(run)
        return frame


_cached_units = lru_cache(256)(units)  # frames of many templates are drawn from the same few texts


def _shortened(part: Part, length: int) -> Part:
    """At most ``length`` units of a sentence: some documents are a single long sentence."""
    words = units(part.text)
    if len(words) <= length:
        return part
    return Part(part.text[: words[length - 1].end], part.gap)
