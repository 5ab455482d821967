"""How two texts differ, in numbers: what the rules of kinds are applied to.

The alignment of a pair says which words both have, in order or moved. Every other word is counted
in one of the classes of ``decisions/differing.py``, those of one text alone by the text. Counts are
of words; in scripts without spaces, of characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup.decisions.differing import BEGINNING, BOTH, END, MOVED_WORDS, ONE, WITHIN, Tally
from neardup.decisions.written import SPACELESS, Side, Text
from neardup.schema import Array, Ragged
from neardup.text.alignments import (
    BEGINS_PARAGRAPH,
    BEGINS_SENTENCE,
    ENDS_PARAGRAPH,
    ENDS_SENTENCE,
    HOW,
    ONLY_NUMBERS,
    Alignments,
    align_pairs,
)

SHARED, MOVED, DIFFERS = range(len(HOW))
FEATURES = (*BOTH, *(f"{name}_{side}" for side in "ab" for name in ONE))
COLUMN = {name: number for number, name in enumerate(FEATURES)}

BEGINS, ENDS = BEGINS_SENTENCE | BEGINS_PARAGRAPH, ENDS_SENTENCE | ENDS_PARAGRAPH
ISLAND, SEA = 3, 8  # words that may be there by chance, and times so many around them
VERBATIM = 16  # words in a row that both have: text that nobody touched
BLOCK = 32  # so many, and they were copied: who rewrites does not leave two sentences as they are


@dataclass(frozen=True)
class Measures:
    """One row a pair. ``words`` are those of both texts, ``counts`` has the columns ``FEATURES``;
    ``verbatim`` are shared words in long runs, ``blocks`` those in still longer ones, ``longest``
    those of the longest; ``differs``: not all is shared in order."""

    words: npt.NDArray[np.float64]
    shared: npt.NDArray[np.float64]
    verbatim: npt.NDArray[np.float64]
    blocks: npt.NDArray[np.float64]
    longest: npt.NDArray[np.float64]
    moved: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    differs: npt.NDArray[np.bool_]

    def of(self, name: str) -> npt.NDArray[np.float64]:
        return self.counts[:, COLUMN[name]]

    def sides(self, name: str) -> npt.NDArray[np.float64]:
        """Of what one text alone has: a column each."""
        return self.counts[:, [COLUMN[f"{name}_a"], COLUMN[f"{name}_b"]]]


def measured(texts: Ragged, a: Array, b: Array) -> Measures:
    """Of pairs of these texts."""
    found = without_islands(align_pairs(texts, a, b))
    words = np.stack([_units(texts, a, found, "a"), _units(texts, b, found, "b")])
    shared, moved = found.how == SHARED, found.how == MOVED
    far = moved & (words.min(axis=0) >= MOVED_WORDS)
    made = Measures(
        words=np.stack([found.words_a, found.words_b], axis=1).astype(np.float64),
        shared=_sums(found, words[0], shared | moved),
        verbatim=_sums(found, words[0], shared & (words[0] >= VERBATIM)),
        blocks=_sums(found, words[0], (shared | moved) & (words[0] >= BLOCK)),
        longest=_longest(found, words[0], shared | moved),
        moved=_sums(found, words.max(axis=0), far),
        counts=np.zeros((len(found), len(FEATURES))),
        differs=np.bincount(found.pairs[~shared], minlength=len(found)) > 0,
    )
    made.of("replaced")[:] = _sums(found, words.max(axis=0), moved & ~far)
    for pair, tally in _tallies(texts, a, b, found, words):
        if tally.is_reordered():
            made.moved[pair] += sum(many for _, many in tally.counts())
            continue
        for name, many in tally.counts():
            made.counts[pair, COLUMN[name]] += many
    return made


def _units(texts: Ragged, of: Array, found: Alignments, side: str) -> Array:
    """Words, or characters where words are pairs of these: a character more makes two pairs more,
    but the span of a passage has it once."""
    begin, end, words = (getattr(found, f"{side}_{name}") for name in ("begin", "end", "words"))
    size = end.astype(np.int64) - begin
    units = np.where(size > 0, words, 0).astype(np.int64)
    there = np.flatnonzero(size)
    lead = texts.values[(texts.offsets[of][found.pairs] + begin)[there]]
    pairs_of = there[lead >= SPACELESS]
    units[pairs_of] = np.minimum(units[pairs_of], -(-size[pairs_of] // 3))
    return units


def _sums(found: Alignments, units: Array, where: Array) -> npt.NDArray[np.float64]:
    return np.bincount(found.pairs[where], units[where], len(found)).astype(np.float64)


def _longest(found: Alignments, units: Array, where: Array) -> npt.NDArray[np.float64]:
    made = np.zeros(len(found))
    np.maximum.at(made, found.pairs[where], units[where])
    return made


def without_islands(found: Alignments) -> Alignments:
    """A word or two that both have, in the midst of much that differs, are there by chance: the
    passages around them become one."""
    words = np.maximum(found.a_words, found.b_words).astype(np.int64)
    differs, pairs = found.how == DIFFERS, found.pairs
    inner = np.zeros(len(words), np.bool_)
    if len(words) > 2:
        around = differs[:-2] & differs[2:] & (pairs[:-2] == pairs[2:])
        least = np.minimum(words[:-2], words[2:])
        lone = (found.how[1:-1] == SHARED) & (words[1:-1] <= ISLAND)
        inner[1:-1] = around & lone & (least >= SEA * words[1:-1])
    joined = inner.copy()  # with the passage before
    joined[1:] |= inner[:-1]
    return _merged(found, ~joined) if joined.any() else found


def _merged(found: Alignments, begins: Array) -> Alignments:
    """Runs of passages as one; ``begins`` marks the first of each."""
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(begins)) - 1
    columns = {name: getattr(found, name) for name in ("words_a", "words_b", "whole")}
    columns["how"] = np.where(first < last, DIFFERS, found.how[first])
    columns["offsets"] = np.searchsorted(first, found.offsets)
    for side in "ab":
        begin, end, words, edges = (
            getattr(found, f"{side}_{name}") for name in ("begin", "end", "words", "edges")
        )
        columns[f"{side}_begin"] = np.minimum.reduceat(begin, first)
        columns[f"{side}_end"] = np.maximum.reduceat(end, first)
        columns[f"{side}_words"] = np.add.reduceat(words, first)
        numbers = np.bitwise_and.reduceat(edges, first) & ONLY_NUMBERS
        columns[f"{side}_edges"] = edges[first] & BEGINS | edges[last] & ENDS | numbers
    return Alignments(**columns)


def _tallies(
    texts: Ragged, a: Array, b: Array, found: Alignments, words: Array
) -> Iterator[tuple[int, Tally]]:
    """Of each pair with differing passages. Texts that are alike have few of them."""
    rows = np.flatnonzero((found.how == DIFFERS) & (words.max(axis=0) > 0))
    first, last = found.offsets[:-1], found.offsets[1:] - 1
    pairs = found.pairs[rows]
    at = np.where(rows == first[pairs], BEGINNING, np.where(rows == last[pairs], END, WITHIN))
    of_a, of_b = _sides(found, rows, words[0], "a"), _sides(found, rows, words[1], "b")
    ends = np.searchsorted(pairs, np.arange(len(found) + 1))
    for pair in np.flatnonzero(np.diff(ends)).tolist():
        part = slice(ends[pair], ends[pair + 1])
        one, other = (Text(texts[of[pair]].tobytes()) for of in (a, b))
        tally = Tally()
        for x, y, where in zip(of_a[part], of_b[part], at[part].tolist(), strict=True):
            tally.add(Side(one, *x), Side(other, *y), where)
        yield pair, tally


def _sides(found: Alignments, rows: Array, words: Array, side: str) -> list[list[int]]:
    """Begin, end, words and edges of these passages."""
    begin, end, edges = (getattr(found, f"{side}_{name}") for name in ("begin", "end", "edges"))
    columns = (column.astype(np.int64)[rows] for column in (begin, end, words, edges))
    found_rows: list[list[int]] = np.stack(list(columns), axis=1).tolist()
    return found_rows
