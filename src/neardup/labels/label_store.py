"""The store of labels: one JSON line for each label that an assessor gave to a pair.

A row is ``{"a", "b", "label", "assessor"}`` with ``a < b``. If they are known, it also has
``kind``, ``note``, ``sample``, ``item``, ``arbiter`` (true: this label settles a disagreement),
``guideline`` (whose definition of a duplicate was followed) and ``seconds``, the time that the
judgement took. A label is ``duplicate``, ``not`` or ``undecided``;
null withdraws the assessor's label of the pair. The last row of an assessor for a pair counts.

Rows are only ever added (``files.py``), so a label that was acknowledged survives a crash.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from neardup.errors import InputError, SettingsError
from neardup.files import adding, from_json, read_lines
from neardup.schema import KINDS

DUPLICATE, NOT, UNDECIDED = "duplicate", "not", "undecided"
LABELS = (DUPLICATE, NOT, UNDECIDED)
# Spellings that are accepted for each label, in lower case.
SPELLINGS = {
    **dict.fromkeys(("duplicate", "dup", "yes", "y", "true", "1", "correct"), DUPLICATE),
    **dict.fromkeys(("not", "no", "n", "false", "0", "incorrect", "different"), NOT),
    **dict.fromkeys(("undecided", "unsure", "?"), UNDECIDED),
}


class Pair(NamedTuple):
    """Two ids, the smaller one first, so that each pair has exactly one form."""

    a: str
    b: str

    @classmethod
    def of(cls, a: str, b: str) -> Pair:
        return cls(*sorted((str(a), str(b))))


@dataclass(frozen=True)
class Label:
    """One judgement; ``label`` None withdraws the assessor's earlier label of the pair."""

    a: str
    b: str
    label: str | None
    assessor: str
    kind: str | None = None
    note: str | None = None
    sample: str | None = None
    item: str | None = None
    arbiter: bool = False
    guideline: str | None = None
    seconds: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        first, second = Pair.of(self.a, self.b)
        object.__setattr__(self, "a", first)
        object.__setattr__(self, "b", second)
        if self.label is not None and self.label not in LABELS:
            raise SettingsError(
                f"The label is {self.label!r}.", hint=f"expected {', '.join(LABELS)}."
            )
        if self.kind is not None and self.kind not in KINDS:
            raise SettingsError(
                f"The kind is {self.kind!r}.", hint=f"kinds are {', '.join(KINDS)}."
            )
        if not self.assessor:
            raise SettingsError("A label needs the name of its assessor.", hint="--assessor NAME")
        if self.seconds is not None and not _is_duration(self.seconds):
            raise SettingsError(
                f"The seconds are {self.seconds!r}.", hint="expected a number of 0 or more."
            )

    @property
    def pair(self) -> Pair:
        return Pair(self.a, self.b)

    def row(self) -> dict[str, Any]:
        """The fields that are known, and always ``label``."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return {k: v for k, v in values.items() if k == "label" or v not in (None, False)}


def _is_duration(seconds: object) -> bool:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return False
    return math.isfinite(seconds) and seconds >= 0


@dataclass(frozen=True)
class Labels:
    """The current label of each assessor for each pair, in the order of their first rows. ``torn``
    is an incomplete row at the end of the file, which is ignored."""

    current: dict[tuple[Pair, str], Label]
    torn: str | None = None

    def __iter__(self) -> Iterator[Label]:
        return iter(self.current.values())

    def __len__(self) -> int:
        return len(self.current)

    def of(self, assessor: str, pair: Pair) -> Label | None:
        return self.current.get((pair, assessor))

    def among(self, pairs: Container[Pair]) -> Labels:
        """The labels of these pairs."""
        return Labels({key: label for key, label in self.current.items() if key[0] in pairs})

    @property
    def assessors(self) -> list[str]:
        """Names of the assessors without arbiters, in the order of their first labels."""
        return list(dict.fromkeys(label.assessor for label in self if not label.arbiter))


def read_labels(path: Path) -> Labels:
    """Read a store without changing it; a missing file holds no labels."""
    lines, torn = read_lines(path)
    current: dict[tuple[Pair, str], Label] = {}
    for number, line in lines:
        _apply(current, _label(line, path, number))
    return Labels(current, torn)


def _label(line: bytes, path: Path, number: int) -> Label:
    known = {f.name for f in fields(Label)}
    try:
        row = from_json(line)
        return Label(**{key: value for key, value in row.items() if key in known})
    except (ValueError, TypeError, AttributeError, SettingsError) as error:
        reason = error.message if isinstance(error, SettingsError) else str(error)
        raise InputError(
            f"{path}, line {number} is no label: {reason}",
            hint="a row has a, b, label and assessor; docs/labels.md has all fields.",
        ) from error


def _apply(current: dict[tuple[Pair, str], Label], label: Label) -> None:
    if label.label is None:
        current.pop((label.pair, label.assessor), None)
    else:
        current[label.pair, label.assessor] = label


class LabelStore:
    """Adds rows to one file. ``set_aside`` is an incomplete last row that was moved away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.set_aside: str | None = None

    def labels(self) -> Labels:
        return read_labels(self.path)

    def add(self, label: Label) -> bool:
        """Add a label; False if it is the assessor's current label, so that nothing was written."""
        return self.add_all([label]) == 1

    def add_all(self, labels: Iterable[Label], *, together: bool = False) -> int:
        """Add labels and return how many were new. Each row is on the disk before the next is
        written; ``together`` writes rows at once that have no meaning on their own."""
        with adding(self.path) as file:
            self.set_aside = file.set_aside or self.set_aside
            new = list(_new(labels, dict(self.labels().current)))
            file.add((label.row() for label in new), together=together)
        return len(new)

    def undo(
        self, assessor: str, count: int = 1, *, among: Container[Pair] | None = None
    ) -> list[Label]:
        """Withdraw the last labels of an assessor, newest first, and return them. ``among``
        restricts this to some pairs."""
        current = self.labels() if among is None else self.labels().among(among)
        rows = [_label(line, self.path, n) for n, line in read_lines(self.path).lines]
        own = [label for label in reversed(rows) if label.assessor == assessor]
        last: dict[Pair, Label] = {}
        for label in own:
            last.setdefault(label.pair, label)
        withdrawn = [last[pair] for pair in last if current.of(assessor, pair)][:count]
        self.add_all(Label(*was.pair, None, assessor, arbiter=was.arbiter) for was in withdrawn)
        return withdrawn


def _new(labels: Iterable[Label], current: dict[tuple[Pair, str], Label]) -> Iterator[Label]:
    """The labels that differ from the current ones."""
    for label in labels:
        before = current.get((label.pair, label.assessor))
        if before != (label if label.label is not None else None):
            _apply(current, label)
            yield label
