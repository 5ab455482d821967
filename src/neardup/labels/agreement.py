"""Combines the labels of several assessors and measures how far they agree.

A pair takes the arbiter's label if an arbiter judged it, otherwise the label on which all its
assessors agree. If assessors disagree and no arbiter has decided, the pair is *disputed* and counts
as unjudged. This follows Conrad et al. (2003): two independent assessors a pair, and a third person
for ties.

The module also decides which pair an assessor judges next. That follows from the sample and the
stored labels alone, so an interrupted assessor continues where the work stopped. The order is
random and differs between assessors. An arbiter sees only disputed pairs, and never who gave which
label.

Compares sets of duplicates: those of a run, or of a second assessor, with those people marked.

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
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import SettingsError
from neardup.labels.gold import NEGATIVE
from neardup.labels.intervals import Interval, wilson
from neardup.labels.judged_samples import found_by
from neardup.labels.label_store import DUPLICATE, UNDECIDED, Label, Labels, Pair
from neardup.labels.result_lists import ResultList, numbered
from neardup.labels.sampling import Item
from neardup.runs.result import Result
from neardup.schema import Array


def cohen_kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Cohen's kappa (1960): (p_o − p_e) / (1 − p_e), with p_e from the label shares of both
    assessors.

    The result is None if the assessors share no judged pair, or if they would always agree by
    chance.
    """
    if (expected := _by_chance(a, b)) is None:
        return None
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    return (observed - expected) / (1 - expected)


def _by_chance(a: Sequence[str], b: Sequence[str]) -> float | None:
    """p_e, or None if nothing was judged or p_e is 1."""
    n = len(a)
    names = sorted({*a, *b})
    expected = sum(a.count(name) / n * (b.count(name) / n) for name in names)
    # 1 − p_e of two assessors who always give one label is 0 up to rounding.
    return None if not n or 1 - expected < 1e-12 else expected


def kappa_interval(a: Sequence[str], b: Sequence[str]) -> Interval | None:
    """95 % interval: Wilson's interval of p_o with p_e taken as fixed, as in Cohen's standard
    error. It does not shrink to a point if few pairs were judged and all labels agree."""
    if (expected := _by_chance(a, b)) is None:
        return None
    observed = wilson(sum(x == y for x, y in zip(a, b, strict=True)), len(a))
    assert observed is not None
    return Interval(*((end - expected) / (1 - expected) for end in observed))


@dataclass(frozen=True)
class Agreement:
    """Agreement of two assessors on the pairs that both judged. ``kappa`` treats *undecided* as a
    label of its own; ``kappa_decided`` leaves out pairs on which either assessor is undecided."""

    assessors: tuple[str, str]
    pairs: int
    equal: int
    kappa: float | None
    kappa_interval: Interval | None
    decided: int
    kappa_decided: float | None
    table: dict[str, dict[str, int]]

    def data(self) -> dict[str, Any]:
        share = self.equal / self.pairs if self.pairs else None
        interval = list(self.kappa_interval) if self.kappa_interval else None
        lists = {"assessors": list(self.assessors), "kappa_interval": interval}
        return {**vars(self), **lists, "agreement": share}


def agreements(labels: Labels) -> list[Agreement]:
    """The agreement of every two assessors who judged a pair in common. Arbiters are left out: they
    see only disagreements, so their agreement means nothing."""
    by_assessor = _by_assessor(labels)
    every = [
        _agreement(x, y, by_assessor[x], by_assessor[y])
        for x, y in combinations(labels.assessors, 2)
    ]
    return [agreement for agreement in every if agreement.pairs]


def _by_assessor(labels: Labels) -> dict[str, dict[Pair, str]]:
    by_assessor: dict[str, dict[Pair, str]] = {name: {} for name in labels.assessors}
    for label in labels:
        if not label.arbiter:
            by_assessor[label.assessor][label.pair] = str(label.label)
    return by_assessor


