"""Words that two documents have in the same order, as shares: what sets of features cannot tell.

Words that stand once in either text are anchors; the longest chain of them that both have in one
order is aligned, and with it what is equal next to them, to the beginning and to the end
(``native/features/aligned.hpp``). What was moved counts once at most. Words that are repeated are
found only beside others, so a list of the same words over and over is aligned from its ends alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from neardup import _native
from neardup.schema import Array, Ragged

FAMILY = "aligned"


class Aligned(NamedTuple):
    """Words, an entry a pair: of each document, of the alignment, of its longest run without a
    gap."""

    a: Array
    b: Array
    words: Array
    run: Array


def align(profiles: Ragged, a: Array, b: Array, families: Sequence[str]) -> Aligned:
    """``families`` are those of the profiles, this one among them."""
    place = families.index(FAMILY)
    given = profiles.values, profiles.offsets, len(families), place
    return Aligned(*_native.align_profiles(*given, a, b).reshape(-1, len(Aligned._fields)).T)


def _share(part: Array, whole: Array) -> Array:
    """0 where there are no words."""
    return np.asarray(part / np.maximum(whole, 1))


MADE_OF: dict[str, Callable[[Aligned], Array]] = {
    "dice": lambda found: _share(2 * found.words, found.a + found.b),
    "containment": lambda found: _share(found.words, np.minimum(found.a, found.b)),
    "of_larger": lambda found: _share(found.words, np.maximum(found.a, found.b)),
    "run": lambda found: _share(found.run, np.minimum(found.a, found.b)),
}
