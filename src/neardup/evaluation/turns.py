"""Who judges what next: the order of an assessor, what is done, and what waits for an arbiter.

Everything follows from the sample and the labels, so an assessor who was interrupted goes on where
it was. The order is random, and another one for each name. An arbiter gets the disputed pairs only,
and nobody learns from it who said what.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from neardup.errors import SettingsError
from neardup.evaluation.agreement import verdicts
from neardup.evaluation.labels import Label, Labels
from neardup.evaluation.sampling import Item

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
