"""A text as a vector of its words, without any model: feature hashing (Weinberger et al. 2009).

Each word adds the root of its count, with a sign, at a few of the places that its hash names; inner
products of such vectors are those of the word counts but for a small random part (Kane & Nelson
2014). It is lexical: texts are near that use the same words, whatever they mean, in whatever order.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Ragged
from neardup.text.options import Text

DIMENSIONS = 512
_PLACES = 4  # of a word
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def scrambled(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finish of SplitMix64 (Steele, Lea & Flood 2014)."""
    x = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return x ^ x >> np.uint64(31)


class Hashing:
    """The encoder that needs no model; the same bits on every machine, in batches of any size."""

    length: ClassVar[int] = 0  # reads a text of any length as a whole
    threads: ClassVar[bool] = True

    def encode(self, texts: list[str]) -> npt.NDArray[np.float64]:
        """One vector a text; zeros for a text without words."""
        given = Ragged.of_texts(texts)
        words = Ragged(*_native.word_hashes(given.values, given.offsets, Text().native(), None))
        rows, hashes, counts = _counted(words)
        made = np.zeros(len(words) * DIMENSIONS)
        for number in range(1, _PLACES + 1):
            drawn = scrambled(hashes + np.uint64(number * _GOLDEN & _MASK))
            place = (drawn >> np.uint64(1)) % np.uint64(DIMENSIONS)
            signed = np.where(drawn & np.uint64(1), 1.0, -1.0) * np.sqrt(counts)
            made += np.bincount(
                rows * DIMENSIONS + place.astype(np.int64), signed, len(words) * DIMENSIONS
            )
        return made.reshape(len(words), DIMENSIONS)


def _counted(
    words: Ragged,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64], npt.NDArray[Any]]:
    """Each distinct word of each text once: the number of the text, its hash, its count."""
    hashes = words.values.copy()
    for begin, end in pairwise(words.offsets.tolist()):
        hashes[begin:end].sort()
    rows = np.repeat(np.arange(len(words)), words.lengths)
    new = np.ones(len(rows), np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (hashes[1:] != hashes[:-1])
    starts = np.flatnonzero(new)
    return rows[starts], hashes[starts], np.diff(starts, append=len(rows))
