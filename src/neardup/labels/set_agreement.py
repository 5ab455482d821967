"""Do found sets of duplicates agree with those people marked (Conrad et al. 2003, Table 8)?

A gold set is *found* when a found set has exactly its members, *partial* when one shares a pair
with it, *missed* otherwise. A found set without a pair of any gold set is an *over-identification*,
or *unjudged* where nobody said that any of its pairs is wrong.

How assessors of result lists agree: kappa over the pairs, and sets that are exactly the same.

A run is compared with the sets that they settled on in the same way (Conrad et al., Table 8): of a
list its sets are the documents that its pairs join.
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


def list_agreements(lists: Sequence[ResultList], labels: Labels) -> list[dict[str, Any]]:
    """Of every two assessors on the lists that both have judged as a whole."""
    found = []
    for x, y in combinations(labels.assessors, 2):
        both = [
            (a, b)
            for one in lists
            if (a := one.sets_of(labels, x)) and (b := one.sets_of(labels, y))
        ]
        if not both:
            continue
        pairs = {pair for one in lists for pair in one.pairs}
        of_two = Labels({k: v for k, v in labels.among(pairs).current.items() if k[1] in (x, y)})
        (kappa,) = agreements(of_two) or (None,)
        first, second = (_joined([sides[side] for sides in both]) for side in (0, 1))
        agreed = set_agreement(first, second).data()
        equal = sum(a == b for a, b in both)
        found.append(
            {
                "assessors": [x, y],
                "lists": len(both),
                "equal_lists": equal,
                "kappa": kappa and kappa.kappa,
                "kappa_interval": kappa and kappa.data()["kappa_interval"],
                "sets": agreed,
            }
        )
    return found


def _joined(sets: Sequence[Sequence[int]]) -> np.ndarray:
    """The sets of several lists as one numbering from 0, −1 for none."""
    made, shift = [], 0
    for one in sets:
        made += [-1 if number == 0 else number - 1 + shift for number in one]
        shift += max(one, default=0)
    return np.array(made, np.int64)


def disputed_lists(lists: Sequence[ResultList], labels: Labels) -> list[ResultList]:
    """Those with a pair on which assessors differ."""
    disputed = set(verdicts(labels).disputed)
    return [one for one in lists if not disputed.isdisjoint(one.pairs)]


def run_agreement(
    lists: Sequence[ResultList], settled: Mapping[Pair, Label], result: Result
) -> dict[str, Any] | None:
    """On the lists that are settled as a whole and whose documents the run has; None for none."""
    known = [one for one in lists if all(pair in settled for pair in one.pairs)]
    ids = pa.array([one.id for each in known for one in each.results], pa.large_string())
    there = set(ids.filter(pc.is_in(ids, result.decisions["id"])).to_pylist())
    judged = [one for one in known if all(each.id in there for each in one.results)]
    if not judged:
        return None
    found = found_by(result, [pair for one in judged for pair in one.pairs])
    gold = [_sets(one, [settled[pair].label == DUPLICATE for pair in one.pairs]) for one in judged]
    made = [_sets(one, [pair in found for pair in one.pairs]) for one in judged]
    return {"lists": len(judged), "sets": set_agreement(_joined(gold), _joined(made)).data()}


def _sets(one: ResultList, same: Sequence[bool]) -> tuple[int, ...]:
    return numbered(len(one.results), same)
