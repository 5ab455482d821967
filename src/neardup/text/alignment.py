"""Two texts side by side: which passages they share, which moved, and where they differ.

Words are compared as the methods see them (normalised, stop words left out, stems), while spans
point at the text as it was written. Every word of either text lies in exactly one passage of its
side, and the spans of a side never overlap. Texts of up to 1,024 words get a longest common
subsequence; longer ones may be cut first at runs of words that are unique in both. Time and memory
are linear in the words, at most some 2,048 cells of one bit a word, however alike, unlike or
repetitive the texts are (``native/text/matches.hpp``). Texts of 4 GiB are refused.

Many pairs of texts aligned at once, as columns: what the kinds of a run are decided from.

The same passages as ``text.alignment``, but places are bytes of the UTF-8 text, and each side of a
passage that is not shared also says how it sits in its text: whether it begins and ends where a
sentence or a paragraph does, and whether it holds nothing but numbers and dates. Work is shared
among threads; the result does not depend on their number.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.errors import SettingsError
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text
from neardup.text.words import buffers, word_map, words

HOW = ("shared", "moved", "differs")  # Alignments.how is a place in this list

# Bits of a_edges and b_edges. The first and the last word of a text are at all four edges. A
# paragraph ends at a blank line, or at a line end where the text has no blank lines.
BEGINS_SENTENCE, ENDS_SENTENCE, BEGINS_PARAGRAPH, ENDS_PARAGRAPH = 1, 2, 4, 8
ONLY_NUMBERS = 16  # every word begins with a digit or names a month or a day of the week

MOST_BYTES = 2**32 - 1
_CHUNK_BYTES = 8 << 20  # of text, that a thread takes at a time

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


@dataclass(frozen=True, slots=True)
class Alignments:
    """The passages of pair ``i`` are rows ``offsets[i]`` to ``offsets[i + 1]`` of the others.

    They are in the order of ``Alignment.passages``. ``a_begin`` … ``b_end`` are bytes of the text;
    ``a_words`` and ``b_words`` count words. ``a_edges`` and ``b_edges`` are bits, 0 where the
    passage is shared; of an empty side they say what is at its place. One row a pair: ``words_a``,
    ``words_b`` (all words of each text) and ``whole``.
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
        """The pair of each passage: for sums by pair with ``np.bincount(found.pairs, weights)``."""
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

    Faster where pairs with the same text on the same side follow each other.
    """
    settings = native_settings(texts, options or Text())
    left, right = (np.ascontiguousarray(ids, np.int64) for ids in (left, right))

    def run(part: slice) -> Alignments:
        return _of(
            _native.align_pairs(
                texts.values, texts.offsets, left[part], right[part], *settings, by_chance
            )
        )

    parts = _parts(texts.lengths[left] + texts.lengths[right])
    if workers == 1 or len(parts) == 1:
        return _joined([run(part) for part in parts])
    with ThreadPoolExecutor(workers) as pool:
        return _joined(list(pool.map(run, parts)))


def native_settings(
    texts: Ragged, options: Text
) -> tuple[_native.TextOptions, _native.WordMap | None, _native.WordMap]:
    """What the kernel has to know of words to align these texts, none of which may be too long."""
    _check_sizes(texts)
    return options.native(), word_map(texts.values, texts.offsets, options), _numbers(options)


def _check_sizes(texts: Ragged) -> None:
    longest = int(texts.lengths.max(initial=0))
    if longest > MOST_BYTES:
        raise SettingsError(
            f"A text of {longest:,} bytes cannot be aligned; the most is {MOST_BYTES:,}.",
            hint="cut it into parts.",
        )


@lru_cache(maxsize=64)
def _numbers(options: Text) -> _native.WordMap:
    """The words that count as numbers, as these options leave them."""
    capitals = " ".join(word.capitalize() for word in _DATE_WORDS.split())
    named = words(_DATE_WORDS + capitals, options)
    hashes = _native.hash_words(*buffers(named))
    return _native.WordMap(hashes, np.zeros_like(hashes))


def _parts(sizes: Array) -> list[slice]:
    """Runs of pairs with about the same amount of text."""
    cuts = np.flatnonzero(np.diff(np.cumsum(sizes) // _CHUNK_BYTES)) + 1
    return [slice(i, j) for i, j in pairwise([0, *cuts.tolist(), len(sizes)])]


def _of(found: _native.AlignedPairs) -> Alignments:
    offsets, how, a, b, words_a, words_b, whole = found
    return Alignments(offsets, how, *a, *b, words_a, words_b, whole.astype(bool))


def _joined(parts: list[Alignments]) -> Alignments:
    if len(parts) == 1:
        return parts[0]
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    columns = [name for name in Alignments.__slots__ if name != "offsets"]
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return Alignments(offsets=offsets_of(lengths), **joined)


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

SHARED, MOVED, DIFFERS = HOW


class Span(NamedTuple):
    """``text[begin:end]``, in characters of the original text."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of words. ``how``: "shared", "moved" (shared, but in another order) or "differs".

    Where words differ one side may be empty; its span then says where the others would stand.
    ``words`` counts them on each side.
    """

    how: str
    a: Span
    b: Span
    words: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Alignment:
    """``passages`` in the reading order of ``a``; what only ``b`` has stands where ``b`` has it.

    A moved passage stands where ``a`` has it. ``words`` counts those of each text. ``whole`` is
    False where a stretch was too long and too repetitive to be aligned as a whole: more may be
    shared there than is said.
    """

    passages: tuple[Passage, ...]
    words: tuple[int, int]
    whole: bool

    @property
    def shared(self) -> tuple[Passage, ...]:
        return self._which(SHARED)

    @property
    def moved(self) -> tuple[Passage, ...]:
        return self._which(MOVED)

    @property
    def differing(self) -> tuple[Passage, ...]:
        return self._which(DIFFERS)

    def _which(self, how: str) -> tuple[Passage, ...]:
        return tuple(passage for passage in self.passages if passage.how == how)


def align(a: str, b: str, options: Text | None = None, *, by_chance: bool = False) -> Alignment:
    """All words of both texts, cut into passages.

    Unlike texts still have many words in the same order, one here and one there. Such matches
    count as differing, unless ``by_chance``.
    """
    texts = Ragged(*buffers([a, b]))
    left, right = np.array([0]), np.array([1])
    found = align_pairs(texts, left, right, options, by_chance=by_chance)
    spans = _spans(a, texts[0], found.a_begin, found.a_end)
    others = _spans(b, texts[1], found.b_begin, found.b_end)
    words = zip(found.a_words.tolist(), found.b_words.tolist(), strict=True)
    rows = zip(found.how.tolist(), spans, others, words, strict=True)
    passages = tuple(Passage(HOW[how], x, y, count) for how, x, y, count in rows)
    return Alignment(passages, _totals(found), bool(found.whole[0]))


def _totals(found: Alignments) -> tuple[int, int]:
    return int(found.words_a[0]), int(found.words_b[0])


def _spans(text: str, encoded: Array, begins: Array, ends: Array) -> list[Span]:
    if not text.isascii():
        # Characters before each byte: all but the bytes that continue one.
        before = np.concatenate([[0], np.cumsum((encoded & 0xC0) != 0x80)])
        begins, ends = before[begins], before[ends]
    return [Span(*span) for span in zip(begins.tolist(), ends.tolist(), strict=True)]
