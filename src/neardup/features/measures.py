"""How much two feature sets have in common, exactly and with the letters of the papers.

``S(A, w)`` is the set of w-word shingles of A (Broder 1997); a text of fewer than w words has one
shingle, all its words. Texts without words share nothing: both measures are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup import _native
from neardup.schema import Array
from neardup.text.options import Text
from neardup.text.words import buffers, word_map


@dataclass(frozen=True)
class Overlap:
    """Sizes of two sets ``A`` and ``B`` and of what they share; ``w`` words make a feature."""

    w: int
    a: int
    b: int
    shared: int

    @property
    def resemblance(self) -> float:
        """r(A, B) = |A∩B| / |A∪B|; 1 − r is a metric."""
        return self.shared / max(self.a + self.b - self.shared, 1)

    @property
    def a_in_b(self) -> float:
        """c(A in B) = |A∩B| / |A|."""
        return self.shared / max(self.a, 1)

    @property
    def b_in_a(self) -> float:
        """c(B in A) = |A∩B| / |B|."""
        return self.shared / max(self.b, 1)


def resemblance(a: str, b: str, *, words: int = 5, text: Text | None = None) -> float:
    """r(A, B) on sets of ``words``-word shingles."""
    return shingle_overlaps(a, b, (words,), text)[0].resemblance


def containment(a: str, b: str, *, words: int = 5, text: Text | None = None) -> float:
    """c(A in B): the share of A's shingles that are found in B."""
    return shingle_overlaps(a, b, (words,), text)[0].a_in_b


def shingle_overlaps(
    a: str, b: str, widths: tuple[int, ...], text: Text | None = None
) -> tuple[Overlap, ...]:
    """The words are cut once for all widths."""
    options = text or Text()
    values, offsets = buffers([a, b])
    words = word_map(values, offsets, options)
    hashes, ends = _native.word_hashes(values, offsets, options.native(), words)
    both = hashes[: ends[1]], hashes[ends[1] :]
    return tuple(_overlap(w, *(_native.shingle_set(one, w) for one in both)) for w in widths)


def _overlap(w: int, a: Array, b: Array) -> Overlap:
    shared = np.intersect1d(a, b, assume_unique=True)
    return Overlap(w, len(a), len(b), len(shared))
