"""Cluster statistics as in the crawl of Broder et al. 1997 (quoted from the lecture, slide 31).

Settings: 10-word shingles, those ≡ 0 modulo 25, at most 400 per document, resemblance ≥ .5,
union-find. In the paper, 3.6 million clusters held 12.3 of 30 million documents; 2.1 million
clusters, with 5.3 million documents, consisted of identical documents only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import Pass, partial_notes, read, set_kinds
from neardup.progress import Progress
from neardup.schema import KINDS, Array

PAPER = "Broder, Glassman, Manasse & Zweig 1997, by the lecture"
RECIPE = "broder1997"
COUNTS = {"": "", "clusters": ",", "documents": ",", "share of all": ".1%", "Broder 1997": ".1%"}
SIZES = {"size": "", "clusters": ",", "documents": ","}
EDGES = (2, 3, 4, 5, 6, 11, 21, 51, 101)  # the smallest size of each row in the table of sizes


def clusters(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    matched = material.find(recipe=RECIPE)
    sets = matched.pairs.clusters("components")
    sizes = np.bincount(sets[sets >= 0])
    counts = Table(
        "clusters",
        "Clusters",
        COUNTS,
        count_rows(matched, sets),
        note="Identical: all pairs of the cluster have the same bytes, or the same words. All "
        "other kinds of pairs count as similar here.",
    )
    spread = Table("sizes", "Sizes of clusters", SIZES, size_rows(sizes))
    return material.experiment(
        "broder1997",
        PAPER,
        matched.settings,
        [counts, spread],
        [Figure("sizes", "Sizes of clusters", lambda: _chart(spread))],
        notes=[
            *partial_notes([matched]),
            f"{len(matched):,} pairs with an estimated resemblance of .5 or more.",
        ],
    )


def count_rows(matched: Pass, sets: Array) -> list[Row]:
    kinds = set_kinds(sets, matched)
    same = np.isin(kinds, KINDS[:2])
    sizes = np.bincount(sets[sets >= 0], minlength=len(kinds))
    total = max(matched.documents, 1)
    rows = [
        ("all clusters", np.ones(len(kinds), bool), 12.3 / 30),
        ("of identical documents only", same, 5.3 / 30),
        ("of identical and similar ones", ~same, 7.0 / 30),
    ]
    return [
        {
            "": name,
            "clusters": int(chosen.sum()),
            "documents": int(sizes[chosen].sum()),
            "share of all": int(sizes[chosen].sum()) / total,
            "Broder 1997": printed,
        }
        for name, chosen, printed in rows
    ]


def size_rows(sizes: Array) -> list[Row]:
    rows = []
    for first, after in zip(EDGES, (*EDGES[1:], None), strict=True):
        chosen = (sizes >= first) & (sizes < (after or np.inf))
        name = f"{first} or more" if after is None else str(first)
        name = f"{first}–{after - 1}" if after and after > first + 1 else name
        rows.append(
            {"size": name, "clusters": int(chosen.sum()), "documents": int(sizes[chosen].sum())}
        )
    return rows


def _chart(spread: Table) -> Any:
    rows = [
        {"size": row["size"], "count": row[of], "of": of}
        for row in spread.rows
        for of in ("clusters", "documents")
    ]
    order = [row["size"] for row in spread.rows]
    return bars(rows, ("size", "documents in the cluster"), ("count", "number"), "of", order)
