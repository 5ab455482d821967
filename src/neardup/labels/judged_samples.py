"""How good treatments are, from a judged sample.

*Precision*: within strata the share of duplicates among decided pairs, weighted by the sizes of the
strata: unbiased for random draws within them. Its interval is Wilson's at the effective number
1 / Σ W²(1 − f)/n, with f the share of a stratum that was judged; a little wide where strata differ.
*Recall*: no gold exists, so it is relative to the *pool*: all true pairs that were judged in any
treatment (Williams and Giles, §4). ``pooled`` is their estimate, the share of the pool that a
treatment returned. ``recall`` weighs each pair of the pool by how improbable it was to be drawn
(Horvitz and Thompson), which estimates the share of *all* true pairs that any treatment returned.

What judged samples say of one run: precision by score, and how it would be at other thresholds.

A judged pair stands for as many as it was improbable to be drawn (Horvitz and Thompson): of a
stratum of *N* pairs of which *n* were judged, each for *N/n*; where several samples were drawn, for
1 / (1 − Π(1 − n/N)). Recall is relative to the duplicates that the run itself found: a higher
threshold can only lose some of them, and nobody knows what a lower one would add.
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

Said = Mapping[str, str | None]  # item → the label that counts; None: not judged, or disputed


@dataclass(frozen=True)
class Share:
    """``n`` is the effective number of judgements behind it; None where everything was judged."""

    value: float | None
    interval: Interval | None
    n: float | None

    def data(self) -> dict[str, Any]:
        interval = list(self.interval) if self.interval else None
        return {"value": self.value, "interval": interval, "n": self.n}


NOTHING = Share(None, None, 0.0)


@dataclass(frozen=True)
class Estimate:
    """One treatment. ``covered`` is the share of its pairs that lie in strata with a decided label;
    below 1 precision speaks of those only."""

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
    """``settled`` is the label that counts of each pair that has one."""
    said = {item: settled.get(pair) for item, pair in key.pairs.items()}
    judged = [_judged_shares(one, said) for one in key.treatments]
    weights = {
        item: 1 / chance(item, key.treatments, judged)
        for item, label in said.items()
        if label == DUPLICATE
    }
    return [_estimate(one, said, weights) for one in key.treatments]


def _judged_shares(treatment: Treatment, said: Said) -> list[float]:
    """Of each stratum, how much was drawn and judged. Items stand in random order, so those that
    an assessor has come to are a random draw as well."""
    return [
        sum(said.get(item) is not None for item in stratum.items) / stratum.pairs
        for stratum in treatment.strata
    ]


def chance(item: str, treatments: Sequence[Treatment], judged: Sequence[Sequence[float]]) -> float:
    """That any treatment draws it: they draw independently, each its share of the stratum."""
    missed = 1.0
    for one, shares in zip(treatments, judged, strict=True):
        if item in one.returned:
            missed *= 1 - shares[one.returned[item]]
    return 1 - missed


def _estimate(one: Treatment, said: Said, weights: Mapping[str, float]) -> Estimate:
    drawn = [item for stratum in one.strata for item in stratum.items]
    labels = [said.get(item) for item in drawn]
    precision, covered = stratified(one, said)
    returned = {item: weight for item, weight in weights.items() if item in one.returned}
    return Estimate(
        name=one.name,
        method=one.method,
        pairs=one.pairs,
        complete=one.complete,
        drawn=len(drawn),
        decided=sum(label not in (None, UNDECIDED) for label in labels),
        undecided=sum(label == UNDECIDED for label in labels),
        precision=precision,
        covered=covered,
        recall=_weighted(returned, weights),
        pooled=_weighted(dict.fromkeys(returned, 1.0), dict.fromkeys(weights, 1.0)),
    )


def stratified(one: Treatment, said: Said) -> tuple[Share, float]:
    """Precision, and the share of the treatment's pairs that it speaks of."""
    parts = []
    for stratum in one.strata:
        decided = [said.get(i) for i in stratum.items if said.get(i) not in (None, UNDECIDED)]
        if decided:
            hits = sum(label == DUPLICATE for label in decided)
            parts.append((stratum.pairs, len(decided), hits / len(decided)))
    total = sum(pairs for pairs, _, _ in parts)
    if not total:
        return NOTHING, 0.0
    value = sum(pairs / total * share for pairs, _, share in parts)
    variance = sum((pairs / total) ** 2 * (1 - n / pairs) / n for pairs, n, _ in parts)
    return _share(value, 1 / variance if variance else None), total / one.pairs


def _weighted(part: Mapping[str, float], whole: Mapping[str, float]) -> Share:
    """A weighted share; its effective number is (Σw)² / Σw² (Kish)."""
    total = sum(whole.values())
    if not total:
        return NOTHING
    effective = total * total / sum(weight * weight for weight in whole.values())
    return _share(sum(part.values()) / total, effective)


def _share(value: float, n: float | None) -> Share:
    """Without ``n`` everything was judged: there is nothing left to chance."""
    value = min(max(value, 0.0), 1.0)  # sums of weights round
    if n is None:
        return Share(value, Interval(value, value), None)
    return Share(value, wilson(value * n, n), n)


CUTS = 60  # thresholds at most


