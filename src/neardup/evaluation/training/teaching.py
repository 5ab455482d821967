"""Which pairs would teach most if they were labelled (active learning).

With a model: those about which it is least sure, and of them such as are unlike each other and
unlike what is labelled already. From the pairs nearest to the boundary one is taken after the
other, each time the one that is farthest from all before (k-center: Gonzalez 1985). Without a
model: pairs spread evenly from the least to the most alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Model
from neardup.schema import Array

NEAREST = 2  # times as many as are wanted are near
PER_DOCUMENT = 2


@dataclass(frozen=True)
class Candidates:
    """Pairs of documents ``a`` and ``b`` (numbers) with their similarity vectors."""

    a: Array
    b: Array
    x: Floats

    def __len__(self) -> int:
        return len(self.a)

    def at(self, rows: Array) -> Candidates:
        return Candidates(self.a[rows], self.b[rows], self.x[rows])


def distance_to_boundary(model: Model, x: Floats) -> Floats:
    """How far g is from where the decision turns."""
    t = min(max(model.threshold, 1e-9), 1 - 1e-9)
    boundary = (math.log(t / (1 - t)) - model.platt.offset) / model.platt.slope
    return np.asarray(np.abs(model.g(x) - boundary), np.float64)


def teaching(
    candidates: Candidates, wanted: int, *, model: Model | None = None, known: Floats | None = None
) -> Array:
    """The rows to label; ``known`` are vectors that are labelled already. No document is in more
    than a few of them, so there may be fewer than wanted."""
    if not len(candidates):
        return np.empty(0, np.int64)
    if model is None:
        return _Chosen(candidates).evenly(wanted)
    order = np.argsort(distance_to_boundary(model, candidates.x), kind="stable")
    near = _near(candidates, order, NEAREST * wanted)
    taken = np.empty((0, candidates.x.shape[1])) if known is None else known
    return near[_Chosen(candidates.at(near)).farthest(taken, wanted)]


def _near(candidates: Candidates, order: Array, count: int) -> Array:
    """The first of them, each document in few: one with many neighbours must not fill the list."""
    chosen = _Chosen(candidates)
    for row in order.tolist():
        if len(chosen.rows) == count:
            break
        if chosen.allows(row):
            chosen.take(row)
    return np.array(chosen.rows, np.int64)


@dataclass
class _Chosen:
    """Rows that were taken, and in how many of them each document is."""

    candidates: Candidates
    rows: list[int] = field(default_factory=list)
    times: dict[int, int] = field(default_factory=dict)

    def _documents(self, row: int) -> tuple[int, int]:
        return int(self.candidates.a[row]), int(self.candidates.b[row])

    def allows(self, row: int) -> bool:
        return all(self.times.get(one, 0) < PER_DOCUMENT for one in self._documents(row))

    def take(self, row: int) -> None:
        self.rows.append(row)
        for one in self._documents(row):
            self.times[one] = self.times.get(one, 0) + 1

    def farthest(self, known: Floats, wanted: int) -> Array:
        """Each the farthest from all before and from what is known; the first, where nothing is
        known, in the middle."""
        z, labelled = _scaled(self.candidates.x, known)
        apart = np.full(len(z), np.inf)
        for vector in labelled:
            apart = np.minimum(apart, _distances(z, vector))
        if not len(labelled):
            self.take(int(np.argmin(_distances(z, np.median(z, axis=0)))))
            apart = _distances(z, z[self.rows[0]])
        while len(self.rows) < wanted:
            order = np.argsort(-apart, kind="stable").tolist()
            row = next((r for r in order if r not in self.rows and self.allows(r)), None)
            if row is None:
                break
            self.take(row)
            apart = np.minimum(apart, _distances(z, z[row]))
        return np.array(self.rows, np.int64)

    def evenly(self, wanted: int) -> Array:
        """By the mean of the measures, from the lowest to the highest rank."""
        z, _ = _scaled(self.candidates.x, self.candidates.x[:0])
        order = np.argsort(z.mean(axis=1), kind="stable")
        for place in np.linspace(0, len(order) - 1, wanted).round().astype(int).tolist():
            near = (int(order[i]) for i in _outwards(place, len(order)))
            row = next((r for r in near if r not in self.rows and self.allows(r)), None)
            if row is not None:
                self.take(row)
        return np.array(self.rows, np.int64)


def _outwards(place: int, count: int) -> Iterator[int]:
    """Places from this one on, the nearest first."""
    for step in range(count):
        for one in dict.fromkeys((place - step, place + step)):
            if 0 <= one < count:
                yield one


def _scaled(x: Floats, known: Floats) -> tuple[Floats, Floats]:
    """So that each measure counts as much as it varies."""
    spread = x.std(axis=0)
    scale = np.where(spread > 1e-6, spread, 1.0)
    return x / scale, known / scale


def _distances(z: Floats, vector: Floats) -> Floats:
    return np.asarray(((z - vector) ** 2).sum(axis=1), np.float64)
