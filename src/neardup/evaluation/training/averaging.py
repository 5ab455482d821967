"""Several machines as one: the mean of what they say, in the form that each of them has.

Machines that were fitted to other parts of the labels differ most where labels say little. Their
mean is steadier than one machine that was fitted to all of them (bagging: Breiman 1996), and the
scores that calibrate it are of just these machines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.artefacts.arrays import Floats
from neardup.artefacts.discriminants import Discriminant, Linear
from neardup.artefacts.trees import Trees


@dataclass(frozen=True)
class Machine:
    """A discriminant with its scaling; ``columns`` are the measures it takes."""

    columns: tuple[int, ...]
    center: Floats
    scale: Floats
    discriminant: Discriminant

    def g(self, x: Floats) -> Floats:
        return self.discriminant.g((x[:, self.columns] - self.center) / self.scale)


def mean_of(machines: Sequence[Machine]) -> Machine | None:
    """None for kinds that have no mean of their own form. All take the same columns."""
    first = machines[0]
    made = [one.discriminant for one in machines]
    if all(isinstance(one, Linear) for one in made):
        return sum_of(machines, [1 / len(machines)] * len(machines))
    trees = [one for one in made if isinstance(one, Trees)]
    if len(trees) < len(made):
        return None
    return Machine(first.columns, first.center, first.scale, _mean_of_trees(trees))


def sum_of(machines: Sequence[Machine], shares: Sequence[float]) -> Machine:
    """Of linear machines. Each has a scaling of its own; that of the sum is the mean of these."""
    center = np.mean([one.center for one in machines], axis=0)
    scale = np.mean([one.scale for one in machines], axis=0)
    weights, b = np.zeros(len(scale)), 0.0
    for one, share in zip(machines, shares, strict=True):
        assert isinstance(one.discriminant, Linear)
        own = one.discriminant.weights / one.scale
        weights += share * own * scale
        b += share * (one.discriminant.b + float((own * (center - one.center)).sum()))
    return Machine(machines[0].columns, center, scale, Linear(weights, b))


def _mean_of_trees(trees: Sequence[Trees]) -> Trees:
    """All trees, each worth its share."""
    starts = np.cumsum([0, *(one.feature.size for one in trees)])[:-1]

    def shifted(name: str) -> Floats:
        """Numbers of nodes; what a leaf has there says nothing."""
        parts = zip(trees, starts, strict=True)
        return np.concatenate([getattr(one, name) + at for one, at in parts])

    inner = np.concatenate([one.feature for one in trees]) >= 0
    return Trees(
        feature=np.concatenate([one.feature for one in trees]),
        cut=np.concatenate([one.cut for one in trees]),
        left=np.where(inner, shifted("left"), 0.0),
        right=np.where(inner, shifted("right"), 0.0),
        value=np.concatenate([one.value for one in trees]) / len(trees),
        roots=shifted("roots"),
        b=float(np.mean([one.b for one in trees])),
    )
