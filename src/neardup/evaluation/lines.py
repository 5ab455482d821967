"""What is measured at a cut, and of a setting at all its cuts; as data for JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neardup.evaluation.cuts import Setting
from neardup.evaluation.intervals import Interval, Resamples, wilson
from neardup.evaluation.metrics import Band, BCubedBoth, PairCounts
from neardup.methods.cuts import Cut


@dataclass(frozen=True)
class Line:
    """Pair measures at one cut, of all pairs or of the hard ones. Without a known negative
    precision is undefined, without a positive recall; F1 needs both."""

    counts: PairCounts
    judged: bool  # whether precision means anything
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
    """Pairs that gold calls ``label``: predicted with equal texts (after normalisation), predicted
    with unlike ones, and how many exist where that is known."""

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
    """Everything measured at one cut."""

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
    """One setting at all its cuts. ``resamples`` are those of all pairs, a column a cut.
    ``taught_here``: it is a model that was trained on labels of these documents."""

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
            "cuts": [one.data() for one in self.at],
        }
