"""Labelled pairs from a column of groups: documents of one group are duplicates, others are not.

There are far more pairs of unlike documents than of like ones, and nearly all are too easy to teach
anything. So half of the negative pairs are the most alike of other groups, a quarter is drawn from
all that are somewhat alike, a quarter from all. Large groups give no more pairs than others may.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.values import plain
from neardup.documents import collect
from neardup.errors import InputError
from neardup.evaluation.gold import NEGATIVE, GroupGold, from_groups
from neardup.evaluation.scored import ScoredPairs, match
from neardup.evaluation.training.labels import Labelled
from neardup.evaluation.training.material import Source, texts_of
from neardup.local.artefacts import count
from neardup.plan import resolve, settings_of
from neardup.progress import Progress
from neardup.schema import Array

MOST_DOCUMENTS = 3000  # that pairs are made of; a third may be alone in their group
PER_GROUP = 6  # documents of one
PAIRS_PER_GROUP = 8
PER_DOCUMENT = 3  # most alike pairs of other groups
NEGATIVES = 2  # for each positive pair
SOMEWHAT_ALIKE = 0.1  # Jaccard's measure of three-word shingles
MOST_CANDIDATES = 500_000


def labelled_by_group(source: Source, group: str, seed: int, progress: Progress) -> Labelled:
    if group == source.columns.text:
        raise InputError(f"The groups are in the text column {group!r}.", hint="name another.")
    chosen = _drawn(_read(source, group, progress), seed)
    gold = from_groups(chosen["group"])
    ids = chosen["id"].to_pylist()
    a, b = _positives(gold, seed)
    found = Labelled(source=f"groups by {group}")
    for one, other in zip(a.tolist(), b.tolist(), strict=True):
        found.add(ids[one], ids[other], 1)
    candidates = _candidates(source, ids, progress)
    for one, other in _Negatives(gold, candidates, seed).drawn(NEGATIVES * len(a)):
        found.add(ids[one], ids[other], 0)
    return found


@dataclass
class _Grouped:
    """Reads ids and groups; what has no group is left out, and texts are let go."""

    group: str
    parts: list[pa.Table]

    def count(self, batch: pa.RecordBatch) -> pa.Table:
        values = plain(batch.column(self.group), self.group).cast(pa.large_string())
        table = pa.table({"id": batch.column("id"), "group": values})
        return table.filter(pc.greater(pc.utf8_length(pc.fill_null(table["group"], "")), 0))

    def add(self, part: pa.Table) -> None:
        self.parts.append(part)


def _read(source: Source, group: str, progress: Progress) -> pa.Table:
    grouped = _Grouped(group, [])
    size = source.collection.plain_size()
    progress.stage("reading", source.limit, unit="documents", total_bytes=size)
    seen = count(source.collection, [grouped], source.reading(group), progress)
    table = pa.concat_tables(grouped.parts) if grouped.parts else pa.table({"group": []})
    if not len(table):
        raise InputError(
            f"None of the {seen.documents:,} documents has a value in {group!r}.",
            hint="name the column whose equal values are duplicates with --group.",
        )
    _, first = np.unique(np.asarray(table["id"].to_pylist(), object), return_index=True)
    return table.take(pa.array(np.sort(first)))


def _drawn(table: pa.Table, seed: int) -> pa.Table:
    """Some documents of each group, groups in a random order, until there are enough; then some
    that are alone."""
    draw = np.random.default_rng([seed, 5])
    codes = np.asarray(table["group"].combine_chunks().dictionary_encode().indices)
    mixed = draw.permutation(len(codes))
    order = mixed[np.argsort(draw.permutation(int(codes.max()) + 1)[codes[mixed]], kind="stable")]
    size = np.bincount(codes)[codes[order]]
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    several = order[(size > 1) & (rank < PER_GROUP)][: MOST_DOCUMENTS * 2 // 3]
    alone = order[size == 1][: MOST_DOCUMENTS // 3]
    return table.take(pa.array(np.sort(np.concatenate([several, alone]))))


def _positives(gold: GroupGold, seed: int) -> tuple[Array, Array]:
    a, b = gold.positives()
    if not len(a):
        raise InputError(
            "No two documents have the same group.",
            hint="name a column whose equal values are duplicates with --group.",
        )
    mixed = np.random.default_rng([seed, 6]).permutation(len(a))
    order = mixed[np.argsort(gold.group[a[mixed]], kind="stable")]
    starts = np.flatnonzero(np.diff(gold.group[a[order]], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    chosen = np.sort(order[rank < PAIRS_PER_GROUP])
    return a[chosen], b[chosen]


def _candidates(source: Source, ids: list[str], progress: Progress) -> ScoredPairs:
    """All pairs that are somewhat alike, of documents in this order."""
    texts = texts_of(source, ids, progress)
    table = pa.table({"id": ids, "text": pa.array([texts[one] for one in ids], pa.large_string())})
    given = {"method": "join", "size": 3, "threshold": SOMEWHAT_ALIKE, "min_words": 0}
    more = {"kinds": "none", "id": "id", "workers": source.workers, "max_pairs": MOST_CANDIDATES}
    plan = resolve(settings_of({**given, **more}), every_pair=True)
    return match(collect(table), plan, progress)


class _Negatives:
    def __init__(self, gold: GroupGold, candidates: ScoredPairs, seed: int) -> None:
        self.gold, self.draw = gold, np.random.default_rng([seed, 7])
        other = gold.classes(candidates.a, candidates.b) == NEGATIVE
        self.alike = candidates.where(other & ~candidates.identical)
        self.equal = {*_pairs(candidates.where(candidates.identical))}

    def drawn(self, wanted: int) -> list[tuple[int, int]]:
        hard = self._hardest(wanted // 2)
        somewhat = self._mixed(_pairs(self.alike), wanted // 4)
        found = dict.fromkeys([*hard, *somewhat])
        return [*found, *self._any(wanted - len(found), {*found, *self.equal})]

    def _hardest(self, wanted: int) -> list[tuple[int, int]]:
        """The best scores first, so that no document is in more than a few of them."""
        order = np.argsort(-self.alike.score, kind="stable").tolist()
        pairs, times = _pairs(self.alike), np.zeros(self.gold.documents, np.int64)
        found: list[tuple[int, int]] = []
        for row in order:
            pair = pairs[row]
            if len(found) < wanted and times[list(pair)].max() < PER_DOCUMENT:
                found.append(pair)
                times[list(pair)] += 1
        return found

    def _mixed(self, pairs: list[tuple[int, int]], wanted: int) -> list[tuple[int, int]]:
        chosen = self.draw.permutation(len(pairs))[:wanted]
        return [pairs[i] for i in chosen.tolist()]

    def _any(self, wanted: int, known: set[tuple[int, int]]) -> list[tuple[int, int]]:
        found: dict[tuple[int, int], None] = {}
        for a, b in self.draw.integers(0, self.gold.documents, (20 * wanted, 2)).tolist():
            pair = (min(a, b), max(a, b))
            if len(found) == wanted:
                break
            if self.gold.group[a] != self.gold.group[b] and pair not in known:
                found[pair] = None
        return list(found)


def _pairs(some: ScoredPairs) -> list[tuple[int, int]]:
    return list(zip(some.a.tolist(), some.b.tolist(), strict=True))
