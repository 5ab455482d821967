"""Compares sets of duplicates: those of a run, or of a second assessor, with those people marked.

The measures follow Conrad et al. (2003, Table 8). A gold set is *found* if a reported set has
exactly its members, *partial* if one shares a pair with it, and *missed* otherwise. A reported set
without a pair of any gold set is an *over-identification*, or *unjudged* if none of its pairs is
known to be wrong. Two assessors of result lists are compared in the same way, and by kappa over the
pairs. The sets of a run on a list are the documents that its pairs connect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.labels.agreement import agreements, verdicts
from neardup.labels.gold import NEGATIVE
from neardup.labels.judged_samples import found_by
from neardup.labels.label_store import DUPLICATE, Label, Labels, Pair
from neardup.labels.result_lists import ResultList, numbered
from neardup.runs.result import Result
from neardup.schema import Array

Classes = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class SetAgreement:
    """Numbers of sets; ``overlapping`` counts inexact found sets that share a pair with a gold
    set."""

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
        """The share of gold sets that were found exactly."""
        return self.exact / self.gold if self.gold else None

    @property
    def precision_apart(self) -> float | None:
        """Precision as Conrad et al. print it: over-identifications count against found sets, and
        partial ones not at all (86 / 89)."""
        counted = self.exact + self.over
        return self.exact / counted if counted else None

    @property
    def precision(self) -> float | None:
        """The share of judged reported sets that are exactly a gold set."""
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
    """Compare two clusterings: ``gold`` and ``found`` have the set of each document, −1 for none.
    Without ``classes`` all pairs count as judged, so a found set without a gold pair is wrong."""
    gold_sizes, found_sizes = _sizes(gold), _sizes(found)
    in_both = (gold >= 0) & (found >= 0)
    cells, shared = np.unique(np.stack([gold[in_both], found[in_both]]), axis=1, return_counts=True)
    gold_set, found_set = cells
    equal = (shared == gold_sizes[gold_set]) & (shared == found_sizes[found_set])
    meet = shared > 1
    gold_met, found_met = np.unique(gold_set[meet]), np.unique(found_set[meet])
    exact = int(equal.sum())
    alone = np.setdiff1d(np.arange(len(found_sizes)), found_met)
    wrong = len(alone) if classes is None else _refused(found, alone, classes)
    return SetAgreement(
        gold=len(gold_sizes),
        exact=exact,
        partial=len(gold_met) - exact,
        overlapping=len(found_met) - exact,
        over=wrong,
        unjudged=len(alone) - wrong,
    )


def _sizes(sets: Array) -> Array:
    return np.bincount(sets[sets >= 0])


def _refused(found: Array, chosen: Array, classes: Classes) -> int:
    """The number of chosen sets that hold a pair known to be wrong."""
    order = np.argsort(found, kind="stable")
    begins = np.searchsorted(found[order], chosen)
    ends = np.searchsorted(found[order], chosen, side="right")
    refused = 0
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        i, j = np.triu_indices(end - begin, 1)
        members = np.sort(order[begin:end])
        refused += bool((classes(members[i], members[j]) == NEGATIVE).any())
    return refused


def list_agreements(lists: Sequence[ResultList], labels: Labels) -> list[dict[str, Any]]:
    """The agreement of every two assessors on the lists that both have judged completely."""
    rows = []
    for x, y in combinations(labels.assessors, 2):
        both = [
            (a, b)
            for judged in lists
            if (a := judged.sets_of(labels, x)) and (b := judged.sets_of(labels, y))
        ]
        if not both:
            continue
        pairs = {pair for judged in lists for pair in judged.pairs}
        of_two = Labels({k: v for k, v in labels.among(pairs).current.items() if k[1] in (x, y)})
        (kappa,) = agreements(of_two) or (None,)
        first, second = (_joined([sides[side] for sides in both]) for side in (0, 1))
        agreed = set_agreement(first, second).data()
        equal = sum(a == b for a, b in both)
        rows.append(
            {
                "assessors": [x, y],
                "lists": len(both),
                "equal_lists": equal,
                "kappa": kappa and kappa.kappa,
                "kappa_interval": kappa and kappa.data()["kappa_interval"],
                "sets": agreed,
            }
        )
    return rows


def _joined(sets: Sequence[Sequence[int]]) -> np.ndarray:
    """The sets of several lists as one numbering from 0, −1 for no set."""
    joined, shift = [], 0
    for numbers in sets:
        joined += [-1 if number == 0 else number - 1 + shift for number in numbers]
        shift += max(numbers, default=0)
    return np.array(joined, np.int64)


def disputed_lists(lists: Sequence[ResultList], labels: Labels) -> list[ResultList]:
    """The lists with a pair on which assessors disagree."""
    disputed = set(verdicts(labels).disputed)
    return [judged for judged in lists if not disputed.isdisjoint(judged.pairs)]


def run_agreement(
    lists: Sequence[ResultList], settled: Mapping[Pair, Label], result: Result
) -> dict[str, Any] | None:
    """Compare a run with the settled sets. Only lists count that are settled completely and whose
    documents the run has; None if there are none."""
    whole = [judged for judged in lists if all(pair in settled for pair in judged.pairs)]
    ids = pa.array([item.id for judged in whole for item in judged.results], pa.large_string())
    in_run = set(ids.filter(pc.is_in(ids, result.decisions["id"])).to_pylist())
    usable = [judged for judged in whole if all(item.id in in_run for item in judged.results)]
    if not usable:
        return None
    reported = found_by(result, [pair for judged in usable for pair in judged.pairs])
    gold, found = [], []
    for judged in usable:
        count = len(judged.results)
        same = [settled[pair].label == DUPLICATE for pair in judged.pairs]
        gold.append(numbered(count, same))
        found.append(numbered(count, [pair in reported for pair in judged.pairs]))
    return {"lists": len(usable), "sets": set_agreement(_joined(gold), _joined(found)).data()}
