"""Raveena & Nandini 2014: the worked example, the measures, and both phases on labelled pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neardup.features.vectors import Products
from neardup.papers import run
from neardup.papers.raveena2014 import WEIGHTS, discriminant, example_features, vectors
from neardup.schema import Ragged

from .test_papers import FULL


def test_the_worked_example() -> None:
    """§3.2.1: f_A = f_B, and the ordering of the words matters."""
    features = example_features()
    assert features["A"] == features["B"] == "supreme, affordable, protection, patient"


def test_the_similarity_vector_has_the_printed_measures() -> None:
    """x = (3, 0, 4), y = (3, 4, 0); the Euclidean distance is raw."""
    x, y = ({1: 3, 3: 4}, {1: 3, 2: 4})
    entries = [sorted((f << 32) | (w * WEIGHTS) for f, w in v.items()) for v in (x, y)]
    evidence = Ragged(np.concatenate(entries).astype(np.uint64), np.array([0, 2, 4]))
    (vector,) = vectors(evidence, np.array([0]), np.array([1]))
    made = Products.of_vectors((3, 0, 4), (3, 4, 0))
    assert vector == pytest.approx([1 / 3, 0.36, 5.65685, 0.219512, 0.36], abs=1e-5)
    assert vector[2] == pytest.approx(made.euclidean)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_discriminant_is_positive_for_duplicates(kernel: str) -> None:
    draw = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = np.clip(y[:, None] * 0.6 + draw.uniform(0, 0.3, (60, 2)), 0, 1)
    g = discriminant(kernel, x, y)
    assert ((g(x) >= 0) == (y == 1)).all()


def test_both_phases(documents: list[dict[str, Any]]) -> None:
    made = run("raveena2014", documents, FULL)
    tables = {table.name: table.rows for table in made.tables}
    levels = tables["levels"]
    assert {row["features of"] for row in levels} == {"document", "sentence", "sentence, tuples"}
    rules = {row["discriminant"] for row in levels}
    assert {"linear, g(x) ≥ 0", "rbf, g(x) ≥ 0", "linear, ours: best F1"} <= rules
    best = [row for row in levels if row["k"] == 20 and row["discriminant"] == "linear, g(x) ≥ 0"]
    assert best[0]["F1"] > 0.9
    assert {row["measures"] for row in tables["measures"]} == {"all five", "J, Ec", "C"}
