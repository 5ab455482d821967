"""Which part of each source and of each kind are duplicates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from neardup import schema
from neardup.names import shortened
from neardup.outputs.html.page import card, prose
from neardup.outputs.html.safe import Html, html, name
from neardup.outputs.html.table import Cell, Share, Table, table_html
from neardup.outputs.report.bars import bar
from neardup.outputs.report.columns import (
    DUPLICATE,
    KEPT,
    REJECTED,
    Coded,
    cluster_numbers,
    coded,
    count_by,
)
from neardup.outputs.report.run import Run
from neardup.schema import Array

MOST_SOURCES = 20
KINDS = {
    "identical": "equal texts",
    "normalised": "equal words in equal order; case, spaces or punctuation differ",
    "layout": "the same text with other page numbers, notices or formatting",
    "excerpt": "one is a part of the other",
    "elaboration": "one has whole paragraphs more",
    "insertion": "one has sentences or phrases more, inside paragraphs",
    "revision": "small edits: dates, numbers, another version",
    "rewrite": "the same content in visibly other words",
    "other": "alike in none of these ways",
}
NO_KIND = "not classified"
ONE_SOURCE = (
    "All documents come from one input. Several inputs, or inputs with names (--source "
    "NAME=INPUT), are told apart here; so are the values of a column:\n\n"
    "$ neardup report . --by COLUMN"
)


def by_source(run: Run) -> Html:
    word, groups = run.grouped
    found = count_by(groups, run.decision)
    if np.count_nonzero(found.sum(axis=1)) <= 1 and run.by is None:
        return card("By source", prose(ONE_SOURCE), anchor="sources")
    same = _same(run, groups)
    told = Html("") if same is None else prose(_across(run, same, word))
    table = _table(word, groups, found, same)
    return card(f"By {shortened(word)}", told, table_html(table), anchor="sources")


def _table(word: str, groups: Coded, found: Array, same: Array | None) -> Table:
    """The groups with most duplicates first."""
    order = np.lexsort((np.arange(len(found)), -found.sum(axis=1), -found[:, DUPLICATE]))
    order = order[found[order].sum(axis=1) > 0]
    names = [*map(name, groups.names), html("no value")]
    lines = _lines(names, order, found, same)
    most = max(line.aside / max(line.every, 1) for line in lines)
    rows = [line.cells(most) for line in lines]
    header = [word, "documents", "kept", "set aside", "for the same", "rejected", "share", ""]
    if same is None:
        rows, header = [row[:4] + row[5:] for row in rows], header[:4] + header[5:]
    return Table(header, rows, marked=[len(rows) - 1])


def _across(run: Run, same: Array, word: str) -> str:
    inside, every = int(same.sum()), run.counts.duplicates
    return (
        f"Of {every:,} set-aside documents {inside:,} were set aside for one of the same {word}, "
        f"{every - inside:,} for one of another."
    )


@dataclass(frozen=True)
class _Line:
    label: Html
    found: Array
    same: int | None

    @property
    def every(self) -> int:
        return int(self.found.sum())

    @property
    def aside(self) -> int:
        return int(self.found[DUPLICATE])

    def cells(self, most: float) -> tuple[Cell, ...]:
        """The longest bar is that of the largest share."""
        share = self.aside / max(self.every, 1)
        counts = int(self.found[KEPT]), self.aside, self.same, int(self.found[REJECTED])
        return (self.label, self.every, *counts, Share(self.aside, self.every), bar(share, most))


def _lines(names: list[Html], order: Array, found: Array, same: Array | None) -> list[_Line]:
    """The first, the others together, and all."""

    def together(label: str, some: Array) -> _Line:
        inside = None if same is None else int(same[some].sum())
        return _Line(Html(label), found[some].sum(axis=0), inside)

    cut = MOST_SOURCES if len(order) > MOST_SOURCES + 1 else len(order)
    lines = [replace(together("", order[i : i + 1]), label=names[order[i]]) for i in range(cut)]
    if cut < len(order):
        lines.append(together(f"{len(order) - cut:,} others", order[cut:]))
    return [*lines, together("all", order)]


def _same(run: Run, groups: Coded) -> Array | None:
    """Of each group, how many were set aside for a document of the same one. By the rule a cluster
    has one kept document; chains have several, and references are no input."""
    if run.settings.get("clusters") != "rule" or run.info.get("against"):
        return None
    cluster = cluster_numbers(run.result.decisions)
    code = np.where(groups.codes < 0, len(groups.names), groups.codes)
    home = np.full(int(cluster.max(initial=-1)) + 1, -1)
    kept = (run.decision == KEPT) & (cluster >= 0)
    home[cluster[kept]] = code[kept]
    aside = np.flatnonzero(run.decision == DUPLICATE)
    inside = aside[home[cluster[aside]] == code[aside]]
    return np.bincount(code[inside], minlength=len(groups.names) + 1)


def by_kind(run: Run) -> Html:
    """What sort of duplicates the set-aside documents are."""
    if not run.counts.duplicates:
        return card("By kind", prose("There are no duplicates."), anchor="kinds")
    groups = coded(run.result.decisions["kind"])
    found = count_by(groups, run.decision)[:, DUPLICATE]
    by_name = dict(zip([*groups.names, NO_KIND], map(int, found), strict=True))
    whole = run.counts.duplicates
    kinds = [*schema.KINDS, *sorted(by_name.keys() - {*schema.KINDS, NO_KIND}), NO_KIND]
    rows = [
        (kind, by_name[kind], Share(by_name[kind], whole), bar(by_name[kind], whole), _said(kind))
        for kind in kinds
        if by_name.get(kind)
    ]
    table = Table(("kind", "set aside", "share", "", "what it means"), rows)
    return card("By kind", table_html(table), anchor="kinds")


def _said(kind: str) -> str:
    return "its kind was not looked at" if kind == NO_KIND else KINDS.get(kind, "")
