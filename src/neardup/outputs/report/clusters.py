"""How large clusters are, and the largest of them with their members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.counted import many
from neardup.outputs.html.page import card, prose
from neardup.outputs.html.safe import Html, html, name, place
from neardup.outputs.html.table import Cell, Table, table_html
from neardup.outputs.report.bars import bar
from neardup.outputs.report.columns import cluster_numbers
from neardup.outputs.report.pairs import KEY, Shown, side_by_side
from neardup.outputs.report.run import Run
from neardup.outputs.report.texts import Texts
from neardup.schema import Array

MOST_CLUSTERS = 10
MOST_MEMBERS = 8
SIZES = (2, 3, 4, 5, 6, 11, 21, 51, 101, 1001, 10001, 100001)


@dataclass(frozen=True)
class Cluster:
    """``members``: rows of the decisions, the kept ones first, then the least alike."""

    size: int
    members: list[dict[str, Any]]

    @property
    def weakest(self) -> dict[str, Any] | None:
        aside = [row for row in self.members if row["decision"] == schema.DUPLICATE]
        return aside[0] if aside else None


def largest(run: Run) -> list[Cluster]:
    table = run.result.clusters
    size = np.asarray(table["size"], dtype=np.int64)
    chosen = np.argsort(-size, kind="stable")[:MOST_CLUSTERS]
    numbers = table["cluster"].take(pa.array(chosen))
    decisions = run.result.decisions
    where = pc.is_in(decisions["cluster"], numbers.combine_chunks())
    positions = np.flatnonzero(np.asarray(where))
    of = cluster_numbers(decisions)[positions]
    return [
        Cluster(int(size[i]), _members(run, positions[of == number]))
        for i, number in zip(chosen, numbers.to_pylist(), strict=True)
    ]


def _members(run: Run, rows: Array) -> list[dict[str, Any]]:
    part = run.result.decisions.take(pa.array(rows))
    kept = np.asarray(pc.equal(part["decision"], schema.KEPT))
    score = np.where(kept, -1.0, np.asarray(part["score"].fill_null(0.0)))
    first = np.argsort(score, kind="stable")[:MOST_MEMBERS]
    found: list[dict[str, Any]] = part.take(pa.array(first)).to_pylist()
    groups = run.grouped[1]
    named = [groups.names[code] if code >= 0 else None for code in groups.codes[rows[first]]]
    return [{**row, "group": group} for row, group in zip(found, named, strict=True)]


def sizes(run: Run) -> Html:
    size = np.asarray(run.result.clusters["size"], dtype=np.int64)
    if not len(size):
        return card("Cluster sizes", prose("There are no clusters."), anchor="sizes")
    place = np.searchsorted(SIZES, size, side="right") - 1
    clusters = np.bincount(np.maximum(place, 0), minlength=len(SIZES))
    documents = np.bincount(np.maximum(place, 0), weights=size, minlength=len(SIZES)).astype(int)
    most = int(documents.max())
    rows: list[tuple[Cell, ...]] = [
        (_range(i), int(clusters[i]), int(documents[i]), bar(int(documents[i]), most, "pairs"))
        for i in range(len(SIZES))
        if clusters[i]
    ]
    told = prose(
        f"{many(int(size.sum()), 'document')} in {many(len(size), 'cluster')}, the largest of "
        f"{int(size.max()):,}. {_rule(run)}"
    )
    table = Table(("documents in a cluster", "clusters", "documents in them", ""), rows)
    return card("Cluster sizes", told, table_html(table), anchor="sizes")


def _rule(run: Run) -> str:
    if run.settings.get("clusters") == "rule":
        return "A cluster is a kept document with those that were set aside for it."
    return "A cluster is everything that is connected by pairs, also through others."


def _range(i: int) -> str:
    low = SIZES[i]
    if i == len(SIZES) - 1:
        return f"{low:,} or more"
    high = SIZES[i + 1] - 1
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def largest_clusters(run: Run, clusters: list[Cluster], texts: Texts) -> Html:
    if not clusters:
        return Html("")
    every = len(run.result.clusters)
    told = (
        "Each with its kept document first, then the least alike of those that were set aside for "
        "it. Unfold one to see that pair side by side."
    )
    if every > len(clusters):
        told = f"The first {len(clusters)} of {every:,}. {told}"
    made = [_cluster(run, i, one, texts) for i, one in enumerate(clusters, 1)]
    return card(
        "Largest clusters", prose(told), "" if texts.fault else KEY, *made, anchor="largest"
    )


def _cluster(run: Run, number: int, cluster: Cluster, texts: Texts) -> str:
    word = run.grouped[0]
    first = cluster.members[0]
    kept = first["id"] if first["decision"] == schema.KEPT else first["kept_id"]
    rows = [_member(row, texts, run.result.path_of(row)) for row in cluster.members]
    header = ("document", "", word, "date", "score", "kind", "where")
    more = cluster.size - len(rows)
    rest = f"<p>… and {more:,} more, in decisions.parquet.</p>" if more > 0 else ""
    summary = f"{number}. {many(cluster.size, 'document')}"
    weakest = cluster.weakest
    pair = side_by_side(Shown.of(weakest), texts) if weakest else ""
    return (
        f"<details class=item{' open' if number == 1 else ''}><summary>{html(summary)} "
        f"<small>kept: {name(kept, 60)}</small></summary>"
        f"{table_html(Table(header, rows, marked=_kept(cluster)))}{rest}{pair}</details>"
    )


def _kept(cluster: Cluster) -> list[int]:
    return [i for i, row in enumerate(cluster.members) if row["decision"] == schema.KEPT]


def _member(row: dict[str, Any], texts: Texts, path: str | None) -> tuple[Cell, ...]:
    kept = row["decision"] == schema.KEPT
    return (
        name(row["id"], 60),
        "kept" if kept else "set aside",
        name(row["group"], 40),
        name(texts.dates.get(row["id"]), 40),
        None if kept else float(row["score"]),
        "" if kept else row["kind"] or "not classified",
        place(row["file"], row["row"], path),
    )
