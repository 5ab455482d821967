"""Models to test with: small ones of each kind, made by hand."""

from __future__ import annotations

import numpy as np

from neardup.artefacts.discriminants import Discriminant, Linear, Rbf, Trees
from neardup.artefacts.model import Model, Platt
from neardup.features.similarity import MEASURES

TWO = MEASURES[:2]

LINEAR = Linear(np.array([2.0, 0.5]), -0.25)
RBF = Rbf(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([-1.5, 1.5]), 0.5, 0.125)
TREES = Trees(
    feature=np.array([0.0, -1.0, 1.0, -1.0, -1.0, -1.0]),
    cut=np.array([0.5, 0.0, 0.75, 0.0, 0.0, 0.0]),
    left=np.array([1.0, 0.0, 3.0, 0.0, 0.0, 0.0]),
    right=np.array([2.0, 0.0, 4.0, 0.0, 0.0, 0.0]),
    value=np.array([0.0, -1.0, 0.0, 0.5, 2.0, 0.25]),
    roots=np.array([0.0, 5.0]),
    b=-0.5,
)
EACH = {one.kind: one for one in (LINEAR, RBF, TREES)}


def model(discriminant: Discriminant = LINEAR, measures: tuple[str, ...] = TWO) -> Model:
    count = len(measures)
    return Model(
        measures=measures,
        discriminant=discriminant,
        center=np.zeros(count),
        scale=np.ones(count),
        platt=Platt(2.0, 0.5),
        threshold=0.6,
        trained={"pairs": 20},
    )


def asked(*rows: tuple[float, float]) -> np.ndarray:
    """Vectors of two measures."""
    return np.array(rows, np.float64)
