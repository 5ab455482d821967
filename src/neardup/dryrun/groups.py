"""How many duplicates a collection has, by those in a sample of drawn pieces.

Let 1/f be the share of the sample and k the number of its pieces. Two copies that stand side by
side are both in it with probability 1/f, and then in one piece. Two that lie far apart are both in
it with 1/f², and then in one piece once in k times. So groups of two in two pieces count f²·k/(k-1)
each; those in one piece, less what far ones give by chance, count f each. A group of which the
sample has three and more is large, and its share in the sample is its share in the collection.

Where copies come in groups of three to f, each of their pairs counts, and the estimate is too high:
of that a sample of this size cannot tell. What is duplicate in the sample, times f, is in
expectation never too high.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neardup.schema import Array


class Duplicates(NamedTuple):
    low: int
    high: int
    likely: int | None  # None where the sample is one piece, and so says nothing of far copies


class Seen(NamedTuple):
    """Of the groups in a sample: those of two in one and in two pieces; documents beyond the first
    of larger groups."""

    near: int
    far: int
    more: int

    @property
    def duplicates(self) -> int:
        return self.near + self.far + self.more


def seen_in(cluster: Array, piece: Array) -> Seen:
    """``cluster`` is negative for a document that is alone."""
    grouped = np.flatnonzero(cluster >= 0)
    grouped = grouped[np.argsort(cluster[grouped], kind="stable")]
    _, first, sizes = np.unique(cluster[grouped], return_index=True, return_counts=True)
    two = first[sizes == 2]
    near = int((piece[grouped[two]] == piece[grouped[two + 1]]).sum())
    return Seen(near, len(two) - near, int((sizes[sizes > 2] - 1).sum()))


def scaled(seen: Seen, *, factor: float, pieces: int, documents: float) -> Duplicates:
    """``documents``: how many there are in all; there is always one that is not a duplicate."""
    low, most = seen.duplicates * factor, max(0.0, documents - 1)
    if factor <= 1:
        return Duplicates(seen.duplicates, seen.duplicates, seen.duplicates)
    if pieces < 2:
        return _rounded(low, _most(seen.duplicates) * factor**2, None, most)
    weight = factor**2 * pieces / (pieces - 1)
    by_chance = seen.far / (pieces - 1)
    close = max(0.0, seen.near - by_chance) + seen.more
    likely = seen.far * weight + close * factor
    # Copies may prefer some distances: of those, few pairs of pieces say little.
    unlike = 2 / math.sqrt(pieces * (pieces - 1) / 2)
    high = _most(seen.far) * weight * (1 + unlike) + _most(close) * factor
    return _rounded(low, high, likely, most)


def _most(count: float) -> float:
    """Two standard deviations above a count; what may hide behind none is three."""
    return count + 2 * math.sqrt(count) + 3


def _rounded(low: float, high: float, likely: float | None, most: float) -> Duplicates:
    def whole(value: float) -> int:
        return round(min(value, most))

    return Duplicates(whole(low), whole(high), None if likely is None else whole(max(likely, low)))
