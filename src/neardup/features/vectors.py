"""How alike two vectors are, with the letters of Raveena & Nandini (2014, eq. 2–5).

All measures follow from the three products ``xy``, ``xx`` and ``yy``, which may be numbers or
arrays. On sets, as vectors of 0 and 1, the extended Jaccard is the Jaccard ``J`` and Dice is
``2J / (1 + J)``. Vectors without any weight share nothing: similarities are 0.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MEASURES = ("cosine", "euclidean", "extended_jaccard", "dice")


@dataclass(frozen=True)
class Products:
    """``xy = x·y``, ``xx = x·x``, ``yy = y·y``, in 64-bit floats."""

    xy: Any
    xx: Any
    yy: Any

    @classmethod
    def of_vectors(cls, x: Sequence[float], y: Sequence[float]) -> Products:
        one, other = np.asarray(x, np.float64), np.asarray(y, np.float64)
        return cls(float(one @ other), float(one @ one), float(other @ other))

    @classmethod
    def of_sets(cls, x: Collection[Any], y: Collection[Any]) -> Products:
        one, other = set(x), set(y)
        return cls(float(len(one & other)), float(len(one)), float(len(other)))

    @property
    def cosine(self) -> Any:
        """C = xy / (|x| |y|)."""
        return _ratio(self.xy, np.sqrt(self.xx) * np.sqrt(self.yy))

    @property
    def euclidean(self) -> Any:
        """Ec = √((x − y)·(x − y)): a distance, 0 for equal vectors."""
        return np.sqrt(np.maximum(self.xx + self.yy - 2 * self.xy, 0))

    @property
    def extended_jaccard(self) -> Any:
        """EJ = xy / (xx + yy − xy)."""
        return _ratio(self.xy, self.xx + self.yy - self.xy)

    @property
    def dice(self) -> Any:
        """D = 2xy / (xx + yy)."""
        return _ratio(2 * self.xy, self.xx + self.yy)


def euclidean_score(cosine: Any) -> Any:
    """1 − d/√2, where d is the distance of the vectors brought to length 1: 1 if they point the
    same way, 0 if they share nothing."""
    return 1 - np.sqrt(np.maximum(1 - cosine, 0))


def _ratio(part: Any, whole: Any) -> Any:
    return np.minimum(part / np.where(whole > 0, whole, 1), 1.0)
