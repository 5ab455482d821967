"""Estimates from judged samples: how good treatments are, and one run at other thresholds.

*Precision* is the share of duplicates among decided pairs within strata, weighted by stratum size;
it is unbiased for random draws within strata. Its interval is Wilson's at the effective sample size
1 / Σ W²(1 − f)/n, where f is the judged share of a stratum; it is slightly too wide if strata
differ.

*Recall* is relative to the *pool*, all true pairs that were judged in any treatment, because no
gold exists (Williams and Giles, §4). ``pooled`` is their estimate: the share of the pool that a
treatment returned. ``recall`` weights each pair of the pool by the inverse of its probability of
being drawn (Horvitz and Thompson), which estimates the share of *all* true pairs that any treatment
returned.

For one run, a judged pair has the same kind of weight: in a stratum of *N* pairs of which *n* were
judged it stands for *N/n*, and with several samples for 1 / (1 − Π(1 − n/N)). Recall at a higher
threshold is relative to the duplicates that the run itself found. What a lower threshold would add
is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.labels.intervals import Interval, wilson
from neardup.labels.label_store import DUPLICATE, UNDECIDED, Label, Pair
from neardup.labels.sampling import Key, Stratum, Treatment
from neardup.runs.result import Result

ItemLabels = Mapping[str, str | None]  # item → its final label; None: not judged, or disputed


@dataclass(frozen=True)
class Share:
    """A share with its interval; ``n`` is the effective sample size, None if all was judged."""

    value: float | None
    interval: Interval | None
    n: float | None

    def data(self) -> dict[str, Any]:
        interval = list(self.interval) if self.interval else None
        return {"value": self.value, "interval": interval, "n": self.n}


NOTHING = Share(None, None, 0.0)


@dataclass(frozen=True)
class Estimate:
    """Estimates for one treatment. ``covered`` is the share of its pairs in strata that have a
    decided label; if it is below 1, precision describes only those strata."""

    name: str
    method: str
    pairs: int
    complete: bool
    drawn: int
    decided: int
    undecided: int
    precision: Share
    covered: float
    recall: Share
    pooled: Share

    @property
    def f1(self) -> float | None:
        p, r = self.precision.value, self.recall.value
        return None if p is None or r is None or not p + r else 2 * p * r / (p + r)

    def data(self) -> dict[str, Any]:
        shares = {k: getattr(self, k).data() for k in ("precision", "recall", "pooled")}
        return {**vars(self), **shares, "f1": self.f1}


def estimates(key: Key, settled: Mapping[Pair, str]) -> list[Estimate]:
    """Estimates for all treatments of a sample; ``settled`` has the final label of each pair."""
    labels = {item: settled.get(pair) for item, pair in key.pairs.items()}
    judged = [_judged_shares(treatment, labels) for treatment in key.treatments]
    weights = {
        item: 1 / chance(item, key.treatments, judged)
        for item, label in labels.items()
        if label == DUPLICATE
    }
    return [_estimate(treatment, labels, weights) for treatment in key.treatments]


def _judged_shares(treatment: Treatment, labels: ItemLabels) -> list[float]:
    """The share of each stratum that was drawn and judged. Items are judged in random order, so the
    items judged so far are a random draw as well."""
    return [
        sum(labels.get(item) is not None for item in stratum.items) / stratum.pairs
        for stratum in treatment.strata
    ]


def chance(item: str, treatments: Sequence[Treatment], judged: Sequence[Sequence[float]]) -> float:
    """Probability that at least one treatment draws the item: treatments draw independently of each
    other, each its judged share of the stratum."""
    missed = 1.0
    for treatment, shares in zip(treatments, judged, strict=True):
        if item in treatment.returned:
            missed *= 1 - shares[treatment.returned[item]]
    return 1 - missed


def _estimate(treatment: Treatment, labels: ItemLabels, weights: Mapping[str, float]) -> Estimate:
    drawn = [labels.get(item) for stratum in treatment.strata for item in stratum.items]
    precision, covered = stratified(treatment, labels)
    returned = {item: weight for item, weight in weights.items() if item in treatment.returned}
    return Estimate(
        name=treatment.name,
        method=treatment.method,
        pairs=treatment.pairs,
        complete=treatment.complete,
        drawn=len(drawn),
        decided=sum(label not in (None, UNDECIDED) for label in drawn),
        undecided=sum(label == UNDECIDED for label in drawn),
        precision=precision,
        covered=covered,
        recall=_weighted(returned, weights),
        pooled=_weighted(dict.fromkeys(returned, 1.0), dict.fromkeys(weights, 1.0)),
    )


def stratified(treatment: Treatment, labels: ItemLabels) -> tuple[Share, float]:
    """Precision, and the share of the treatment's pairs that it describes."""
    parts = []
    for stratum in treatment.strata:
        drawn = [labels.get(item) for item in stratum.items]
        if decided := [label for label in drawn if label not in (None, UNDECIDED)]:
            hits = sum(label == DUPLICATE for label in decided)
            parts.append((stratum.pairs, len(decided), hits / len(decided)))
    total = sum(pairs for pairs, _, _ in parts)
    if not total:
        return NOTHING, 0.0
    value = sum(pairs / total * share for pairs, _, share in parts)
    variance = sum((pairs / total) ** 2 * (1 - n / pairs) / n for pairs, n, _ in parts)
    return _share(value, 1 / variance if variance else None), total / treatment.pairs


