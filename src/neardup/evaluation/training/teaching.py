"""Which pairs would teach most if they were labelled (active learning).

Those about which a model is least sure, and of them such as are unlike each other and unlike what
is labelled already: from the pairs nearest to the boundary one is taken after the other, each time
the one that is farthest from all taken before (Gonzalez 1985: k-center). Without a model all pairs
are near, so that the first labels are spread over everything there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.model import Model
from neardup.schema import Array

NEAREST = 5  # times as many as are wanted are near
PER_DOCUMENT = 2


@dataclass(frozen=True)
class Candidates:
    """Pairs of documents ``a`` and ``b`` (numbers) with their similarity vectors."""

    a: Array
    b: Array
    x: Floats

    def __len__(self) -> int:
        return len(self.a)


def distance_to_boundary(model: Model, x: Floats) -> Floats:
    """How far g is from where the decision turns."""
    t = min(max(model.threshold, 1e-9), 1 - 1e-9)
    boundary = (math.log(t / (1 - t)) - model.platt.offset) / model.platt.slope
    return np.asarray(np.abs(model.g(x) - boundary), np.float64)


def teaching(
    candidates: Candidates, wanted: int, *, model: Model | None = None, known: Floats | None = None
) -> Array:
    """The rows to label, most telling first; ``known`` are vectors that are labelled already. No
    document is in more than a few of them, so there may be fewer than wanted."""
    rows = np.arange(len(candidates))
    if model is not None and len(rows):
        near = np.argsort(distance_to_boundary(model, candidates.x), kind="stable")
        rows = near[: max(NEAREST * wanted, 1)]
    taken = known if known is not None else np.empty((0, candidates.x.shape[1]))
    z, labelled = _scaled(candidates.x[rows], taken)
    return rows[_farthest_first(z, labelled, wanted, candidates.a[rows], candidates.b[rows])]


def _scaled(x: Floats, known: Floats) -> tuple[Floats, Floats]:
    """So that each measure counts as much as it varies."""
    spread = x.std(axis=0) if len(x) else np.ones(x.shape[1])
    scale = np.where(spread > 1e-6, spread, 1.0)
    return x / scale, known / scale


def _farthest_first(z: Floats, known: Floats, wanted: int, a: Array, b: Array) -> Array:
    apart = np.full(len(z), np.inf)
    for vector in known:
        apart = np.minimum(apart, _distances(z, vector))
    if not len(known) and len(z):  # begin in the middle, not with an oddity
        apart = -_distances(z, np.median(z, axis=0))
    times: dict[int, int] = {}
    chosen: list[int] = []
    while len(chosen) < wanted:
        free = [_free(times, a, b, apart)] if len(z) else []
        if not free or free[0] is None:
            break
        row = free[0]
        if not len(known) and not chosen:
            apart = np.full(len(z), np.inf)
        chosen.append(row)
        for document in (int(a[row]), int(b[row])):
            times[document] = times.get(document, 0) + 1
        apart = np.minimum(apart, _distances(z, z[row]))
        apart[row] = -np.inf
    return np.array(chosen, np.int64)


def _free(times: dict[int, int], a: Array, b: Array, apart: Floats) -> int | None:
    """The farthest pair whose documents are not in too many yet."""
    full = [document for document, count in times.items() if count >= PER_DOCUMENT]
    allowed = ~(np.isin(a, full) | np.isin(b, full)) & (apart > -np.inf)
    rows = np.flatnonzero(allowed)
    return int(rows[np.argmax(apart[rows])]) if len(rows) else None


def _distances(z: Floats, vector: Floats) -> Floats:
    return np.asarray(((z - vector) ** 2).sum(axis=1), np.float64)
