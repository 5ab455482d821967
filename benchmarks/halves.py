"""Train on one half of a labelled set and find in the other: the table of docs/learning.md.

    python -m benchmarks.halves [SET...] [--seeds 10,11] [--kinds linear,rbf,trees]

Groups are divided at random, so that no text is on both sides. Everything goes through the product,
as `neardup train` and `neardup find` do it: labels are what a user of that set has (groups; a list
of all successors of RFCs; graded pairs of bills), each half has its own frequencies, and the script
that comes with the data says which of the pairs that were found are right. Pairs of equal texts,
and those that the script leaves open, such as licences of one descent, count neither way and are
not trained on. Beside it stands what needs no labels: the best of all methods as they come.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import neardup as nd
from neardup.decisions.clusters import components
from neardup.documents import collect
from neardup.evaluation.training.complete_labels import labelled_by_group, labelled_completely
from neardup.evaluation.training.machines import KINDS
from neardup.evaluation.training.trainer import train
from neardup.evaluation.training.training_data import (
    MOST_PAIRS,
    Source,
    material_of,
    met_in,
    profiles_of,
)
from neardup.features.similarity import MEASURES
from neardup.labels.label_store import Pair
from neardup.labels.training_labels import Labelled
from neardup.methods import registry
from neardup.progress import Silent

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
SETS = ("licences", "manpages_versions", "laws_de", "rfc_lineage", "bill_pairs", "ocr_pairs")
DUPLICATE, OTHER = 1, 0  # classes of the script
LEARNED = "learned"


@dataclass(frozen=True)
class Half:
    """``at``: the numbers of its documents in the set."""

    gold: Any
    at: np.ndarray

    @property
    def table(self) -> pa.Table:
        """Every document is named by its number."""
        docs = [self.gold.docs[i] for i in self.at]
        columns = {"id": [str(i) for i in self.at], "text": [one["text"] for one in docs]}
        if self.gold.group is not None:
            columns["group"] = [str(self.gold.group[i]) for i in self.at]
        return pa.table(columns)

    @property
    def source(self) -> Source:
        return Source(collect(self.table))

    def labelled(self) -> Labelled:
        given = 0, Silent(), MOST_PAIRS
        if self.gold.name not in ("rfc_lineage", "bill_pairs"):
            return self._without_open(labelled_by_group(self.source, "group", *given))
        found, named = Labelled(), set[Pair]()
        inside = {*self.at.tolist()}
        sides = divmod(self.gold.lab_keys, self.gold.n)
        for a, b, y in zip(*(side.tolist() for side in (*sides, self.gold.lab_cls)), strict=True):
            if {a, b} <= inside:
                named.add(Pair.of(a, b))
                if y in (DUPLICATE, OTHER):
                    found.add(str(a), str(b), y)
        if self.gold.name == "rfc_lineage":
            return labelled_completely(found, named, self.source, *given)
        return found

    def _without_open(self, found: Labelled) -> Labelled:
        pairs = list(found.labels)
        a, b = np.array(pairs).astype(np.int64).T
        told = self.classes(a, b) >= 0
        labels = {pair: found.labels[pair] for pair, one in zip(pairs, told, strict=True) if one}
        return replace(found, labels=labels)

    def duplicates(self) -> int:
        """That are to be found."""
        inside = np.isin(np.arange(self.gold.n), self.at)
        pairs = self.gold.positives()
        return int((inside[pairs].all(axis=1) & ~self.gold.identical(*pairs.T)).sum())

    def classes(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Of pairs of numbers in the set; −1 for what counts neither way."""
        return np.where(self.gold.identical(a, b), -1, self.gold.classify(a, b)[0])

    def f1(self, method: str = LEARNED, **settings: Any) -> float:
        found = nd.find(self.table, method=method, kinds="none", id="id", **settings)
        assert found.pairs_complete
        a, b = (np.array(found.pairs[side].to_pylist()).astype(np.int64) for side in "ab")
        y = self.classes(a, b)
        return float(2 * (y == DUPLICATE).sum() / ((y >= 0).sum() + self.duplicates()))

    def best_fixed(self) -> tuple[float, str]:
        """The method that is best on what is tested, of all as they come: seen in hindsight."""
        return max((self.f1(name), name) for name in registry.METHODS if name != LEARNED)

    def best_single(self) -> tuple[float, str]:
        """The measure and threshold that are best on what is tested: too good, and hard to beat."""
        met = met_in(self.source, Silent())
        y = self.classes(*(np.array(met.ids).astype(np.int64)[side] for side in (met.a, met.b)))
        known = profiles_of(self.source, met.ids, Silent())
        places = known.places(met.ids)
        x = known.vectors(places[met.a[y >= 0]], places[met.b[y >= 0]])
        total = self.duplicates()
        return max((_best(x[:, at], y[y >= 0], total), name) for at, name in enumerate(MEASURES))


def _best(score: np.ndarray, y: np.ndarray, total: int) -> float:
    order = np.argsort(-score, kind="stable")
    ends = np.flatnonzero(np.diff(score[order], append=-np.inf))
    hits = np.cumsum(y[order])[ends]
    return float((2 * hits / (ends + 1 + total)).max())


def gold_of(name: str, data: Path = DATA) -> Any:
    spec = importlib.util.spec_from_file_location("score", data / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True  # the folder of the data is only read
    spec.loader.exec_module(module)
    return module.Gold(str(data / name))


def halves(gold: Any, seed: int) -> tuple[Half, Half]:
    group = gold.group
    if group is None:  # documents hang together by labelled pairs
        found = components(gold.n, *divmod(gold.lab_keys, gold.n))
        group = np.where(found < 0, gold.n + np.arange(gold.n), found)
    names, place = np.unique(group, return_inverse=True)
    first = (np.random.default_rng(seed).random(len(names)) < 0.5)[place]
    return Half(gold, np.flatnonzero(first & gold.usable)), Half(gold, np.flatnonzero(~first))


def cells(gold: Any, seed: int, kinds: Sequence[str]) -> Iterator[str]:
    given, tested = halves(gold, seed)
    material = material_of(given.source, given.labelled(), Silent())
    yield f"{material.data.positives:,} of {len(material.data):,}"
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            model = Path(folder) / f"{kind}.model"
            train(material, kind=kind, choose=False).save(model)
            yield f"{tested.f1(model=str(model)):.3f}"
    for best, name in (tested.best_single(), tested.best_fixed()):
        yield f"{best:.3f} `{name}`"
    yield f"{tested.f1():.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.halves", description=__doc__)
    parser.add_argument("sets", nargs="*", default=SETS, metavar="SET")
    parser.add_argument("--seeds", default="10,11", metavar="N,N")
    parser.add_argument("--kinds", default=",".join(KINDS), metavar="KIND,KIND")
    options = parser.parse_args()
    kinds = options.kinds.split(",")
    beside = "best measure", "best method", "general model"
    header = ("set", "duplicates trained on", *kinds, *beside)
    print(f"| {' | '.join(header)} |\n|{'---|' * len(header)}", flush=True)
    for name in options.sets:
        gold = gold_of(name)
        for seed in map(int, options.seeds.split(",")):
            print(f"| {name} | {' | '.join(cells(gold, seed, kinds))} |", flush=True)


if __name__ == "__main__":
    main()