@dataclass(frozen=True)
class Found:
    """What a run says of a pair."""

    score: float
    kind: str | None


@dataclass(frozen=True)
class Judged:
    score: float
    duplicate: bool
    weight: float


@dataclass(frozen=True)
class AtThreshold:
    """``pairs`` of the run have this score or more, ``judged`` of them were judged."""

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


def found_by(result: Result, pairs: Sequence[Pair]) -> dict[Pair, Found]:
    """Those of the pairs that the run has."""
    ids = pa.array(sorted({one for pair in pairs for one in pair}), pa.large_string())
    table = result.pairs
    near = table.filter(pc.and_(pc.is_in(table["a"], ids), pc.is_in(table["b"], ids)))
    wanted, found = set(pairs), dict[Pair, Found]()
    for row in near.select(["a", "b", "score", "kind"]).to_pylist():
        if (pair := Pair.of(row["a"], row["b"])) in wanted:
            found[pair] = Found(float(row["score"]), row["kind"])
    return found


def judged_of(
    keys: Sequence[Key],
    name: str,
    settled: Mapping[Pair, Label],
    found: Mapping[Pair, Found],
) -> list[Judged]:
    """The decided pairs that were drawn from this run in any of the samples."""
    draws = [(key, one) for key in keys for one in key.treatments if one.name == name]
    shares = [_shares(key, one, settled) for key, one in draws]
    made = []
    drawn = {key.pairs[item] for key, one in draws for s in one.strata for item in s.items}
    for pair in sorted(drawn):
        label = settled.get(pair)
        if label is None or label.label == UNDECIDED or pair not in found:
            continue
        score, missed = found[pair].score, 1.0
        for (_, one), share in zip(draws, shares, strict=True):
            missed *= 1 - share[_stratum(one, score)]
        made.append(Judged(score, label.label == DUPLICATE, 1 / (1 - missed)))
    return made


def _shares(key: Key, one: Treatment, settled: Mapping[Pair, Label]) -> list[float]:
    return [_decided(key, s, settled) / s.pairs for s in one.strata]


def _decided(key: Key, stratum: Stratum, settled: Mapping[Pair, Label]) -> int:
    labels = (settled.get(key.pairs[item]) for item in stratum.items)
    return sum(label is not None and label.label != UNDECIDED for label in labels)


def _stratum(one: Treatment, score: float) -> int:
    """Equal scores stay in one stratum, so the score says which."""
    return next(i for i, s in enumerate(one.strata) if score <= s.high or i + 1 == len(one.strata))


def curve(judged: Sequence[Judged], scores: np.ndarray, lowest: float) -> list[AtThreshold]:
    """``scores`` are those of all pairs of the run, which begin at its threshold ``lowest``."""
    if not judged:
        return []
    highest = max(one.score for one in judged)
    cuts = np.unique(np.round(np.linspace(lowest, highest, CUTS), 4))
    ordered = np.sort(scores)
    found = [_at(float(cut), judged, ordered) for cut in cuts]
    return [one for one in found if one.judged]


def _at(cut: float, judged: Sequence[Judged], ordered: np.ndarray) -> AtThreshold:
    above = [one for one in judged if one.score >= cut]
    weights = np.array([one.weight for one in above])
    right = np.array([one.weight for one in above if one.duplicate])
    every = sum(one.weight for one in judged if one.duplicate)
    value = float(right.sum() / weights.sum()) if above else None
    return AtThreshold(
        cut,
        int(len(ordered) - np.searchsorted(ordered, cut)),
        len(above),
        value,
        None if value is None else _interval(value, weights),
        float(right.sum() / every) if every else None,
    )


def _interval(value: float, weights: np.ndarray) -> Interval:
    """Wilson's at the effective number (Σw)² / Σw²(1 − 1/w), as in ``judging``; a point where all
    that there is was judged, each pair for itself."""
    value = min(value, 1.0)  # sums of weights round
    left = float((weights**2 * (1 - 1 / weights)).sum())
    if left < 1e-9:
        return Interval(value, value)
    effective = float(weights.sum() ** 2) / left
    found = wilson(value * effective, effective)
    assert found is not None
    return found


def by_stratum(key: Key, name: str, settled: Mapping[Pair, Label]) -> list[dict[str, Any]]:
    """Precision within each class of the score of one sample."""
    one = next((one for one in key.treatments if one.name == name), None)
    found = []
    for stratum in one.strata if one else ():
        decided = _decided(key, stratum, settled)
        labels = [settled.get(key.pairs[item]) for item in stratum.items]
        hits = sum(label is not None and label.label == DUPLICATE for label in labels)
        weights = np.full(decided, stratum.pairs / max(decided, 1))
        interval = _interval(hits / decided, weights) if decided else None
        found.append(
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
    return found


def kind_table(
    settled: Mapping[Pair, Label], found: Mapping[Pair, Found]
) -> dict[str, dict[str, int]]:
    """Kinds as people said (rows) and as the run says (columns), where both did."""
    table: dict[str, dict[str, int]] = {}
    for pair, label in settled.items():
        said = found.get(pair)
        if label.kind and label.label == DUPLICATE and said and said.kind:
            row = table.setdefault(label.kind, {})
            row[said.kind] = row.get(said.kind, 0) + 1
    return table
