"""Labels that name all duplicates: of the pairs that meet, those that nobody named are none.

A list of what replaced what names each step and not the first with the last. So pairs of documents
that hang together by duplicates are left open.

Labelled pairs from a column of groups: documents of one group are duplicates, others are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.clusters import components
from neardup.decisions.order import plain
from neardup.engines.batch.table_pass import count
from neardup.errors import InputError
from neardup.evaluation.training.training_data import (
    MOST_PAIRS,
    OPEN,
    OTHER,
    Met,
    Source,
    met_in,
    teach,
)
from neardup.labels.label_store import Pair
from neardup.labels.training_labels import NOT_THERE, Labelled
from neardup.progress import Progress
from neardup.schema import Array

NEVER_COMPARED = "of documents that are never compared"


def labelled_completely(
    given: Labelled,
    named: Iterable[Pair],
    source: Source,
    seed: int,
    progress: Progress,
    most: int = MOST_PAIRS,
) -> Labelled:
    """``named`` are all pairs that a label speaks of; what ``given`` does not have of them is open:
    neither a duplicate nor none."""
    met = _Rows(met_in(source, progress))
    known = np.full(len(met.keys), OTHER)
    known[met.together(pair for pair, label in given.labels.items() if label)] = OPEN
    known[met.rows(named)[0]] = OPEN
    found = Labelled(source=given.source, unused=dict(given.unused))
    for label in sorted({*given.labels.values()}):
        pairs = [pair for pair, one in given.labels.items() if one == label]
        rows, there = met.rows(pairs)
        known[rows] = label
        found.leave(NOT_THERE, len(pairs) - there)
        found.leave(NEVER_COMPARED, there - len(rows))
    teach(found, met.met, known, most, seed)
    return found


class _Rows:
    """Finds pairs among those that met."""

    def __init__(self, met: Met) -> None:
        self.met = met
        self.place = {one: at for at, one in enumerate(met.ids) if one is not None}
        self.keys = self._keys(met.a, met.b)
        self.order = np.argsort(self.keys, kind="stable")

    def _keys(self, a: Array, b: Array) -> Array:
        keys: Array = np.minimum(a, b) * len(self.met.ids) + np.maximum(a, b)
        return keys

    def _there(self, pairs: Iterable[Pair]) -> tuple[Array, Array]:
        found = [(self.place[a], self.place[b]) for a, b in pairs if {a, b} <= self.place.keys()]
        a, b = np.array(found, np.int64).reshape(-1, 2).T
        return a, b

    def together(self, pairs: Iterable[Pair]) -> Array:
        """Rows of documents that hang together by these pairs."""
        part = components(len(self.met.ids), *self._there(pairs))
        one, other = part[self.met.a], part[self.met.b]
        return np.flatnonzero((one == other) & (one >= 0))

    def rows(self, pairs: Iterable[Pair]) -> tuple[Array, int]:
        """Those of the pairs that met, and of how many both documents are there."""
        there = self._there(pairs)
        if not len(self.keys):
            return np.empty(0, np.int64), len(there[0])
        wanted = self._keys(*there)
        at = np.searchsorted(self.keys, wanted, sorter=self.order)
        rows = self.order[np.minimum(at, len(self.order) - 1)]
        return rows[self.keys[rows] == wanted], len(there[0])


NO_GROUP = -1
ENOUGH = 100  # pairs of unlike groups; fewer are taken where there are fewer duplicates
TRIALS = 20  # to draw one pair of unlike groups


def labelled_by_group(
    source: Source, group: str, seed: int, progress: Progress, most: int = MOST_PAIRS
) -> Labelled:
    """At most so many pairs that meet, and some others where too few of other groups do."""
    if group == source.columns.text:
        raise InputError(f"The groups are in the text column {group!r}.", hint="name another.")
    group_of = _read(source, group, progress)
    met = met_in(source, progress)
    code = np.array([group_of.get(one, NO_GROUP) for one in met.ids], np.int64)
    one, other = code[met.a], code[met.b]
    known = np.where((one == NO_GROUP) | (other == NO_GROUP), OPEN, one == other)
    found = Labelled(source=f"groups by {group}")
    teach(found, met, known, most, seed)
    duplicates = sum(found.labels.values())
    others = len(found.labels) - duplicates
    for a, b in _unlike(code, min(duplicates, ENOUGH) - others, seed):
        found.add(met.ids[a], met.ids[b], OTHER)
    return found


@dataclass
class _Grouped:
    """Reads ids and groups, and lets the texts go; what has no group is left out. Of documents with
    one id the first counts."""

    group: str
    codes: dict[str, int] = field(default_factory=dict)
    group_of: dict[str, int] = field(default_factory=dict)

    def count(self, batch: pa.RecordBatch) -> pa.Table:
        values = plain(batch.column(self.group), self.group).cast(pa.large_string())
        table = pa.table({"id": batch.column("id"), "group": values})
        return table.filter(pc.greater(pc.utf8_length(pc.fill_null(table["group"], "")), 0))

    def add(self, part: pa.Table) -> None:
        for one, group in zip(part["id"].to_pylist(), part["group"].to_pylist(), strict=True):
            self.group_of.setdefault(one, self.codes.setdefault(group, len(self.codes)))


def _read(source: Source, group: str, progress: Progress) -> dict[str, int]:
    grouped = _Grouped(group)
    size = source.collection.plain_size()
    progress.stage("reading", source.limit, unit="documents", total_bytes=size)
    seen = count(source.collection, [grouped], source.reading(group), progress)
    if not grouped.group_of:
        raise InputError(
            f"None of the {seen.documents:,} documents has a value in {group!r}.",
            hint="name the column whose equal values are duplicates with --group.",
        )
    if len(grouped.codes) in (1, len(grouped.group_of)):
        which = "No two" if len(grouped.codes) > 1 else "All"
        raise InputError(
            f"{which} documents have the same group.",
            hint="name a column whose equal values are duplicates with --group.",
        )
    return grouped.group_of


def _unlike(code: Array, wanted: int, seed: int) -> Iterator[tuple[int, int]]:
    """Pairs of other groups, alike or not."""
    there = np.flatnonzero(code != NO_GROUP)
    trials = np.random.default_rng([seed, 7]).integers(0, len(there), (TRIALS * max(wanted, 0), 2))
    pairs = there[trials]
    unlike = pairs[code[pairs[:, 0]] != code[pairs[:, 1]]]
    yield from map(tuple, unlike[:wanted].tolist())
