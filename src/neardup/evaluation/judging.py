"""How good treatments are, from a judged sample.

*Precision*: within strata the share of duplicates among decided pairs, weighted by the sizes of the
strata: unbiased for random draws within them. Its interval is Wilson's at the effective number
1 / Σ W²(1 − f)/n, with f the share of a stratum that was judged; a little wide where strata differ.
*Recall*: no gold exists, so it is relative to the *pool*: all true pairs that were judged in any
treatment (Williams and Giles, §4). ``pooled`` is their estimate, the share of the pool that a
treatment returned. ``recall`` weighs each pair of the pool by how improbable it was to be drawn
(Horvitz and Thompson), which estimates the share of *all* true pairs that any treatment returned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neardup.evaluation.intervals import Interval, wilson
from neardup.evaluation.labels import DUPLICATE, UNDECIDED, Pair
from neardup.evaluation.sampling import Key, Treatment

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
