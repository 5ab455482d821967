"""Clusters of a run under constraints from labels (Yang & Callan 2006).

Settled labels are constraints: ``duplicate`` is a must-link, ``not`` a cannot-link. The pairs of
the run join clusters from the highest score on, and never bring a cannot-link together
(``decisions/clusters.py``). A cluster has a reference: of its documents the one that the run kept
first.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from neardup import schema
from neardup.decisions.clusters import constrained_clusters
from neardup.labels.agreement import verdicts
from neardup.labels.label_store import DUPLICATE, NOT, Labels
from neardup.matching.evidence import Pairs
from neardup.runs.result import Result


class Constrained(NamedTuple):
    """``rows`` has id, cluster and reference of each document in a cluster. ``unknown`` labels are
    of documents that the run does not have."""

    rows: list[dict[str, Any]]
    must: int
    cannot: int
    conflicts: int
    unknown: int

    def sentence(self) -> str:
        count = len({row["cluster"] for row in self.rows})
        parts = [
            f"{len(self.rows):,} documents are in {count:,} clusters; must-links: {self.must:,}, "
            f"cannot-links: {self.cannot:,}.",
        ]
        if self.conflicts:
            parts.append(f"Cannot-links that contradict the must-links: {self.conflicts:,}.")
        if self.unknown:
            parts.append(f"Labels of documents that are not in the run: {self.unknown:,}.")
        return " ".join(parts)


def constrained(result: Result, labels: Labels) -> Constrained:
    ids = result.decisions["id"].to_pylist()
    place = {id_: number for number, id_ in enumerate(ids)}
    links: dict[str | None, list[tuple[int, int]]] = {DUPLICATE: [], NOT: []}
    unknown = 0
    for pair, label in sorted(verdicts(labels).settled.items()):
        if label.label not in links:
            continue
        if pair.a in place and pair.b in place:
            links[label.label].append((place[pair.a], place[pair.b]))
        else:
            unknown += 1
    must, cannot = links[DUPLICATE], links[NOT]
    number, conflicts = constrained_clusters(len(ids), _pairs(result, place), must, cannot)
    rows = _rows(result, ids, number.tolist())
    return Constrained(rows, len(must), len(cannot), conflicts, unknown)


def _pairs(result: Result, place: dict[str, int]) -> Pairs:
    a, b = (
        np.array([place[id_] for id_ in result.pairs[side].to_pylist()], np.int64)
        for side in ("a", "b")
    )
    return Pairs(a, b, result.pairs["score"].to_numpy())


def _rows(result: Result, ids: list[str], number: list[int]) -> list[dict[str, Any]]:
    """Kept documents come before duplicates, and both in the order of the input."""
    kept = [decision == schema.KEPT for decision in result.decisions["decision"].to_pylist()]
    order = sorted(range(len(ids)), key=lambda one: (number[one], not kept[one], one))
    rows, last = [], -1
    for one in order:
        if number[one] >= 0:
            rows.append({"id": ids[one], "cluster": number[one], "reference": number[one] != last})
            last = number[one]
    return rows
