"""Folds: parts of the labelled pairs that take turns in testing what was trained on the others.

No document is on both sides. Pairs that are connected by common documents go into one fold. If a
connected part would exceed its share, its documents are divided, and neighbours stay together as
far as they fit (linear deterministic greedy: Stanton & Kliot 2012). A pair that is divided in this
way is trained on if neither document is tested, and never tested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from neardup.decisions.clusters import components
from neardup.errors import InputError
from neardup.evaluation.training.training_data import Data
from neardup.schema import Array

OUTER, INNER = 5, 3  # folds to measure by, and to choose parameters by
BOND = 5  # dividing a pair of duplicates is as bad as dividing this many others
ROOM = 1.3  # how far a fold may exceed its share before pairs are divided


@dataclass(frozen=True)
class Folds:
    """``of`` has the folds of the two documents of each pair, one column each."""

    of: Array
    count: int

    def sides(self) -> Iterator[tuple[Array, Array]]:
        """Rows to train on and rows to test on, for each fold that has any of the latter."""
        for fold in range(self.count):
            here = self.of == fold
            test = np.flatnonzero(here.all(axis=1))
            if len(test):
                yield np.flatnonzero(~here.any(axis=1)), test

    @property
    def untested(self) -> int:
        """The number of pairs that are never tested, because their documents are divided."""
        return int((self.of[:, 0] != self.of[:, 1]).sum())


def folds_of(data: Data, count: int, seed: int) -> Folds:
    """``count`` folds, or fewer if one side of a fold would lack pairs of a class."""
    for fewer in range(count, 1, -1):
        folds = _divided(data, fewer, seed)
        if all(data.at(train).both for train, _ in folds.sides()) and _tests_both(data, folds):
            return folds
    raise InputError(
        f"The {len(data):,} labelled pairs cannot be divided: they hang together by few documents, "
        "so a model could not be tested on documents that it was not trained on.",
        hint="label pairs of more documents; `neardup label suggest` names some.",
    )


def _tests_both(data: Data, folds: Folds) -> bool:
    tested = [test for _, test in folds.sides()]
    return len(tested) > 1 and data.at(np.concatenate(tested)).both


def _divided(data: Data, count: int, seed: int) -> Folds:
    documents, sides = np.unique(np.concatenate([data.a, data.b]), return_inverse=True)
    a, b = sides.reshape(2, -1)
    part = components(len(documents), a, b)
    draw = np.random.default_rng([seed, 2])
    packing = _Packing(data, count)
    fold = np.full(len(documents), -1, np.int64)
    sizes = np.bincount(part[a])
    rows_of, members_of = _by_part(part[a], len(sizes)), _by_part(part, len(sizes))
    order = draw.permutation(len(sizes))
    for component in order[np.argsort(-sizes[order], kind="stable")].tolist():  # largest first
        rows, members = rows_of[component], members_of[component]
        if sizes[component] * count > ROOM * len(data):
            times = np.where(data.y[rows] == 1, BOND, 1)
            fold[members] = _spread(members, a[rows].repeat(times), b[rows].repeat(times), count)
            packing.count(data.y[rows], fold[a[rows]])
        else:
            fold[members] = packing.place(data.y[rows])
    return Folds(np.stack([fold[a], fold[b]], axis=1), count)


def _by_part(part: Array, count: int) -> list[Array]:
    """The indices of each part, in order."""
    order = np.argsort(part, kind="stable")
    return np.split(order, np.cumsum(np.bincount(part, minlength=count))[:-1])


class _Packing:
    """Fills folds evenly with pairs of either class."""

    def __init__(self, data: Data, count: int) -> None:
        self.held = np.zeros((count, 2))
        self.share = np.maximum(np.array([data.negatives, data.positives]) / count, 1)

    def place(self, y: Array) -> int:
        """The fold that is emptiest once it holds these pairs."""
        added = np.bincount(y, minlength=2)
        filled = (self.held + added) / self.share
        fold = int(np.argmin((filled * (added > 0)).max(axis=1)))
        self.held[fold] += added
        return fold

    def count(self, y: Array, folds: Array) -> None:
        np.add.at(self.held, (folds, y), 1)


def _spread(members: Array, a: Array, b: Array, count: int) -> Array:
    """The fold of each member of one connected part."""
    place = {document: i for i, document in enumerate(members.tolist())}
    near: list[list[int]] = [[] for _ in members]
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        near[place[x]].append(place[y])
        near[place[y]].append(place[x])
    room = ROOM * 2 * len(a) / count
    load = np.zeros(count)
    fold = np.full(len(members), -1, np.int64)
    for document in _breadth_first(near):
        known = fold[near[document]]
        votes = np.bincount(known[known >= 0], minlength=count)
        worth = votes * (1 - load / room)
        best = np.flatnonzero(worth == worth.max())
        fold[document] = best[np.argmin(load[best])]
        load[fold[document]] += len(near[document])
    return fold


def _breadth_first(near: list[list[int]]) -> Iterator[int]:
    waiting, seen = deque([0]), {0}
    while waiting:
        document = waiting.popleft()
        yield document
        for neighbour in near[document]:
            if neighbour not in seen:
                seen.add(neighbour)
                waiting.append(neighbour)
