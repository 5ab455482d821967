"""Do found sets of duplicates agree with those people marked (Conrad et al. 2003, Table 8)?

A gold set is *found* when a found set has exactly its members, *partial* when one shares a pair
with it, *missed* otherwise. A found set without a pair of any gold set is an *over-identification*,
or *unjudged* where nobody said that any of its pairs is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.evaluation.gold import NEGATIVE
from neardup.schema import Array

Classes = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class SetAgreement:
    """Numbers of sets. ``overlapping`` are the found ones that share a pair with a gold set."""

    gold: int
    exact: int
    partial: int
    overlapping: int
    over: int
    unjudged: int = 0

    @property
    def missed(self) -> int:
        return self.gold - self.exact - self.partial

    @property
    def recall(self) -> float | None:
        """Of the gold sets, those found exactly."""
        return self.exact / self.gold if self.gold else None

    @property
    def precision(self) -> float | None:
        """Of the judged found sets, those that are gold sets exactly."""
        judged = self.exact + self.overlapping + self.over
        return self.exact / judged if judged else None

    def data(self) -> dict[str, Any]:
        return {
            "gold_sets": self.gold,
            "agreement": self.exact,
            "partial": self.partial,
            "misses": self.missed,
            "overlapping": self.overlapping,
            "over_identified": self.over,
            "unjudged": self.unjudged,
            "recall": self.recall,
            "precision": self.precision,
        }


def set_agreement(gold: Array, found: Array, classes: Classes | None = None) -> SetAgreement:
    """``gold`` and ``found``: the set of each document, −1 where it is in none. Without
    ``classes`` every pair is judged: what no gold set has is wrong."""
    gold_sizes, found_sizes = _sizes(gold), _sizes(found)
    both = (gold >= 0) & (found >= 0)
    cells, shared = np.unique(np.stack([gold[both], found[both]]), axis=1, return_counts=True)
    g, f = cells
    equal = (shared == gold_sizes[g]) & (shared == found_sizes[f])
    meet = shared > 1
    g_met, f_met = np.unique(g[meet]), np.unique(f[meet])
    exact = int(equal.sum())
    alone = np.setdiff1d(np.arange(len(found_sizes)), f_met)
    wrong = len(alone) if classes is None else _refused(found, alone, classes)
    return SetAgreement(
        gold=len(gold_sizes),
        exact=exact,
        partial=len(g_met) - exact,
        overlapping=len(f_met) - exact,
        over=wrong,
        unjudged=len(alone) - wrong,
    )


def _sizes(sets: Array) -> Array:
    return np.bincount(sets[sets >= 0])


def _refused(found: Array, chosen: Array, classes: Classes) -> int:
    """How many of the chosen sets hold a pair that is known to be wrong."""
    order = np.argsort(found, kind="stable")
    begins = np.searchsorted(found[order], chosen)
    ends = np.searchsorted(found[order], chosen, side="right")
    refused = 0
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        i, j = np.triu_indices(end - begin, 1)
        members = np.sort(order[begin:end])
        refused += bool((classes(members[i], members[j]) == NEGATIVE).any())
    return refused
