"""One measure in the place of the general model: the table of docs/general-model.md.

    python -m benchmarks.alone MATERIAL [MEASURE...]

Each measure is fitted to the same material (`tools.general_model.collect`) as the model, and takes
its place in the method, so that all else is the same: candidates, templates, what stands out. Its
cut is the best of several, and that is seen on the sets themselves.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from benchmarks.halves import SETS, Half, gold_of
from neardup.artefacts import model as stored
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.model import Model, Platt
from neardup.evaluation.training.machines import one_thread
from tools.general_model.collect import read
from tools.general_model.fit import Fit, fit
from tools.general_model.pairs import pairs_of

USUAL = ("chars8_known", "words3_known", "chars8_idf", "words3_idf", "chars8_rare_containment")
CUTS = (2.0, 3.0, 3.5, 4.0, 5.0)  # g from which a pair is a duplicate; that of the model is 3


def fits(material: Path, measures: Sequence[str]) -> dict[str, Fit]:
    files = sorted(material.glob("*.jsonl"))
    made = [pairs_of(path.stem, list(read(path)), 0, measures) for path in files]
    parts = zip(*((one.x, one.y, one.weight) for one in made), strict=True)
    x, y, weight = (np.concatenate(part) for part in parts)
    return {name: fit(x[:, [at]], y, weight) for at, name in enumerate(measures)}


def model_of(name: str, made: Fit, cut: float) -> Model:
    alone = {"measures": (name,), "discriminant": Linear(made.weights, made.b)}
    scaling = {"center": np.zeros(1), "scale": np.ones(1), "platt": Platt(1.0, -cut)}
    return replace(stored.model_at(None), **alone, **scaling)


def row(name: str, model: Model) -> str:
    with patch.object(stored, "_general", lambda: model):
        found = [Half(gold, np.arange(gold.n)).f1() for gold in map(gold_of, SETS)]
    return " | ".join([name, *(f"{one:.3f}" for one in found), f"{np.mean(found):.4f}"])


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.alone", description=__doc__)
    parser.add_argument("material", type=Path, metavar="MATERIAL")
    parser.add_argument("measures", nargs="*", default=USUAL, metavar="MEASURE")
    options = parser.parse_args()
    with one_thread():
        made = fits(options.material, options.measures)
    print(row("the general model", stored.model_at(None)), flush=True)
    for name, one in made.items():
        for cut in CUTS:
            print(row(f"`{name}`, cut {cut:g}", model_of(name, one, cut)), flush=True)


if __name__ == "__main__":
    main()
