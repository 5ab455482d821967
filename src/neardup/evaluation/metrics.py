"""Measures of an answer against gold: pure functions on arrays. docs/evaluation.md defines them.

A measure that is undefined (no predicted pair, no positive) is None, never 0.
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
        """Undefined without positives, as there is then nothing to find."""
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn) if self.tp + self.fn else None


def pair_counts(classes: Array, positives: int) -> PairCounts:
    """``classes`` are those of the predicted pairs, each once; ``positives`` is how many exist."""
    tp = int((classes == POSITIVE).sum())
    return PairCounts(
        tp=tp,
        fp=int((classes == NEGATIVE).sum()),
        fn=positives - tp,
        unlabelled=int((classes == UNKNOWN).sum()),
    )


def average_precision(score: Array, classes: Array, positives: int) -> float | None:
    """Σ (recall gained) · precision over falling scores; equal scores are taken together. Positives
    that were not predicted at all count as never found."""
    known = classes != UNKNOWN
    if not positives:
        return None
    order = np.argsort(-score[known], kind="stable")
    ranked, hit = score[known][order], classes[known][order] == POSITIVE
    found, seen = np.cumsum(hit), np.arange(1, len(hit) + 1)
    last = np.append(ranked[1:] != ranked[:-1], True)[: len(ranked)]
    found, seen = found[last], seen[last]
    return float((np.diff(found, prepend=0) * found / seen).sum() / positives)


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
    """Of all documents whose true cluster is known, and of those (``several``) that are not alone
    in it: the others are many and easy. None where there are none."""

    every: BCubed | None
    several: BCubed | None

    def data(self) -> dict[str, Any]:
        return {
            name: found.data() if found else None
            for name, found in (("all", self.every), ("several", self.several))
        }


def b_cubed(predicted: Array, true: Array, same: Array | None = None) -> BCubedBoth:
    """Bagga and Baldwin's measure. Clusters by number, −1 in ``predicted`` for documents alone and
    in ``true`` for unknown ones, which are left out. Cluster mates of equal text (``same``) and
    another true cluster count neither way."""
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
    """For each entry, how many have its number."""
    return np.bincount(codes)[codes] if len(codes) else codes


def alone_apart(clusters: Array) -> Array:
    """Documents alone (−1) get clusters of their own."""
    own = int(clusters.max(initial=-1)) + 1 + np.arange(len(clusters))
    return np.where(clusters < 0, own, clusters)


def adjusted_rand(predicted: Array, true: Array) -> float | None:
    """Hubert and Arabie's index: 1 for equal clusterings, 0 expected by chance. Unknown documents
    (−1 in ``true``) are left out; None for fewer than two."""
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
    """Positive pairs with a similarity from ``low`` up to ``high``; the last one has its end."""

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
    """``similarity`` of each positive pair, and whether it was predicted."""
    place = np.searchsorted(np.array(bands[1:-1]), similarity, side="right")
    count = np.bincount(place, minlength=len(bands) - 1).tolist()
    hits = np.bincount(place[found], minlength=len(bands) - 1).tolist()
    return [
        Band(low, high, n, hit)
        for (low, high), n, hit in zip(pairwise(bands), count, hits, strict=True)
    ]
