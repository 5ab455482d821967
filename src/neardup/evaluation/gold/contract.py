"""What gold is asked, whatever it was made from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neardup.schema import Array

POSITIVE, NEGATIVE, UNKNOWN = 1, 0, -1

Classes = npt.NDArray[np.int8]


@dataclass
class Unused:
    """What labels said that could not be used."""

    unknown_ids: int = 0  # rows that name a document that is not there
    examples: list[str] = field(default_factory=list)  # of such ids
    with_itself: int = 0
    contradicting: int = 0  # pairs that are both positive and negative
    other_labels: dict[str, int] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        return {**vars(self)}


class Gold(Protocol):
    """``documents`` is their number; ``same`` numbers texts: equal after normalisation, equal
    number (None where that is not known)."""

    @property
    def documents(self) -> int: ...

    complete: bool
    same: Array | None
    unused: Unused

    def classes(self, a: Array, b: Array) -> Classes: ...

    @property
    def names(self) -> list[str]: ...

    def label_codes(self, a: Array, b: Array) -> Array:
        """What gold calls each pair, as a place in ``names``; −1 where it says nothing."""
        ...

    def labels(self, a: Array, b: Array) -> npt.NDArray[np.object_]:
        """What gold calls each pair; "" where it says nothing."""
        return np.array([*self.names, ""], object)[self.label_codes(a, b)]

    def positives(self, limit: int | None = None) -> tuple[Array, Array]:
        """All positive pairs, the smaller number first, sorted; where there are more than
        ``limit``, so many of them, drawn with a fixed seed."""
        ...

    def negatives_known(self) -> bool:
        """Whether any pair is negative: without one, precision says nothing."""
        ...

    def positive_count(self, *, hard: bool = False) -> int:
        """``hard``: without pairs that are equal after normalisation."""
        ...

    def label_counts(self) -> dict[str, int]:
        """How many pairs each label has, where that can be counted."""
        ...

    def clusters(self) -> Array | None:
        """The true cluster of each document, −1 where it is not known; None where labels are too
        few to tell."""
        ...

    def units(self) -> Array:
        """What is drawn again in a bootstrap: the group of each document, or itself. Both
        documents of a positive pair are in one unit."""
        ...

    def unit_positives(self, *, hard: bool = False) -> Array:
        """How many positive pairs each unit has."""
        ...


def is_hard(gold: Gold, a: Array, b: Array) -> Array:
    return np.ones(len(a), bool) if gold.same is None else gold.same[a] != gold.same[b]


def joint(*codes: Array) -> Array:
    """One number for each combination of numbers."""
    both = np.zeros(len(codes[0]), np.int64)
    for one in codes:
        one = np.unique(one, return_inverse=True)[1]
        both = np.unique(both * (int(one.max(initial=0)) + 1) + one, return_inverse=True)[1]
    return both
