"""Our measures agree with those of the script that comes with the real data."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from neardup import api as nd
from neardup.evaluation import metrics
from neardup.evaluation.evaluation import evaluate
from neardup.evaluation.scored_pairs import of_result

THRESHOLDS = (0.5, 0.7, 0.9)


@pytest.fixture(scope="module")
def score(data: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", data / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Theirs:
    """What the script says of our pairs from 0.5 on, at each threshold."""

    def __init__(self, score: ModuleType, folder: Path) -> None:
        self.score, self.gold = score, score.Gold(str(folder))
        self.pairs = of_result(
            nd.find(folder / "docs.jsonl.zst", method="shingles", threshold=0.5, words=3)
        )
        ids = [doc["id"] for doc in score.rows(str(folder / "docs.jsonl"))]
        self.place = np.array([self.gold.index.get(id, -1) for id in ids])
        self.similarity = self.gold.jaccard3(self.gold.positives())

    def at(self, threshold: float) -> tuple[Any, Any]:
        """Only pairs that the script knows of: it leaves documents without labels out."""
        pairs = self.pairs.at(threshold)
        i, j = self.place[pairs.a], self.place[pairs.b]
        known = (i >= 0) & (j >= 0)
        i, j = np.minimum(i, j)[known], np.maximum(i, j)[known]
        said = self.score.evaluate(
            self.gold, i, j, pairs.score[known], j3=self.similarity, with_bcubed=False
        )
        return said, (i, j)


@pytest.fixture(scope="module")
def said_of(data: Path, score: ModuleType) -> Callable[[str], Theirs]:
    """Made once: the script walks over all pairs."""
    return functools.cache(lambda name: Theirs(score, data / name))


SETS: dict[str, dict[str, Any]] = {
    "bill_pairs": {"positive": ["4", "3"], "negative": ["0"]},
    "clough_stevenson": {"positive": ["cut", "light"], "negative": ["non"]},
    "mccormick_articles": {"positive": ["near_duplicate"], "complete": True},
    "manpages_versions": {"group": "group"},
}


def asked(folder: Path, name: str) -> dict[str, Any]:
    given = SETS[name]
    return given if "group" in given else {**given, "pairs": folder / "pairs.jsonl.zst"}


@pytest.mark.parametrize("name", SETS)
def test_a_whole_evaluation_says_what_the_script_says(
    data: Path, said_of: Callable[[str], Theirs], name: str
) -> None:
    folder, theirs = data / name, said_of(name)
    ours = evaluate(
        folder / "docs.jsonl.zst",
        method="shingles words=3",
        sweep=THRESHOLDS,
        **asked(folder, name),
    )
    (measured,) = ours.measured
    for at in measured.at:
        said, _ = theirs.at(at.cut.threshold)
        counts, expected = at.every.counts, said["all"]
        assert (counts.tp, counts.fp, counts.fn) == tuple(expected[k] for k in ("tp", "fp", "fn"))
        for measure in ("precision", "recall", "f1"):
            if expected[measure] is not None:
                assert getattr(at.every, measure) == pytest.approx(expected[measure], abs=1e-4)
    said, _ = theirs.at(THRESHOLDS[0])
    if ranked := said["all"].get("ranked"):
        assert measured.average_precision == pytest.approx(ranked["average_precision"], abs=1e-4)
    bands = [band["positives"] for band in said["recall_by_jaccard3"].values()]
    found = [band.positives for band in measured.at[0].bands]
    assert sum(found) == sum(bands)
    assert np.abs(np.subtract(found, bands)).max() <= 0.02 * sum(bands) + 1


@pytest.mark.parametrize("name", ["ocr_pairs", "manpages_versions"])
def test_measures_agree_where_the_classes_do(
    said_of: Callable[[str], Theirs], score: ModuleType, name: str
) -> None:
    """On the classes, equal texts, similarities and clusters of the script itself."""
    theirs = said_of(name)
    gold = theirs.gold
    said, (i, j) = theirs.at(0.7)
    classes = gold.classify(i, j)[0].astype(np.int8)
    hard = ~gold.identical(i, j)
    positives = gold.positives()
    for line, mask, total in (
        ("all", np.ones(len(i), bool), len(positives)),
        ("hard", hard, int((~gold.identical(*positives.T)).sum())),
    ):
        counts = metrics.pair_counts(classes[mask], total)
        assert (counts.tp, counts.fp, counts.fn) == tuple(said[line][k] for k in ("tp", "fp", "fn"))
        made = metrics.average_precision(theirs.pairs.at(0.7).score[mask], classes[mask], total)
        assert made == pytest.approx(said[line]["ranked"]["average_precision"], abs=1e-4)
    found = np.isin(positives[:, 0] * gold.n + positives[:, 1], i * gold.n + j)
    bands = metrics.recall_by_band(theirs.similarity, found)
    expected = list(said["recall_by_jaccard3"].values())
    assert [(b.positives, b.recall and round(b.recall, 4)) for b in bands] == [
        (band["positives"], band["recall"]) for band in expected
    ]
    if name != "ocr_pairs":  # where the script ignores the receipts of one shop, too
        clusters = theirs.pairs.at(0.7).clusters("components")
        made = metrics.b_cubed(clusters, gold.group, gold.same)
        expected = score.bcubed(gold, i, j)
        for ours, line in ((made.every, "all"), (made.several, "multi")):
            assert ours is not None
            assert ours.documents == expected[line]["docs"]
            for measure in ("precision", "recall", "f1"):
                assert getattr(ours, measure) == pytest.approx(expected[line][measure], abs=1e-4)