def _agreement(x: str, y: str, of_x: dict[Pair, str], of_y: dict[Pair, str]) -> Agreement:
    both = [(of_x[pair], of_y[pair]) for pair in of_x if pair in of_y]
    decided = [(a, b) for a, b in both if UNDECIDED not in (a, b)]
    table: dict[str, dict[str, int]] = {}
    for a, b in sorted(both):
        row = table.setdefault(a, {})
        row[b] = row.get(b, 0) + 1
    return Agreement(
        assessors=(x, y),
        pairs=len(both),
        equal=sum(a == b for a, b in both),
        kappa=cohen_kappa([a for a, _ in both], [b for _, b in both]),
        kappa_interval=kappa_interval([a for a, _ in both], [b for _, b in both]),
        decided=len(decided),
        kappa_decided=cohen_kappa([a for a, _ in decided], [b for _, b in decided]),
        table=table,
    )


@dataclass(frozen=True)
class Verdicts:
    """``settled`` has the label that counts of each pair; ``disputed`` pairs wait for an
    arbiter."""

    settled: dict[Pair, Label]
    disputed: list[Pair]


def verdicts(labels: Labels) -> Verdicts:
    by_pair: dict[Pair, list[Label]] = {}
    for label in labels:
        by_pair.setdefault(label.pair, []).append(label)
    settled: dict[Pair, Label] = {}
    disputed: list[Pair] = []
    for pair, pair_labels in by_pair.items():
        deciding = [label for label in pair_labels if label.arbiter] or pair_labels
        if len({label.label for label in deciding}) == 1:
            # Kinds may differ although labels agree: the first kind counts.
            settled[pair] = next((label for label in deciding if label.kind), deciding[0])
        else:
            disputed.append(pair)
    return Verdicts(settled, disputed)


ASSESSOR, ARBITER = "assessor", "arbiter"
ROLES = (ASSESSOR, ARBITER)
LONGEST_NAME = 100


@dataclass(frozen=True)
class Turn:
    """``items`` in the order of one assessor, and the labels that are ``done`` already."""

    items: tuple[Item, ...]
    done: Mapping[str, Label]

    @property
    def next(self) -> Item | None:
        return next((item for item in self.items if item.item not in self.done), None)

    @property
    def left(self) -> int:
        return len(self.items) - len(self.done)

    @property
    def seconds(self) -> float:
        return sum(label.seconds or 0.0 for label in self.done.values())


def turn_of(items: Sequence[Item], labels: Labels, assessor: str, role: str = ASSESSOR) -> Turn:
    done = {item.item: label for item in items if (label := labels.of(assessor, item.pair))}
    if role == ARBITER:
        disputed = set(verdicts(labels).disputed)
        items = [item for item in items if item.pair in disputed or item.item in done]
    return Turn(ordered(items, assessor), done)


def ordered(items: Sequence[Item], assessor: str) -> tuple[Item, ...]:
    shuffled = sorted(items, key=lambda item: item.item)
    Random(f"{assessor}:order").shuffle(shuffled)
    return tuple(shuffled)


def check_assessor(labels: Labels, assessor: str, role: str) -> None:
    """Check that an assessor keeps one role: the label of an arbiter would replace earlier labels
    given under the same name."""
    if role not in ROLES:
        raise SettingsError(f"The role is {role!r}.", hint=f"expected {' or '.join(ROLES)}.")
    if not assessor.strip() or len(assessor) > LONGEST_NAME:
        raise SettingsError(
            f"An assessor needs a name of at most {LONGEST_NAME} characters.",
            hint="any name will do, and the same one finds your labels again.",
        )
    earlier = next((label for label in labels if label.assessor == assessor), None)
    if earlier is not None and earlier.arbiter != (role == ARBITER):
        earlier_role = ARBITER if earlier.arbiter else ASSESSOR
        raise SettingsError(
            f"{assessor!r} has judged here as {earlier_role}, so it cannot be {role} as well.",
            hint="take another name for the other role.",
        )


def free_name(labels: Labels, role: str = ASSESSOR) -> str:
    """A name that nobody uses yet, for an assessor who gives none."""
    taken = {label.assessor for label in labels}
    number = 1
    while f"{role} {number}" in taken:
        number += 1
    return f"{role} {number}"


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
