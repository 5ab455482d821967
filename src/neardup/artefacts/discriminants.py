"""Discriminants: functions g of a scaled similarity vector z that are greater for duplicates.

``linear`` and ``rbf`` are support vector machines, g(z) = Σ αⱼ tⱼ K(zⱼ, z) + b (Raveena & Nandini
2014 print it without tⱼ and b). ``trees`` is a sum of small decision trees, as gradient boosting
builds them (Friedman 2001); it is monotone: a pair that is more similar in any measure never has a
lower g. Sums are taken in one fixed order, so the bits do not depend on the number of pairs, on
threads or on a linear algebra library. ``exp`` uses additions and products only, which IEEE 754
fixes to the last bit; the function of a system may differ in that bit and change a decision.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from neardup.artefacts.arrays import Arrays, Floats
from neardup.schema import Array

_LOWEST, _HIGHEST = -700.0, 700.0
_LN2_HIGH = 6.93147180369123816490e-01  # its last 21 bits are 0, so k times it is exact
_LN2_LOW = 1.90821492927058770002e-10
_TAYLOR = tuple(1 / math.factorial(n) for n in range(14))


def exp(x: Floats) -> Floats:
    """eˣ = 2ᵏ · eʳ with |r| ≤ ln 2 / 2; x is limited to ±700."""
    x = np.clip(np.asarray(x, np.float64), _LOWEST, _HIGHEST)
    k = np.rint(x * (1 / math.log(2)))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    total = np.full_like(r, _TAYLOR[-1])
    for term in _TAYLOR[-2::-1]:
        total = total * r + term
    return np.asarray(np.ldexp(total, k.astype(np.int32)), np.float64)


def sigmoid(x: Floats) -> Floats:
    """1 / (1 + e⁻ˣ); it never decreases in x."""
    small = exp(-np.abs(x))
    return np.where(x >= 0, 1 / (1 + small), small / (1 + small))


MOST_NODES = 20_000
MOST_DEPTH = 32


@dataclass(frozen=True, eq=False)
class Trees:
    """g(z) = b + the sum over all trees of the value of the leaf that z reaches.

    An inner node leads to ``left`` if z[feature] ≤ cut, else to ``right``, always to a node of a
    higher number. A leaf has feature −1 and a value. Tree *t* begins at node ``roots[t]``.
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
        feature, left, right, roots = self._integers
        total = np.full(len(z), self.b, np.float64)
        rows = np.arange(len(z))
        for root, depth in zip(roots.tolist(), self._depths.tolist(), strict=True):
            node = np.full(len(z), root)
            for _ in range(depth):
                tested = feature[node]
                low = z[rows, np.maximum(tested, 0)] <= self.cut[node]
                node = np.where(tested < 0, node, np.where(low, left[node], right[node]))
            total += self.value[node]
        return total

    @functools.cached_property
    def _integers(self) -> tuple[Array, ...]:
        columns = (self.feature, self.left, self.right, self.roots)
        return tuple(column.astype(np.int64) for column in columns)

    @functools.cached_property
    def _depths(self) -> Array:
        """The number of steps to the deepest leaf of each tree."""
        feature, left, right, roots = self._integers
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
        """Whether at each node no value on the left is above a value on the right."""
        feature, left, right, _ = self._integers
        low, high = self.value.copy(), self.value.copy()
        for node in np.flatnonzero(feature >= 0)[::-1].tolist():
            below, above = left[node], right[node]
            if high[below] > low[above]:
                return False
            low[node], high[node] = low[below], high[above]
        return True

    def wrong(self, measures: int) -> str | None:
        count = self.feature.size
        if any(column.shape != (count,) for n, column in self.arrays().items() if n != "roots"):
            return "its trees are incomplete"
        if not 0 < count <= MOST_NODES:
            return f"the number of its nodes is not between 1 and {MOST_NODES:,}"
        columns = (self.feature, self.left, self.right, self.roots)
        if any((column != np.clip(np.rint(column), -1, MOST_NODES)).any() for column in columns):
            return "its trees refer to invalid nodes"
        return self._wrong_shape(measures)

    def _wrong_shape(self, measures: int) -> str | None:
        """Each node except a root must be the child of exactly one node, which has a lower number
        and is in the same tree. There is then no cycle, and every walk ends at a leaf."""
        feature, left, right, roots = self._integers
        count = len(feature)
        if self.roots.ndim != 1 or roots[:1].tolist() != [0] or (np.diff(roots) < 1).any():
            return "its trees have invalid roots"
        if roots[-1] >= count or (feature < -1).any() or (feature >= measures).any():
            return "its trees refer to measures or nodes that do not exist"
        inner = np.flatnonzero(feature >= 0)
        children, parents = np.concatenate([left[inner], right[inner]]), np.tile(inner, 2)
        tree = np.repeat(np.arange(len(roots)), np.diff(roots, append=count))
        if (children <= parents).any() or (children >= count).any():
            return "its trees have cycles or missing children"
        expected = np.ones(count, np.int64)
        expected[roots] = 0
        if (tree[children] != tree[parents]).any() or (
            np.bincount(children, minlength=count) != expected
        ).any():
            return "its nodes do not form trees"
        if self._depths.max() > MOST_DEPTH:
            return f"its trees are deeper than {MOST_DEPTH}"
        return None if self.monotone() else "a greater similarity may lower its score"


