"""Alignment of two texts into passages that are shared, moved or different.

Words are compared as the methods compare them: normalised, stemmed and without stop words. Spans
refer to the text as it was written. Every word of either text belongs to exactly one passage of its
side, and the spans of a side never overlap. For texts of up to 1,024 words the shared passages are
a longest common subsequence; longer texts may first be divided at runs of words that occur once in
both. Time and memory are linear in the number of words, with at most about 2,048 one-bit cells per
word for any content (``native/text/matches.hpp``). Texts of 4 GiB or more are refused.

``align`` returns one pair as objects, with spans in characters. ``align_pairs`` returns many pairs
as columns, with spans in bytes of UTF-8; its result does not depend on the number of threads.

``edit_distance`` of two sequences, characters or words, is the cost of the cheapest way from one to
the other. Deletions, insertions and substitutions each have a cost of their own. The distance is
raw: a sum of costs, 0 for equal sequences. RapidFuzz computes it, in O(m·n) at worst. ``steps`` is
a cheapest way under these costs (Wagner & Fischer 1974), for sequences of which the parts that
differ have at most ``MOST_CELLS`` pairs of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.classes import dataclass
from neardup.errors import SettingsError
from neardup.schema import Array, Ragged, offsets_of, slices_of
from neardup.text.text_options import Text
from neardup.text.words import buffers, word_map, words

__all__ = [
    "DIFFERS",
    "MOVED",
    "SHARED",
    "Alignment",
    "Alignments",
    "Passage",
    "Span",
    "align",
    "align_pairs",
]

SHARED, MOVED, DIFFERS = HOW = ("shared", "moved", "differs")  # Alignments.how indexes HOW

# Bits of a_edges and b_edges. The first and the last word of a text have all four edge bits set. A
# paragraph ends at a blank line, or at a line end if the text has no blank lines.
BEGINS_SENTENCE, ENDS_SENTENCE, BEGINS_PARAGRAPH, ENDS_PARAGRAPH = 1, 2, 4, 8
ONLY_NUMBERS = 16  # every word begins with a digit or is the name of a month or a weekday

MOST_BYTES = 2**32 - 1
_CHUNK_BYTES = 8 << 20  # text that a thread aligns at a time

_DATE_WORDS = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec am pm
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat
    januar jänner februar märz mai juni juli oktober dezember mrz okt dez uhr
    montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    janeiro fevereiro março maio junho julho setembro outubro dezembro
    januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    stycznia lutego marca kwietnia maja czerwca lipca sierpnia września
    października listopada grudnia
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    年 月 日 時 分
"""


