"""Discriminants: functions g of a scaled similarity vector z, the greater for duplicates.

``linear`` and ``rbf`` are support vector machines, g(z) = Σ αⱼ tⱼ K(zⱼ, z) + b (Raveena & Nandini
2014 print it without tⱼ and b); ``trees`` sum small decision trees. Sums go in one order, number by
number, so that the bits do not depend on how many pairs are asked at once, on threads or on a
library of linear algebra.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from neardup.artefacts.arrays import Arrays, Floats
from neardup.artefacts.exponential import exp
from neardup.artefacts.trees import Trees

MOST_SUPPORT = 20_000


class Discriminant(Protocol):
    kind: ClassVar[str]

    def g(self, z: Floats) -> Floats: ...

    def arrays(self) -> dict[str, Floats]: ...

    def constants(self) -> dict[str, float]: ...

    def monotone(self) -> bool:
        """Whether g provably never falls where a similarity grows."""
        ...

    def wrong(self, measures: int) -> str | None:
        """What keeps it from being used on vectors of so many measures, as the end of a
        sentence."""
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
        return None if self.weights.shape == (measures,) else "it has not one weight a measure"


@dataclass(frozen=True, eq=False)
class Rbf:
    """g(z) = Σ cⱼ exp(−γ |zⱼ − z|²) + b; cⱼ = αⱼ tⱼ of the support vector zⱼ."""

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
            return "its support vectors are not of its measures"
        if len(self.support) > MOST_SUPPORT:
            return f"it has more than {MOST_SUPPORT:,} support vectors"
        return None if self.gamma > 0 else "its gamma is not above 0"


KINDS: dict[str, type[Any]] = {one.kind: one for one in (Linear, Rbf, Trees)}


def discriminant_of(kind: Any, arrays: Arrays, constants: Mapping[str, float]) -> Discriminant:
    """Raises ``KeyError`` or ``TypeError`` where something is missing or too much."""
    made: Discriminant = KINDS[kind](**arrays, **constants)
    return made
