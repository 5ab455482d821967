"""Measures of how two texts differ, to which the rules of kinds are applied.

The alignment of a pair shows which words both texts have, in order or moved. Each differing passage
is put into a class by its wording. Words that replace others are ``numbers``, ``misread`` (letters
that a scanner confuses), ``rebroken`` (divided at different places) or ``replaced``. Words that one
text alone has are ``furniture`` of the page, stand at an end of the text (``cut``,
``end_sentences``, ``end_paragraphs``), are whole ``paragraphs``, or are ``inside`` a paragraph. A
change that is repeated counts once. Counts are of words, or of characters in scripts without
spaces. ``native/decisions/differences.hpp`` computes the measures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged
from neardup.text.alignment import native_settings
from neardup.text.text_options import Text

# In the order of the columns that the kernel counts.
BOTH = ("replaced", "numbers", "misread", "rebroken")
ONE = ("furniture", "cut", "end_sentences", "end_paragraphs", "paragraphs", "inside")
FEATURES = (*BOTH, *(f"{name}_{side}" for side in "ab" for name in ONE))
COLUMN = {name: number for number, name in enumerate(FEATURES)}


@dataclass(frozen=True)
class Measures:
    """One row per pair. ``words`` are the lengths of both texts; ``counts`` has the columns
    ``FEATURES``. ``verbatim`` are shared words in long runs, ``blocks`` those in even longer runs,
    ``longest`` those of the longest run. ``differs`` is False if all words are shared in order."""

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
        """The counts of a class that one text alone has, one column per text."""
        return self.counts[:, [COLUMN[f"{name}_a"], COLUMN[f"{name}_b"]]]


def measured(texts: Ragged, a: Array, b: Array) -> Measures:
    """The measures of pairs of these texts. It is faster if consecutive pairs have the same text on
    the same side."""
    left, right = (np.ascontiguousarray(rows, np.int64) for rows in (a, b))
    words, *sums, counts, differs = _native.measure_pairs(
        texts.values, texts.offsets, left, right, *native_settings(texts, Text())
    )
    shared, verbatim, blocks, longest, moved = (column.astype(np.float64) for column in sums)
    return Measures(
        words=words.reshape(-1, 2).astype(np.float64),
        shared=shared,
        verbatim=verbatim,
        blocks=blocks,
        longest=longest,
        moved=moved,
        counts=counts.reshape(-1, len(FEATURES)).astype(np.float64),
        differs=differs.astype(np.bool_),
    )
