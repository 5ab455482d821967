"""How two texts differ, in numbers: what the rules of kinds are applied to.

The alignment of a pair says which words both texts have, in order or moved. The words of each
differing passage are counted in one of the classes ``FEATURES``, those that one text alone has by
the text: ``native/decisions/differences.hpp`` says how a passage finds its class. Counts are of
words; in scripts without spaces, of characters.
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
    """Of pairs of these texts. Faster where pairs with the same text on the same side follow each
    other."""
    left, right = (np.ascontiguousarray(ids, np.int64) for ids in (a, b))
    words, *sums, counts, differs = _native.measure_pairs(
        texts.values, texts.offsets, left, right, *native_settings(texts, Text())
    )
    return Measures(
        words.reshape(-1, 2).astype(np.float64),
        *(column.astype(np.float64) for column in sums),
        counts.reshape(-1, len(FEATURES)).astype(np.float64),
        differs.astype(np.bool_),
    )