@dataclass(frozen=True)
class Alignments:
    """The passages of pair ``i`` are rows ``offsets[i]`` to ``offsets[i + 1]`` of the columns.

    Passages are in the order of ``Alignment.passages``. ``a_begin`` … ``b_end`` are byte positions;
    ``a_words`` and ``b_words`` count words. ``a_edges`` and ``b_edges`` are the bits above, 0 for a
    shared passage; those of an empty side describe the position where it would be. ``words_a``,
    ``words_b`` (all words of each text) and ``whole`` have one row per pair.
    """

    offsets: Array
    how: Array
    a_begin: Array
    a_end: Array
    a_words: Array
    a_edges: Array
    b_begin: Array
    b_end: Array
    b_words: Array
    b_edges: Array
    words_a: Array
    words_b: Array
    whole: Array

    def __len__(self) -> int:
        return len(self.whole)

    @property
    def pairs(self) -> Array:
        """The pair number of each passage, for sums per pair with ``np.bincount``."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))


def align_pairs(
    texts: Ragged,
    left: Array,
    right: Array,
    options: Text | None = None,
    *,
    workers: int = 1,
    by_chance: bool = False,
) -> Alignments:
    """``texts`` are UTF-8; pair ``i`` is ``texts[left[i]]`` and ``texts[right[i]]``.

    Alignment is faster if consecutive pairs have the same text on the same side. ``by_chance`` is
    explained at ``align``.
    """
    settings = native_settings(texts, options or Text())
    left, right = (np.ascontiguousarray(rows, np.int64) for rows in (left, right))

    def aligned(part: slice) -> Alignments:
        offsets, how, a, b, words_a, words_b, whole = _native.align_pairs(
            texts.values, texts.offsets, left[part], right[part], *settings, by_chance
        )
        return Alignments(offsets, how, *a, *b, words_a, words_b, whole.astype(bool))

    parts = slices_of(texts.lengths[left] + texts.lengths[right], _CHUNK_BYTES) or [slice(0)]
    if len(parts) == 1:
        return aligned(parts[0])
    if workers == 1:
        return _joined([aligned(part) for part in parts])
    with ThreadPoolExecutor(workers) as pool:
        return _joined(list(pool.map(aligned, parts)))


def native_settings(
    texts: Ragged, options: Text
) -> tuple[_native.TextOptions, _native.WordMap | None, _native.WordMap]:
    """The settings of words that the kernel needs to align these texts; a text that is too long is
    an error."""
    longest = int(texts.lengths.max(initial=0))
    if longest > MOST_BYTES:
        raise SettingsError(
            f"A text of {longest:,} bytes cannot be aligned; the most is {MOST_BYTES:,}.",
            hint="cut it into parts.",
        )
    return options.native(), word_map(texts.values, texts.offsets, options), _number_words(options)


@lru_cache(maxsize=64)
def _number_words(options: Text) -> _native.WordMap:
    """Words that count as numbers, normalised by these options."""
    capitals = " ".join(word.capitalize() for word in _DATE_WORDS.split())
    hashes = _native.hash_words(*buffers(words(_DATE_WORDS + capitals, options)))
    return _native.WordMap(hashes, np.zeros_like(hashes))


def _joined(parts: list[Alignments]) -> Alignments:
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    columns = [field.name for field in fields(Alignments) if field.name != "offsets"]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return Alignments(offsets=offsets_of(lengths), **joined)


class Span(NamedTuple):
    """``text[begin:end]``, in characters of the original text."""

    begin: int
    end: int


class Passage(NamedTuple):
    """A run of words. ``how`` is "shared", "moved" (shared, but in another order) or "differs".

    One side of a differing passage may be empty; its span is then the position where the words of
    the opposite side are missing. ``words`` is the number of words on each side.
    """

    how: str
    a: Span
    b: Span
    words: tuple[int, int]


class Alignment(NamedTuple):
    """``passages`` are in the reading order of ``a``, words of ``b`` alone at their place in ``b``.

    A moved passage is listed at its place in ``a``. ``words`` is the length of each text. ``whole``
    is False if a stretch was too long and too repetitive to be aligned completely: the texts may
    then share more than the passages show.
    """

    passages: tuple[Passage, ...]
    words: tuple[int, int]
    whole: bool

    @property
    def shared(self) -> tuple[Passage, ...]:
        return self._with(SHARED)

    @property
    def moved(self) -> tuple[Passage, ...]:
        return self._with(MOVED)

    @property
    def differing(self) -> tuple[Passage, ...]:
        return self._with(DIFFERS)

    def _with(self, how: str) -> tuple[Passage, ...]:
        return tuple(passage for passage in self.passages if passage.how == how)


def align(a: str, b: str, options: Text | None = None, *, by_chance: bool = False) -> Alignment:
    """All words of both texts, divided into passages.

    Unrelated texts also have scattered single words in the same order. Such matches count as
    differing, unless ``by_chance`` is set.
    """
    texts = Ragged(*buffers([a, b]))
    left, right = np.array([0]), np.array([1])
    columns = align_pairs(texts, left, right, options, by_chance=by_chance)
    rows = zip(
        columns.how.tolist(),
        _spans(a, texts[0], columns.a_begin, columns.a_end),
        _spans(b, texts[1], columns.b_begin, columns.b_end),
        zip(columns.a_words.tolist(), columns.b_words.tolist(), strict=True),
        strict=True,
    )
    passages = tuple(Passage(HOW[how], x, y, count) for how, x, y, count in rows)
    totals = int(columns.words_a[0]), int(columns.words_b[0])
    return Alignment(passages, totals, bool(columns.whole[0]))


def _spans(text: str, encoded: Array, begins: Array, ends: Array) -> list[Span]:
    if not text.isascii():
        # The number of characters before each byte; continuation bytes begin no character.
        before = np.concatenate([[0], np.cumsum((encoded & 0xC0) != 0x80)])
        begins, ends = before[begins], before[ends]
    return [Span(*span) for span in zip(begins.tolist(), ends.tolist(), strict=True)]


MOST_CELLS = 25_000_000  # a byte each
_INSERT, _DELETE, _DIAGONAL = 0, 1, 2


class Costs(NamedTuple):
    insertion: int = 1
    deletion: int = 1
    substitution: int = 1

    @classmethod
    def parse(cls, written: str) -> Costs:
        """Costs as "1,1,2"."""
        parts = written.split(",")
        if len(parts) != len(cls._fields) or not all(part.strip().isdigit() for part in parts):
            raise SettingsError(
                f"The costs of edits are {written!r}; expected three whole numbers.",
                hint="insertion, deletion and substitution, such as 1,1,2.",
            )
        return cls(*map(int, parts))


class Step(NamedTuple):
    """``how`` is insert, delete or replace; positions are those in the first and the second."""

    how: str
    first: int
    second: int


def edit_distance(a: Sequence[str], b: Sequence[str], costs: Costs = Costs()) -> int:  # noqa: B008
    from rapidfuzz.distance import Levenshtein

    return int(
        Levenshtein.distance(a, b, weights=(costs.insertion, costs.deletion, costs.substitution))
    )


def steps(a: Sequence[str], b: Sequence[str], costs: Costs = Costs()) -> list[Step] | None:  # noqa: B008
    """The edits of a cheapest way from ``a`` to ``b``; None if the sequences are too long."""
    head, tail = _equal_ends(a, b)
    x, y = _numbered(a[head : len(a) - tail], b[head : len(b) - tail])
    if len(x) * len(y) > MOST_CELLS:
        return None
    return _walked(_moves(x, y, costs), x, y, head)


def _equal_ends(a: Sequence[str], b: Sequence[str]) -> tuple[int, int]:
    """How many elements both begin with, and how many of the others they end with: a cheapest way
    leaves these as they are."""
    least = min(len(a), len(b))
    head = next((i for i in range(least) if a[i] != b[i]), least)
    rest = least - head
    return head, next((i for i in range(rest) if a[-1 - i] != b[-1 - i]), rest)


def _numbered(a: Sequence[str], b: Sequence[str]) -> tuple[Array, Array]:
    numbers: dict[str, int] = {}
    x, y = ([numbers.setdefault(one, len(numbers)) for one in each] for each in (a, b))
    return np.array(x, np.int64), np.array(y, np.int64)


def _moves(x: Array, y: Array, costs: Costs) -> Array:
    """The last move of a cheapest way to every pair of places, row by row. Insertions depend on the
    place before them in the row: ``c[j] = min(d[k] + (j − k)·insertion)`` is a running minimum."""
    ahead = np.arange(len(y) + 1) * costs.insertion
    row = ahead.copy()
    moves = np.zeros((len(x) + 1, len(y) + 1), np.uint8)
    for i, one in enumerate(x, 1):
        diagonal = np.append(i * costs.deletion, row[:-1] + (y != one) * costs.substitution)
        deleted = row + costs.deletion
        direct = np.minimum(diagonal, deleted)
        row = np.minimum.accumulate(direct - ahead) + ahead
        moves[i] = np.where(row < direct, _INSERT, np.where(deleted < diagonal, _DELETE, _DIAGONAL))
        moves[i, 0] = _DELETE
    return moves


def _walked(moves: Array, x: Array, y: Array, start: int) -> list[Step]:
    i, j = len(x), len(y)
    walked = []
    while i or j:
        move = moves[i, j]
        if move == _DIAGONAL:
            i, j = i - 1, j - 1
            if x[i] != y[j]:
                walked.append(Step("replace", start + i, start + j))
        elif move == _DELETE:
            i -= 1
            walked.append(Step("delete", start + i, start + j))
        else:
            j -= 1
            walked.append(Step("insert", start + i, start + j))
    return walked[::-1]
