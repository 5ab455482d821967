"""Measures of a result against gold, as pure functions on arrays; docs/evaluation.md defines them.

A measure that is undefined (no predicted pair, no positive pair) is None, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, joint
from neardup.schema import Array

BANDS = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)


def ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True)
class PairCounts:
    """Predicted pairs that are positive (``tp``), negative (``fp``) or unknown (``unlabelled``),
    and positive pairs that were not predicted (``fn``)."""

    tp: int
    fp: int
    fn: int
    unlabelled: int = 0

    @property
    def precision(self) -> float | None:
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        return ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """F1, undefined without positives because there is nothing to find."""
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn) if self.tp + self.fn else None


def pair_counts(classes: Array, positives: int) -> PairCounts:
    """Counts from the ``classes`` of the predicted pairs; ``positives`` is how many exist."""
    tp = int((classes == POSITIVE).sum())
    return PairCounts(
        tp=tp,
        fp=int((classes == NEGATIVE).sum()),
        fn=positives - tp,
        unlabelled=int((classes == UNKNOWN).sum()),
    )


def average_precision(score: Array, classes: Array, positives: int) -> float | None:
    """Σ (recall gained) · precision over falling scores; equal scores are taken together. Positives
    that were never predicted count as missed."""
    known = classes != UNKNOWN
    if not positives:
        return None
    order = np.argsort(-score[known], kind="stable")
    ranked, hit = score[known][order], classes[known][order] == POSITIVE
    hits, seen = np.cumsum(hit), np.arange(1, len(hit) + 1)
    last = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]
    hits, seen = hits[last], seen[last]
    return float((np.diff(hits, prepend=0) * hits / seen).sum() / positives)


@dataclass(frozen=True)
class BCubed:
    """Means over ``documents``."""

    precision: float
    recall: float
    documents: int

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / (self.precision + self.recall)

    def data(self) -> dict[str, Any]:
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "documents": self.documents,
        }


@dataclass(frozen=True)
class BCubedBoth:
    """B³ over all documents whose true cluster is known, and over those that share it with others
    (``several``): documents alone are many and easy. None without such documents."""

    every: BCubed | None
    several: BCubed | None

    def data(self) -> dict[str, Any]:
        return {
            name: means.data() if means else None
            for name, means in (("all", self.every), ("several", self.several))
        }


def b_cubed(predicted: Array, true: Array, same: Array | None = None) -> BCubedBoth:
    """Bagga and Baldwin's B³ measure. Clusters are numbers; −1 means a document alone in
    ``predicted``, and in ``true`` an unknown cluster, which is left out. Members of one predicted
    cluster with equal text (``same``) but different true clusters are neither right nor wrong."""
    known = true >= 0
    cluster, gold = alone_apart(predicted)[known], true[known]
    good = _sizes(joint(cluster, gold))
    mates = _sizes(joint(cluster))
    if same is not None:
        text = same[known]
        mates = mates - _sizes(joint(cluster, text)) + _sizes(joint(cluster, text, gold))
    size = _sizes(joint(gold))
    precision, recall = good / mates, good / size
    return BCubedBoth(
        _mean(precision, recall, np.ones(len(gold), bool)), _mean(precision, recall, size > 1)
    )


def _mean(precision: Array, recall: Array, mask: Array) -> BCubed | None:
    if not mask.any():
        return None
    return BCubed(float(precision[mask].mean()), float(recall[mask].mean()), int(mask.sum()))


def _sizes(codes: Array) -> Array:
    """For each entry, the number of entries with the same code."""
    return np.bincount(codes)[codes] if len(codes) else codes


def alone_apart(clusters: Array) -> Array:
    """Clusters in which each document alone (−1) has a number of its own."""
    own = int(clusters.max(initial=-1)) + 1 + np.arange(len(clusters))
    return np.where(clusters < 0, own, clusters)


def adjusted_rand(predicted: Array, true: Array) -> float | None:
    """Hubert and Arabie's adjusted Rand index: 1 for equal clusterings, 0 expected by chance.
    Unknown documents (−1 in ``true``) are left out; None for fewer than two documents."""
    known = true >= 0
    cluster, gold = alone_apart(predicted)[known], true[known]
    total = _pairs(np.array([len(gold)]))
    if not total:
        return None
    together = _pairs(np.bincount(joint(cluster, gold)))
    of_clusters, of_gold = _pairs(np.bincount(joint(cluster))), _pairs(np.bincount(joint(gold)))
    expected = of_clusters * of_gold / total
    most = (of_clusters + of_gold) / 2
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def _pairs(sizes: Array) -> int:
    return int((sizes * (sizes - 1) // 2).sum())


@dataclass(frozen=True)
class Band:
    """Positive pairs with low ≤ similarity < high; the last band includes its end."""

    low: float
    high: float
    positives: int
    found: int

    @property
    def recall(self) -> float | None:
        return ratio(self.found, self.positives)

    def data(self) -> dict[str, Any]:
        return {**vars(self), "recall": self.recall}


def recall_by_band(similarity: Array, found: Array, bands: Sequence[float] = BANDS) -> list[Band]:
    """Recall by similarity; ``found`` tells for each positive pair whether it was predicted."""
    place = np.searchsorted(np.array(bands[1:-1]), similarity, side="right")
    count = np.bincount(place, minlength=len(bands) - 1).tolist()
    hits = np.bincount(place[found], minlength=len(bands) - 1).tolist()
    return [
        Band(low, high, n, hit)
        for (low, high), n, hit in zip(pairwise(bands), count, hits, strict=True)
    ]
