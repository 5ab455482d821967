"""How much of one text can be recognised in another, in spite of scan errors.

The normal form of the smaller text is divided into pieces of 60 characters. A piece is recognised
if some 60 consecutive characters of the larger text contain 70 % of its characters in the same
order (longest common subsequence). Unrelated texts of one language share about half of the
characters in order; a scan in which every fifth character is wrong keeps four fifths.

A pair that passes below the threshold must also reach the floor: at least 60 % of the pieces are
recognised (docs/decisions/0021-the-floor.md). At most 40 pieces, spread evenly over the text, are
searched for, so the cost does not grow with the smaller text. The decision is made in integers and
does not depend on the order of the two texts. The kernel is ``native/text/recognition.hpp``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import buffers

FLOOR = 60  # percent of the pieces
_EVERY_PIECE = 101  # more than can be found, so none is left out


class Recognised(NamedTuple):
    """``found`` of the ``pieces`` of the smaller text are recognised in the larger one."""

    found: int
    pieces: int

    @property
    def enough(self) -> bool:
        return self.reaches(FLOOR)

    def reaches(self, floor: int) -> bool:
        """Whether at least ``floor`` percent of the pieces are recognised."""
        return 100 * self.found >= floor * self.pieces

    @property
    def share(self) -> float:
        return self.found / self.pieces


def recognised(a: str, b: str) -> Recognised:
    texts, one, other = Ragged(*buffers([a, b])), np.array([0]), np.array([1])
    found, pieces = _counted(texts, one, other, _EVERY_PIECE)
    return Recognised(int(found[0]), int(pieces[0]))


def recognised_pairs(texts: Ragged, a: Array, b: Array, floor: int) -> npt.NDArray[np.bool_]:
    """Which pairs of the texts share at least ``floor`` percent of the pieces. Pieces are looked
    for until that is known."""
    found, pieces = _counted(texts, a, b, floor)
    return np.asarray(100 * found >= floor * pieces)


def _counted(texts: Ragged, a: Array, b: Array, floor: int) -> tuple[Array, Array]:
    forms = _native.normal_forms(texts.values, texts.offsets, Text().native())
    return _native.recognised_pairs(*forms, a.astype(np.int64), b.astype(np.int64), floor)
