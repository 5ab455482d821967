"""Sums of small decision trees, as gradient boosting makes them (Friedman 2001), each monotone: a
pair that is more alike in any measure never has a lower g.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.schema import Array

MOST_NODES = 20_000
MOST_DEPTH = 32


@dataclass(frozen=True, eq=False)
class Trees:
    """g(z) = b + Σ value of the leaf that z falls into, a tree each.

    Node *i* asks whether z[feature] ≤ cut and goes ``left`` or ``right``, always to a node of a
    higher number; a leaf has feature −1 and a value. Tree *t* is the nodes from ``roots[t]`` on.
    """

    feature: Floats
    cut: Floats
    left: Floats
    right: Floats
    value: Floats
    roots: Floats
    b: float
    kind: ClassVar[str] = "trees"

    def g(self, z: Floats) -> Floats:
        feature, left, right, roots = self._whole
        total = np.full(len(z), self.b, np.float64)
        rows = np.arange(len(z))
        for root, depth in zip(roots.tolist(), self._depths.tolist(), strict=True):
            node = np.full(len(z), root)
            for _ in range(depth):
                asked = feature[node]
                low = z[rows, np.maximum(asked, 0)] <= self.cut[node]
                node = np.where(asked < 0, node, np.where(low, left[node], right[node]))
            total += self.value[node]
        return total

    @functools.cached_property
    def _whole(self) -> tuple[Array, ...]:
        numbers = (self.feature, self.left, self.right, self.roots)
        return tuple(some.astype(np.int64) for some in numbers)

    @functools.cached_property
    def _depths(self) -> Array:
        """Of each tree, the steps to its deepest leaf."""
        feature, left, right, roots = self._whole
        depth = np.zeros(len(feature), np.int64)
        for node in np.flatnonzero(feature >= 0).tolist():  # parents come before children
            depth[left[node]] = depth[right[node]] = depth[node] + 1
        return np.maximum.reduceat(depth, roots)

    def arrays(self) -> dict[str, Floats]:
        names = ("feature", "cut", "left", "right", "value", "roots")
        return {name: getattr(self, name) for name in names}

    def constants(self) -> dict[str, float]:
        return {"b": self.b}

    def monotone(self) -> bool:
        """At each node nothing on the left is above anything on the right."""
        feature, left, right, _ = self._whole
        low, high = self.value.copy(), self.value.copy()
        for node in np.flatnonzero(feature >= 0)[::-1].tolist():
            below, above = left[node], right[node]
            if high[below] > low[above]:
                return False
            low[node], high[node] = low[below], high[above]
        return True

    def wrong(self, measures: int) -> str | None:
        count = self.feature.size
        if any(some.shape != (count,) for n, some in self.arrays().items() if n != "roots"):
            return "its trees are not whole"
        if not 0 < count <= MOST_NODES:
            return f"it has not between 1 and {MOST_NODES:,} nodes"
        numbers = (self.feature, self.left, self.right, self.roots)
        if any((some != np.clip(np.rint(some), -1, MOST_NODES)).any() for some in numbers):
            return "its trees name nodes that are none"
        return self._wrong_shape(measures)

    def _wrong_shape(self, measures: int) -> str | None:
        """Each node but a root is the child of one, of a lower number and in the same tree: so
        there is no cycle, and every walk ends."""
        feature, left, right, roots = self._whole
        count = len(feature)
        if self.roots.ndim != 1 or roots[:1].tolist() != [0] or (np.diff(roots) < 1).any():
            return "its trees have no beginnings"
        if roots[-1] >= count or (feature < -1).any() or (feature >= measures).any():
            return "its trees ask for measures or nodes that are not there"
        inner = np.flatnonzero(feature >= 0)
        children, parents = np.concatenate([left[inner], right[inner]]), np.tile(inner, 2)
        tree = np.repeat(np.arange(len(roots)), np.diff(roots, append=count))
        if (children <= parents).any() or (children >= count).any():
            return "its trees have cycles, or children that are not there"
        expected = np.ones(count, np.int64)
        expected[roots] = 0
        if (tree[children] != tree[parents]).any() or (
            np.bincount(children, minlength=count) != expected
        ).any():
            return "its nodes are no trees"
        return self._wrong_answers()

    def _wrong_answers(self) -> str | None:
        if self._depths.max() > MOST_DEPTH:
            return f"its trees are deeper than {MOST_DEPTH}"
        return None if self.monotone() else "a greater similarity may lower its score"
