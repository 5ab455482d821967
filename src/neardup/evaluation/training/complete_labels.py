"""Training labels for all compared pairs of a collection whose duplicates are all known.

``labelled_completely`` takes a complete list of duplicates: compared pairs that no label names are
different documents. A list of what replaced what names each step, but not the first version with
the last, so pairs of documents that are connected through duplicates stay open.
``labelled_by_group`` takes a column of groups: documents of one group are duplicates, documents of
different groups are not.
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
    labelled: Labelled,
    named: Iterable[Pair],
    source: Source,
    seed: int,
    progress: Progress,
    most: int = MOST_PAIRS,
) -> Labelled:
    """Labels for the pairs that meet. ``named`` are all pairs that any label names; those without a
    label in ``labelled`` stay open: neither duplicates nor different."""
    met = _Rows(met_in(source, progress))
    known = np.full(len(met.keys), OTHER)
    known[met.together(pair for pair, label in labelled.labels.items() if label)] = OPEN
    known[met.rows(named)[0]] = OPEN
    completed = Labelled(source=labelled.source, unused=dict(labelled.unused))
    for label in sorted({*labelled.labels.values()}):
        pairs = [pair for pair, pair_label in labelled.labels.items() if pair_label == label]
        rows, in_collection = met.rows(pairs)
        known[rows] = label
        completed.leave(NOT_THERE, len(pairs) - in_collection)
        completed.leave(NEVER_COMPARED, in_collection - len(rows))
    teach(completed, met.met, known, most, seed)
    return completed


class _Rows:
    """Looks up pairs of ids among the pairs that met."""

    def __init__(self, met: Met) -> None:
        self.met = met
        self.place = {name: place for place, name in enumerate(met.ids) if name is not None}
        self.keys = self._keys(met.a, met.b)
        self.order = np.argsort(self.keys, kind="stable")

    def _keys(self, a: Array, b: Array) -> Array:
        keys: Array = np.minimum(a, b) * len(self.met.ids) + np.maximum(a, b)
        return keys

    def _places(self, pairs: Iterable[Pair]) -> tuple[Array, Array]:
        """Places of the pairs whose documents are both in the collection."""
        places = [(self.place[a], self.place[b]) for a, b in pairs if {a, b} <= self.place.keys()]
        a, b = np.array(places, np.int64).reshape(-1, 2).T
        return a, b

    def together(self, pairs: Iterable[Pair]) -> Array:
        """Rows of documents that these pairs connect."""
        part = components(len(self.met.ids), *self._places(pairs))
        part_a, part_b = part[self.met.a], part[self.met.b]
        return np.flatnonzero((part_a == part_b) & (part_a >= 0))

    def rows(self, pairs: Iterable[Pair]) -> tuple[Array, int]:
        """Rows of the pairs that met, and how many pairs have both documents in the collection."""
        a, b = self._places(pairs)
        if not len(self.keys):
            return np.empty(0, np.int64), len(a)
        wanted = self._keys(a, b)
        at = np.searchsorted(self.keys, wanted, sorter=self.order)
        rows = self.order[np.minimum(at, len(self.order) - 1)]
        return rows[self.keys[rows] == wanted], len(a)


NO_GROUP = -1
ENOUGH = 100  # pairs of different groups, or as many as there are duplicates if these are fewer
TRIALS = 20  # to draw one pair of different groups


def labelled_by_group(
    source: Source, group: str, seed: int, progress: Progress, most: int = MOST_PAIRS
) -> Labelled:
    """Labels for at most ``most`` pairs that meet, and for random pairs of different groups if too
    few of those meet."""
    if group == source.columns.text:
        raise InputError(f"The groups are in the text column {group!r}.", hint="name another.")
    group_of = _read(source, group, progress)
    met = met_in(source, progress)
    code = np.array([group_of.get(name, NO_GROUP) for name in met.ids], np.int64)
    group_a, group_b = code[met.a], code[met.b]
    known = np.where((group_a == NO_GROUP) | (group_b == NO_GROUP), OPEN, group_a == group_b)
    labelled = Labelled(source=f"groups by {group}")
    teach(labelled, met, known, most, seed)
    duplicates = sum(labelled.labels.values())
    different = len(labelled.labels) - duplicates
    for a, b in _different(code, min(duplicates, ENOUGH) - different, seed):
        labelled.add(met.ids[a], met.ids[b], OTHER)
    return labelled


@dataclass
class _Grouped:
    """Collects ids and groups without keeping texts. Documents without a group are left out; of
    documents with the same id the first counts."""

    group: str
    codes: dict[str, int] = field(default_factory=dict)
    group_of: dict[str, int] = field(default_factory=dict)

    def count(self, batch: pa.RecordBatch) -> pa.Table:
        values = plain(batch.column(self.group), self.group).cast(pa.large_string())
        table = pa.table({"id": batch.column("id"), "group": values})
        return table.filter(pc.greater(pc.utf8_length(pc.fill_null(table["group"], "")), 0))

    def add(self, part: pa.Table) -> None:
        for name, group in zip(part["id"].to_pylist(), part["group"].to_pylist(), strict=True):
            self.group_of.setdefault(name, self.codes.setdefault(group, len(self.codes)))


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


def _different(code: Array, wanted: int, seed: int) -> Iterator[tuple[int, int]]:
    """Random pairs of documents of different groups, whether similar or not."""
    grouped = np.flatnonzero(code != NO_GROUP)
    trials = np.random.default_rng([seed, 7]).integers(
        0, len(grouped), (TRIALS * max(wanted, 0), 2)
    )
    pairs = grouped[trials]
    different = pairs[code[pairs[:, 0]] != code[pairs[:, 1]]]
    yield from map(tuple, different[:wanted].tolist())