def _weighted(part: Mapping[str, float], whole: Mapping[str, float]) -> Share:
    """A weighted share with Kish's effective sample size (Σw)² / Σw²."""
    total = sum(whole.values())
    if not total:
        return NOTHING
    effective = total * total / sum(weight * weight for weight in whole.values())
    return _share(sum(part.values()) / total, effective)


def _share(value: float, n: float | None) -> Share:
    """A share with its interval, which is a point if ``n`` is None: everything was judged."""
    value = min(max(value, 0.0), 1.0)  # sums of weights round
    if n is None:
        return Share(value, Interval(value, value), None)
    return Share(value, wilson(value * n, n), n)


MOST_THRESHOLDS = 60


@dataclass(frozen=True)
class RunPair:
    """Score and kind that a run gave to a pair."""

    score: float
    kind: str | None


@dataclass(frozen=True)
class JudgedPair:
    """A pair of a run with its label; ``weight`` is how many pairs of the run it stands for."""

    score: float
    duplicate: bool
    weight: float


@dataclass(frozen=True)
class AtThreshold:
    """Estimates for a run at one threshold. ``pairs`` of the run score at least the threshold;
    ``judged`` of them were judged."""

    threshold: float
    pairs: int
    judged: int
    precision: float | None
    precision_interval: Interval | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        p, r = self.precision, self.recall
        return None if p is None or r is None or not p + r else 2 * p * r / (p + r)

    def data(self) -> dict[str, Any]:
        interval = self.precision_interval
        return {**vars(self), "precision_interval": interval and list(interval), "f1": self.f1}


def found_by(result: Result, pairs: Sequence[Pair]) -> dict[Pair, RunPair]:
    """The pairs among ``pairs`` that the run reported."""
    ids = pa.array(sorted({document for pair in pairs for document in pair}), pa.large_string())
    table = result.pairs
    likely = table.filter(pc.and_(pc.is_in(table["a"], ids), pc.is_in(table["b"], ids)))
    wanted, run_pairs = set(pairs), dict[Pair, RunPair]()
    for row in likely.select(["a", "b", "score", "kind"]).to_pylist():
        if (pair := Pair.of(row["a"], row["b"])) in wanted:
            run_pairs[pair] = RunPair(float(row["score"]), row["kind"])
    return run_pairs


def judged_of(
    keys: Sequence[Key], name: str, settled: Mapping[Pair, Label], run_pairs: Mapping[Pair, RunPair]
) -> list[JudgedPair]:
    """The decided pairs that any of the samples drew from the run called ``name``."""
    draws = [(key, drawn) for key in keys for drawn in key.treatments if drawn.name == name]
    shares = [[_decided(key, s, settled) / s.pairs for s in drawn.strata] for key, drawn in draws]
    pairs = {key.pairs[item] for key, drawn in draws for s in drawn.strata for item in s.items}
    judged = []
    for pair in sorted(pairs):
        label = settled.get(pair)
        if label is None or label.label == UNDECIDED or pair not in run_pairs:
            continue
        score, missed = run_pairs[pair].score, 1.0
        for (_, drawn), share in zip(draws, shares, strict=True):
            missed *= 1 - share[_stratum(drawn, score)]
        judged.append(JudgedPair(score, label.label == DUPLICATE, 1 / (1 - missed)))
    return judged


