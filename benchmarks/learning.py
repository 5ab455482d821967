"""What suggested labels are worth beside random ones: the table of docs/learning.md.

    python -m benchmarks.learning

Labels are revealed twenty at a time, of pairs that are suggested or drawn at random, and a linear
model is trained on what is known so far. F1 is that of documents that no label speaks of, in five
folds, the mean over several divisions into folds. The seeds are others than those by which the way
to suggest was chosen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from neardup.artefacts.model import Model
from neardup.documents import collect
from neardup.errors import InputError
from neardup.evaluation.training.complete_labels import labelled_by_group
from neardup.evaluation.training.fit import f1, fit
from neardup.evaluation.training.folds import OUTER, folds_of
from neardup.evaluation.training.machines import KINDS, one_thread
from neardup.evaluation.training.suggestions import Candidates, teaching
from neardup.evaluation.training.trainer import model_of
from neardup.evaluation.training.training_data import Data, Material, Source, material_of
from neardup.labels.training_labels import read_labelled
from neardup.progress import Silent

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
STEP, ROUNDS = 20, 8
SEEDS = range(10, 18)
KIND, PARAMETERS = KINDS["linear"], {"C": 1.0}
GROUPED = ("licences", "ocr_pairs", "manpages_versions")


def bills() -> Material:
    source = Source(collect(DATA / "bill_pairs" / "docs.jsonl.zst"))
    pairs = [DATA / "bill_pairs" / "pairs.jsonl.zst"]
    return material_of(source, read_labelled(pairs, None, ["4", "3"], ["0", "1", "2"]), Silent())


def grouped(name: str) -> Material:
    source = Source(collect(DATA / name / "docs.jsonl.zst"))
    return material_of(source, labelled_by_group(source, "group", 0, Silent()), Silent())


def taught(material: Material, known: Data) -> Model | None:
    """None where the labels are of one class, or hang together."""
    try:
        columns = range(len(material.measures))
        return model_of(fit(KIND, known, columns, 0, PARAMETERS), material, {})
    except InputError:
        return None


def asked(
    data: Data, known: np.ndarray, model: Model | None, draw: np.random.Generator | None
) -> np.ndarray:
    """Twenty more rows: at random where there is something to draw by, else suggested."""
    left = np.setdiff1d(np.arange(len(data)), known)
    if draw is not None:
        return draw.permutation(left)[:STEP]
    some = data.at(left)
    candidates = Candidates(some.a, some.b, some.x)
    return left[teaching(candidates, STEP, model=model, known=data.x[known])]


def curve(material: Material, seed: int, *, random: bool) -> list[float]:
    data = material.data
    truth: list[list[np.ndarray]] = [[] for _ in range(ROUNDS)]
    passed: list[list[np.ndarray]] = [[] for _ in range(ROUNDS)]
    for train, test in folds_of(data, OUTER, seed).sides():
        for number, model in enumerate(rounds(material, data.at(train), seed, random=random)):
            x = data.x[test]
            said = np.ones(len(test), bool)
            if model is not None:
                said = model.probability(x) >= model.threshold
            truth[number].append(data.y[test])
            passed[number].append(said)
    both = zip(truth, passed, strict=True)
    return [f1(np.concatenate(y), np.concatenate(said)) for y, said in both]


def rounds(material: Material, data: Data, seed: int, *, random: bool) -> Iterator[Model | None]:
    draw = np.random.default_rng(seed) if random else None
    known, model = np.empty(0, np.int64), None
    for _ in range(ROUNDS):
        known = np.concatenate([known, asked(data, known, model, draw)])
        model = taught(material, data.at(np.sort(known)))
        yield model


def row(name: str, how: str, curves: Sequence[Sequence[float]]) -> str:
    mean = " | ".join(f"{value:.3f}" for value in np.mean(curves, axis=0))
    return f"| {name} | {how} | {mean} |"


def main() -> None:
    sizes = " | ".join(str(STEP * (i + 1)) for i in range(ROUNDS))
    print(f"| set | labels are | {sizes} |")
    print(f"|---|---|{'---|' * ROUNDS}")
    with one_thread():
        for name in ("bill_pairs", *GROUPED):
            material = bills() if name == "bill_pairs" else grouped(name)
            for how in ("random", "suggested"):
                curves = [curve(material, seed, random=how == "random") for seed in SEEDS]
                print(row(name, how, curves), flush=True)


if __name__ == "__main__":
    main()
