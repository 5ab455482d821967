"""Labels that name all duplicates: of the pairs that meet, those that nobody named are none.

A list of what replaced what names each step and not the first with the last. So pairs of documents
that hang together by duplicates are left open.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from neardup.decisions.clusters import components
from neardup.evaluation.labels import Pair
from neardup.evaluation.training.candidates import OPEN, OTHER, Met, met_in, teach
from neardup.evaluation.training.data import MOST_PAIRS
from neardup.evaluation.training.labels import NOT_THERE, Labelled
from neardup.evaluation.training.material import Source
from neardup.progress import Progress
from neardup.schema import Array

NEVER_COMPARED = "of documents that are never compared"


def labelled_completely(
    given: Labelled,
    named: Iterable[Pair],
    source: Source,
    seed: int,
    progress: Progress,
    most: int = MOST_PAIRS,
) -> Labelled:
    """``named`` are all pairs that a label speaks of; what ``given`` does not have of them is open:
    neither a duplicate nor none."""
    met = _Rows(met_in(source, progress))
    known = np.full(len(met.keys), OTHER)
    known[met.together(pair for pair, label in given.labels.items() if label)] = OPEN
    known[met.rows(named)[0]] = OPEN
    found = Labelled(source=given.source, unused=dict(given.unused))
    for label in sorted({*given.labels.values()}):
        pairs = [pair for pair, one in given.labels.items() if one == label]
        rows, there = met.rows(pairs)
        known[rows] = label
        found.leave(NOT_THERE, len(pairs) - there)
        found.leave(NEVER_COMPARED, there - len(rows))
    teach(found, met.met, known, most, seed)
    return found


class _Rows:
    """Finds pairs among those that met."""

    def __init__(self, met: Met) -> None:
        self.met = met
        self.place = {one: at for at, one in enumerate(met.ids) if one is not None}
        self.keys = self._keys(met.a, met.b)
        self.order = np.argsort(self.keys, kind="stable")

    def _keys(self, a: Array, b: Array) -> Array:
        keys: Array = np.minimum(a, b) * len(self.met.ids) + np.maximum(a, b)
        return keys

    def _there(self, pairs: Iterable[Pair]) -> tuple[Array, Array]:
        found = [(self.place[a], self.place[b]) for a, b in pairs if {a, b} <= self.place.keys()]
        a, b = np.array(found, np.int64).reshape(-1, 2).T
        return a, b

    def together(self, pairs: Iterable[Pair]) -> Array:
        """Rows of documents that hang together by these pairs."""
        part = components(len(self.met.ids), *self._there(pairs))
        one, other = part[self.met.a], part[self.met.b]
        return np.flatnonzero((one == other) & (one >= 0))

    def rows(self, pairs: Iterable[Pair]) -> tuple[Array, int]:
        """Those of the pairs that met, and of how many both documents are there."""
        there = self._there(pairs)
        if not len(self.keys):
            return np.empty(0, np.int64), len(there[0])
        wanted = self._keys(*there)
        at = np.searchsorted(self.keys, wanted, sorter=self.order)
        rows = self.order[np.minimum(at, len(self.order) - 1)]
        return rows[self.keys[rows] == wanted], len(there[0])