def _decided(key: Key, stratum: Stratum, settled: Mapping[Pair, Label]) -> int:
    labels = (settled.get(key.pairs[item]) for item in stratum.items)
    return sum(label is not None and label.label != UNDECIDED for label in labels)


def _stratum(treatment: Treatment, score: float) -> int:
    """The stratum of a score: it is unique, because equal scores stay in one stratum."""
    last = len(treatment.strata) - 1
    return next(i for i, s in enumerate(treatment.strata) if score <= s.high or i == last)


def curve(judged: Sequence[JudgedPair], scores: np.ndarray, lowest: float) -> list[AtThreshold]:
    """Estimates at rising thresholds. ``scores`` are those of all pairs of the run; ``lowest`` is
    the threshold of the run."""
    if not judged:
        return []
    highest = max(pair.score for pair in judged)
    thresholds = np.unique(np.round(np.linspace(lowest, highest, MOST_THRESHOLDS), 4))
    ordered = np.sort(scores)
    points = [_at(float(threshold), judged, ordered) for threshold in thresholds]
    return [point for point in points if point.judged]


def _at(threshold: float, judged: Sequence[JudgedPair], ordered: np.ndarray) -> AtThreshold:
    above = [pair for pair in judged if pair.score >= threshold]
    weights = np.array([pair.weight for pair in above])
    right = np.array([pair.weight for pair in above if pair.duplicate])
    every = sum(pair.weight for pair in judged if pair.duplicate)
    value = float(right.sum() / weights.sum()) if above else None
    return AtThreshold(
        threshold,
        int(len(ordered) - np.searchsorted(ordered, threshold)),
        len(above),
        value,
        None if value is None else _interval(value, weights),
        float(right.sum() / every) if every else None,
    )


def _interval(value: float, weights: np.ndarray) -> Interval:
    """Wilson's interval at the effective sample size (Σw)² / Σw²(1 − 1/w); a point if every pair
    was judged, so that each weight is 1."""
    value = min(value, 1.0)  # sums of weights round
    left = float((weights**2 * (1 - 1 / weights)).sum())
    if left < 1e-9:
        return Interval(value, value)
    effective = float(weights.sum() ** 2) / left
    interval = wilson(value * effective, effective)
    assert interval is not None
    return interval


def by_stratum(key: Key, name: str, settled: Mapping[Pair, Label]) -> list[dict[str, Any]]:
    """Precision within each stratum of the scores of one sample."""
    treatment = next((drawn for drawn in key.treatments if drawn.name == name), None)
    rows = []
    for stratum in treatment.strata if treatment else ():
        decided = _decided(key, stratum, settled)
        labels = [settled.get(key.pairs[item]) for item in stratum.items]
        hits = sum(label is not None and label.label == DUPLICATE for label in labels)
        weights = np.full(decided, stratum.pairs / max(decided, 1))
        interval = _interval(hits / decided, weights) if decided else None
        rows.append(
            {
                "low": stratum.low,
                "high": stratum.high,
                "pairs": stratum.pairs,
                "judged": decided,
                "duplicates": hits,
                "precision": hits / decided if decided else None,
                "interval": interval and list(interval),
            }
        )
    return rows


def kind_table(
    settled: Mapping[Pair, Label], run_pairs: Mapping[Pair, RunPair]
) -> dict[str, dict[str, int]]:
    """Counts of pairs by the kind that people gave (rows) and the kind of the run (columns)."""
    table: dict[str, dict[str, int]] = {}
    for pair, label in settled.items():
        run_pair = run_pairs.get(pair)
        if label.kind and label.label == DUPLICATE and run_pair and run_pair.kind:
            row = table.setdefault(label.kind, {})
            row[run_pair.kind] = row.get(run_pair.kind, 0) + 1
    return table
