"""Two assessors and an arbiter: how far they agree, and what counts in the end.

A pair has the arbiter's label where there is one, else the one that all its assessors gave; where
they disagree and no arbiter has spoken it is *disputed* and counts as unjudged. So did Conrad et
al.: two assessors a pair, independently, and a third for ties.

Who judges what next: the order of an assessor, what is done, and what waits for an arbiter.

Everything follows from the sample and the labels, so an assessor who was interrupted goes on where
it was. The order is random, and another one for each name. An arbiter gets the disputed pairs only,
and nobody learns from it who said what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

from neardup.errors import SettingsError
from neardup.labels.intervals import Interval, wilson
from neardup.labels.label_store import UNDECIDED, Label, Labels, Pair
from neardup.labels.sampling import Item


def cohen_kappa(a: Sequence[str], b: Sequence[str]) -> float | None:
    """Cohen (1960): (p_o − p_e) / (1 − p_e), with p_e from both assessors' own shares. None where
    chance alone would agree always, or nothing was judged by both."""
    if (expected := _by_chance(a, b)) is None:
        return None
    observed = sum(x == y for x, y in zip(a, b, strict=True)) / len(a)
    return (observed - expected) / (1 - expected)


def _by_chance(a: Sequence[str], b: Sequence[str]) -> float | None:
    """p_e; None where nothing was judged, or where it is 1."""
    n = len(a)
    names = sorted({*a, *b})
    expected = sum(a.count(name) / n * (b.count(name) / n) for name in names)
    # 1 − p_e of two constant assessors is 0, but for rounding.
    return None if not n or 1 - expected < 1e-12 else expected


def kappa_interval(a: Sequence[str], b: Sequence[str]) -> Interval | None:
    """Of 95 %: Wilson's interval of p_o with p_e taken as given, as in Cohen's own error. It does
    not shrink to a point where few pairs were judged and all of them alike."""
    if (expected := _by_chance(a, b)) is None:
        return None
    found = wilson(sum(x == y for x, y in zip(a, b, strict=True)), len(a))
    assert found is not None
    return Interval(*((end - expected) / (1 - expected) for end in found))


@dataclass(frozen=True)
class Agreement:
    """Of two assessors on the pairs that both judged. ``kappa`` takes *undecided* as a label of its
    own; ``kappa_decided`` leaves out pairs on which one of them is undecided."""

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
        found = {"assessors": list(self.assessors), "kappa_interval": interval}
        return {**vars(self), **found, "agreement": share}


def agreements(labels: Labels) -> list[Agreement]:
    """For every two assessors who judged a pair in common; arbiters see only disagreements, so
    their agreement means nothing."""
    said = _by_assessor(labels)
    found = [_agreement(x, y, said[x], said[y]) for x, y in combinations(labels.assessors, 2)]
    return [one for one in found if one.pairs]


def _by_assessor(labels: Labels) -> dict[str, dict[Pair, str]]:
    said: dict[str, dict[Pair, str]] = {name: {} for name in labels.assessors}
    for label in labels:
        if not label.arbiter:
            said[label.assessor][label.pair] = str(label.label)
    return said


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
    """``settled``: the label that counts; ``disputed``: pairs that wait for an arbiter."""

    settled: dict[Pair, Label]
    disputed: list[Pair]


def verdicts(labels: Labels) -> Verdicts:
    by_pair: dict[Pair, list[Label]] = {}
    for label in labels:
        by_pair.setdefault(label.pair, []).append(label)
    settled: dict[Pair, Label] = {}
    disputed: list[Pair] = []
    for pair, some in by_pair.items():
        word = [label for label in some if label.arbiter] or some
        if len({label.label for label in word}) == 1:
            settled[pair] = _one(word)
        else:
            disputed.append(pair)
    return Verdicts(settled, disputed)


def _one(labels: Sequence[Label]) -> Label:
    """Kinds may differ where labels agree: then the first that was given stands."""
    return next((label for label in labels if label.kind), labels[0])


ASSESSOR, ARBITER = "assessor", "arbiter"
ROLES = (ASSESSOR, ARBITER)
LONGEST_NAME = 100


@dataclass(frozen=True)
class Turn:
    """``items`` in the order of this assessor, and what it said of them already."""

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


def turn_of(items: Sequence[Item], labels: Labels, who: str, role: str = ASSESSOR) -> Turn:
    said = {item.item: labels.of(who, item.pair) for item in items}
    done = {name: label for name, label in said.items() if label}
    if role == ARBITER:
        disputed = set(verdicts(labels).disputed)
        items = [item for item in items if item.pair in disputed or item.item in done]
    return Turn(ordered(items, who), done)


def ordered(items: Sequence[Item], who: str) -> tuple[Item, ...]:
    mixed = sorted(items, key=lambda item: item.item)
    Random(f"{who}:order").shuffle(mixed)
    return tuple(mixed)


def check_assessor(labels: Labels, who: str, role: str) -> None:
    """One name, one role: an arbiter's word would replace what the same name said before."""
    if role not in ROLES:
        raise SettingsError(f"The role is {role!r}.", hint=f"expected {' or '.join(ROLES)}.")
    if not who.strip() or len(who) > LONGEST_NAME:
        raise SettingsError(
            f"An assessor needs a name of at most {LONGEST_NAME} characters.",
            hint="any name will do, and the same one finds your labels again.",
        )
    other = next((one for one in labels if one.assessor == who), None)
    if other is not None and other.arbiter != (role == ARBITER):
        was = ARBITER if other.arbiter else ASSESSOR
        raise SettingsError(
            f"{who!r} has judged here as {was}, so it cannot be {role} as well.",
            hint="take another name for the other role.",
        )


def free_name(labels: Labels, role: str = ASSESSOR) -> str:
    """For somebody who does not say who it is."""
    taken = {label.assessor for label in labels}
    number = 1
    while f"{role} {number}" in taken:
        number += 1
    return f"{role} {number}"
