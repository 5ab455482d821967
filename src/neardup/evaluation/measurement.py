"""Measures one setting at all its thresholds, from pairs that were scored once.

Each scored pair has a place: the number of thresholds that it passes. Every count is made by place
and then summed up from the strictest threshold down, so ten thresholds cost as much as one.
``Measured`` holds the result of a setting, ``AtCut`` the result at one threshold; both give data
for JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.evaluation.metrics import (
    Band,
    BCubedBoth,
    PairCounts,
    adjusted_rand,
    average_precision,
    b_cubed,
    recall_by_band,
)
from neardup.evaluation.scored_pairs import ScoredPairs
from neardup.evaluation.swept_settings import Setting
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, Gold
from neardup.labels.intervals import Interval, Resamples, bootstrap, interval_of, wilson
from neardup.methods.thresholds import Cut
from neardup.schema import Array


@dataclass(frozen=True)
class Line:
    """Pair measures at one threshold, of all pairs or of the hard ones. Precision is undefined
    without a known negative, recall without a positive; F1 needs both."""

    counts: PairCounts
    judged: bool  # whether precision is defined
    f1_interval: Interval | None

    @property
    def precision(self) -> float | None:
        return self.counts.precision if self.judged else None

    @property
    def precision_interval(self) -> Interval | None:
        c = self.counts
        return wilson(c.tp, c.tp + c.fp) if self.judged else None

    @property
    def recall(self) -> float | None:
        return self.counts.recall

    @property
    def recall_interval(self) -> Interval | None:
        return wilson(self.counts.tp, self.counts.tp + self.counts.fn)

    @property
    def f1(self) -> float | None:
        return self.counts.f1 if self.judged else None

    @property
    def merit(self) -> tuple[float, float]:
        """The greater, the better. Ties go to the setting named first, with its strictest
        threshold, on the screen and in every file."""
        return self.f1 or 0, self.precision or 0

    def data(self) -> dict[str, Any]:
        return {
            **vars(self.counts),
            "precision": self.precision,
            "precision_interval": self.precision_interval,
            "recall": self.recall,
            "recall_interval": self.recall_interval,
            "f1": self.f1,
            "f1_interval": self.f1_interval,
        }


@dataclass(frozen=True)
class KindCount:
    """Pairs with the gold label ``label``: predicted ones of equal texts (``equal``, after
    normalisation) and of different texts (``near``), and how many ``exist``, if known."""

    label: str
    equal: int
    near: int
    exist: int | None

    @property
    def missed(self) -> int | None:
        return None if self.exist is None else self.exist - self.equal - self.near

    def data(self) -> dict[str, Any]:
        return {**vars(self), "missed": self.missed}


@dataclass(frozen=True)
class AtCut:
    """All measures at one threshold."""

    cut: Cut
    predicted: int
    every: Line
    hard: Line
    bands: list[Band]
    kinds: list[KindCount]
    b_cubed: BCubedBoth | None
    adjusted_rand: float | None

    def data(self) -> dict[str, Any]:
        return {
            "threshold": self.cut.threshold,
            "parameter": self.cut.parameter,
            "value": self.cut.value,
            "predicted": self.predicted,
            "all": self.every.data(),
            "hard": self.hard.data(),
            "recall_by_band": [band.data() for band in self.bands],
            "kinds": [kind.data() for kind in self.kinds],
            "b_cubed": self.b_cubed.data() if self.b_cubed else None,
            "adjusted_rand": self.adjusted_rand,
        }


@dataclass(frozen=True)
class Measured:
    """One setting at all its thresholds. ``resamples`` are those of all pairs, with a column per
    threshold. ``taught_here`` marks a model that was trained on labels of these documents."""

    setting: Setting
    pairs: int
    complete: bool
    average_precision: float | None
    average_precision_hard: float | None
    at: list[AtCut]
    resamples: Resamples
    taught_here: bool = False

    def data(self) -> dict[str, Any]:
        return {
            "method": self.setting.name,
            "name": self.setting.method.name,
            "taught_here": self.taught_here,
            "lowest_threshold": self.setting.cuts[0].threshold,
            "pairs": self.pairs,
            "pairs_complete": self.complete,
            "average_precision": {
                "all": self.average_precision,
                "hard": self.average_precision_hard,
            },
            "cuts": [at.data() for at in self.at],
        }


MOST_POSITIVES = 1_000_000  # positive pairs whose similarity is computed


@dataclass(frozen=True)
class Truth:
    """Gold, with the counts that all settings share. ``similarity`` is that of the pairs ``a``,
    ``b``: all positive pairs, or a draw of them."""

    gold: Gold
    a: Array
    b: Array
    similarity: Array
    units: Array
    unit_positives: dict[bool, Array]  # True: of hard pairs only
    clusters: Array | None

    @classmethod
    def of(cls, gold: Gold, similarity: Callable[[Array, Array], Array]) -> Truth:
        a, b = gold.positives(MOST_POSITIVES)
        return cls(
            gold,
            a,
            b,
            similarity(a, b),
            gold.units(),
            {hard: gold.unit_positives(hard=hard) for hard in (False, True)},
            gold.clusters(),
        )


def measure(
    setting: Setting,
    pairs: ScoredPairs,
    truth: Truth,
    *,
    clusters: str = "rule",
    advance: Callable[[int], None] = lambda _: None,
) -> Measured:
    counted = _Counted(setting, pairs, truth)
    lines, resamples = counted.lines(hard=False)
    hard_lines, _ = counted.lines(hard=True)
    bands, kinds, predicted = counted.bands(), counted.kinds(), counted.predicted()
    at = []
    for i, cut in enumerate(setting.cuts):
        clustered = _clustered(pairs, cut, truth, clusters)
        at.append(AtCut(cut, predicted[i], lines[i], hard_lines[i], bands[i], kinds[i], *clustered))
        advance(1)
    every, hard = (counted.average_precision(hard=hard) for hard in (False, True))
    about = len(pairs), pairs.complete, every, hard
    return Measured(setting, *about, at, resamples, pairs.taught_here)


def _clustered(
    pairs: ScoredPairs, cut: Cut, truth: Truth, how: str
) -> tuple[BCubedBoth | None, float | None]:
    if truth.clusters is None:
        return None, None
    predicted = pairs.at(cut.threshold).clusters(how)
    return b_cubed(predicted, truth.clusters, truth.gold.same), adjusted_rand(
        predicted, truth.clusters
    )


class _Counted:
    """Counts of the scored pairs of one setting."""

    def __init__(self, setting: Setting, pairs: ScoredPairs, truth: Truth) -> None:
        gold = truth.gold
        self.pairs, self.truth, self.gold = pairs, truth, gold
        self.cuts = len(setting.cuts)
        thresholds = np.array([cut.threshold for cut in setting.cuts])
        self.place = np.searchsorted(thresholds, pairs.score, side="right")
        self.classes = gold.classes(pairs.a, pairs.b)
        self.easy = (
            pairs.identical if gold.same is None else gold.same[pairs.a] == gold.same[pairs.b]
        )

    def _at_cuts(self, rows: Array, codes: Array | None = None, count: int = 1) -> Array:
        """The number of these pairs that pass each threshold (column), by code (row)."""
        code = np.zeros(len(rows), np.int64) if codes is None else codes
        width = self.cuts + 1
        counts = np.bincount(code * width + self.place[rows], minlength=count * width)
        passed = counts.reshape(count, width)[:, ::-1].cumsum(axis=1)[:, ::-1]
        return passed[:, 1:]

    def predicted(self) -> list[int]:
        return self._at_cuts(np.arange(len(self.pairs)))[0].tolist()  # type: ignore[no-any-return]

    def lines(self, *, hard: bool) -> tuple[list[Line], Resamples]:
        use = ~self.easy if hard else np.ones(len(self.pairs), bool)
        of = {
            known: np.flatnonzero(use & (self.classes == known))
            for known in (POSITIVE, NEGATIVE, UNKNOWN)
        }
        resamples = self._resampled(of[POSITIVE], of[NEGATIVE], hard=hard)
        f1 = resamples.f1()
        total, judged = self.gold.positive_count(hard=hard), self.gold.negatives_known()
        tp, fp, unknown = (self._at_cuts(of[c])[0].tolist() for c in (POSITIVE, NEGATIVE, UNKNOWN))
        judged = judged and total > 0
        lines = [
            Line(
                PairCounts(tp[i], fp[i], total - tp[i], unknown[i]),
                judged,
                interval_of(f1[:, i]) if judged else None,
            )
            for i in range(self.cuts)
        ]
        return lines, resamples

    def _resampled(self, positive: Array, negative: Array, *, hard: bool) -> Resamples:
        """Bootstrap resamples. Each pair counts once, for the unit of its first document, so that
        it weighs as much as one trial."""
        of_unit, total = self.truth.units, self.truth.unit_positives[hard]
        owners = [of_unit[self.pairs.a[rows]] for rows in (positive, negative)]
        units = np.unique(np.concatenate([np.flatnonzero(total), *owners]))
        tp, fp = (
            self._at_cuts(rows, np.searchsorted(units, owner), len(units))
            for rows, owner in zip((positive, negative), owners, strict=True)
        )
        return bootstrap(units, tp, fp, total[units][:, None] - tp)

    def average_precision(self, *, hard: bool) -> float | None:
        if not self.gold.negatives_known():
            return None
        use = ~self.easy if hard else np.ones(len(self.pairs), bool)
        total = self.gold.positive_count(hard=hard)
        return average_precision(self.pairs.score[use], self.classes[use], total)

    def bands(self) -> list[list[Band]]:
        n = max(self.pairs.documents, 1)
        scored = self.pairs.a * n + self.pairs.b
        wanted = self.truth.a * n + self.truth.b
        passed = np.zeros(len(wanted), np.int64)
        if len(scored):
            row = np.minimum(np.searchsorted(scored, wanted), len(scored) - 1)
            passed = np.where(scored[row] == wanted, self.place[row], 0)
        return [recall_by_band(self.truth.similarity, passed > i) for i in range(self.cuts)]

    def kinds(self) -> list[list[KindCount]]:
        names, exist = self.gold.names, self.gold.label_counts()
        codes = self.gold.label_codes(self.pairs.a, self.pairs.b)
        codes[codes < 0] = len(names)
        equal, near = (
            self._at_cuts(rows, codes[rows], len(names) + 1)
            for rows in (np.flatnonzero(self.easy), np.flatnonzero(~self.easy))
        )
        listed = [*((i, name) for i, name in enumerate(names)), (len(names), "")]
        return [
            [
                KindCount(name, int(equal[i, cut]), int(near[i, cut]), exist.get(name))
                for i, name in listed
                if exist.get(name) or equal[i, 0] or near[i, 0]
            ]
            for cut in range(self.cuts)
        ]