MOST_SUPPORT = 20_000


class Discriminant(Protocol):
    kind: ClassVar[str]

    def g(self, z: Floats) -> Floats: ...

    def arrays(self) -> dict[str, Floats]: ...

    def constants(self) -> dict[str, float]: ...

    def monotone(self) -> bool:
        """Whether g provably never decreases in a similarity."""
        ...

    def wrong(self, measures: int) -> str | None:
        """Why it cannot be applied to vectors of ``measures`` measures, as the end of a sentence;
        None if it can."""
        ...


@dataclass(frozen=True, eq=False)
class Linear:
    """g(z) = w·z + b."""

    weights: Floats
    b: float
    kind: ClassVar[str] = "linear"

    def g(self, z: Floats) -> Floats:
        total = np.full(len(z), self.b, np.float64)
        for j, weight in enumerate(self.weights):
            total += weight * z[:, j]
        return total

    def arrays(self) -> dict[str, Floats]:
        return {"weights": self.weights}

    def constants(self) -> dict[str, float]:
        return {"b": self.b}

    def monotone(self) -> bool:
        return bool((self.weights >= 0).all())

    def wrong(self, measures: int) -> str | None:
        return (
            None if self.weights.shape == (measures,) else "it does not have one weight per measure"
        )


@dataclass(frozen=True, eq=False)
class Rbf:
    """g(z) = Σ cⱼ exp(−γ |zⱼ − z|²) + b with cⱼ = αⱼ tⱼ for the support vector zⱼ."""

    support: Floats
    coefficients: Floats
    gamma: float
    b: float
    kind: ClassVar[str] = "rbf"

    def g(self, z: Floats) -> Floats:
        total = np.full(len(z), self.b, np.float64)
        columns = np.ascontiguousarray(z.T)
        for vector, coefficient in zip(self.support, self.coefficients, strict=True):
            distance = np.zeros(len(z))
            for column, value in zip(columns, vector, strict=True):
                apart = column - value
                distance += apart * apart
            total += coefficient * exp(-self.gamma * distance)
        return total

    def arrays(self) -> dict[str, Floats]:
        return {"support": self.support, "coefficients": self.coefficients}

    def constants(self) -> dict[str, float]:
        return {"b": self.b, "gamma": self.gamma}

    def monotone(self) -> bool:
        return False

    def wrong(self, measures: int) -> str | None:
        if self.coefficients.ndim != 1 or self.support.shape != (len(self.coefficients), measures):
            return "its support vectors do not fit its measures"
        if len(self.support) > MOST_SUPPORT:
            return f"it has more than {MOST_SUPPORT:,} support vectors"
        return None if self.gamma > 0 else "its gamma is not above 0"


KINDS: dict[str, type[Any]] = {type_.kind: type_ for type_ in (Linear, Rbf, Trees)}


def discriminant_of(kind: Any, arrays: Arrays, constants: Mapping[str, float]) -> Discriminant:
    """Raises ``KeyError`` or ``TypeError`` if something is missing or superfluous."""
    discriminant: Discriminant = KINDS[kind](**arrays, **constants)
    return discriminant
