"""The sections of a run report that have figures: pairs by score, documents by source and kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup import schema
from neardup.artefacts.calibration import GENERAL, LEAST_DOUBT, PLANTED, UNLIKE, USUAL, VALLEY
from neardup.report.bars import Bin, bar, histogram, scale
from neardup.report.html_page import (
    Cell,
    Html,
    Share,
    Table,
    card,
    html,
    name,
    percent,
    prose,
    table_html,
)
from neardup.report.run_view import (
    DUPLICATE,
    KEPT,
    REJECTED,
    Coded,
    Run,
    cluster_numbers,
    coded,
    count_by,
)
from neardup.schema import Array
from neardup.wording import many, shortened

STEPS = 20  # bins from 0 to 1; those below the first score are left out


def scores(run: Run) -> Html:
    score, what = _scores(run)
    if not len(score):
        return card("Scores", prose("There are no pairs to show."), anchor="scores")
    told = [
        f"{many(len(score), what)}, by how alike the two documents are: 0 is nothing in "
        "common, 1 the same."
    ]
    told.append(_cut(run, score))
    if refused := run.info.get("refused"):
        told.append(
            f"{many(refused, 'candidate pair')} beside these share a template and have other "
            "content: no duplicates, whatever their score."
        )
    if score.min() == 1.0:
        told.append("All of them have the score 1.")
        return card("Scores", prose("\n\n".join(told)), anchor="scores")
    first, bins = _bins(score, run.result.threshold)
    if scale([one.count for one in bins])[1]:
        told.append("The tallest bar is cut; its number stands above it.")
    line = (run.result.threshold - first / STEPS) * STEPS
    label = f"threshold {run.result.threshold:.4g}"
    drawn = histogram(f"{what}s by score", bins, line=line, label=label)
    table = Table(("score", f"{what}s"), [(one.label, one.count) for one in bins if one.count])
    folded = f"<details><summary>The numbers</summary>{table_html(table)}</details>"
    return card("Scores", prose("\n\n".join(told)), drawn, folded, anchor="scores")


def _scores(run: Run) -> tuple[Array, str]:
    """All verified pairs where they are listed, else those that decided."""
    result = run.result
    if result.pairs_complete:
        return np.asarray(result.pairs["score"], dtype=np.float64), "pair"
    return np.asarray(result.duplicates["score"], dtype=np.float64), "set-aside document"


def _bins(score: Array, threshold: float) -> tuple[int, list[Bin]]:
    """From the lowest score or the threshold; what is exactly 1 stands apart."""
    below = score[score < 1]
    place = np.minimum((below * STEPS + 1e-9).astype(np.int64), STEPS - 1)
    first = max(0, min(int(place.min(initial=STEPS - 1)), int(threshold * STEPS + 1e-9) - 1))
    counts = np.bincount(place, minlength=STEPS)[first:]
    bins = [
        Bin(f"{i / STEPS:.2f} to {(i + 1) / STEPS:.2f}", int(count), f"{i / STEPS:.2f}")
        for i, count in enumerate(counts, first)
    ]
    return first, [*bins, Bin("exactly 1", int(len(score) - len(below)), "= 1", alone=True)]


def _calibration(run: Run) -> dict[str, Any] | None:
    found: dict[str, Any] | None = run.info.get("artefacts", {}).get("calibration")
    return found


CUT = {
    VALLEY: "The collection itself says where duplicates begin: at {}, in a clear valley of the "
    "scores, where few pairs are neither alike nor unlike.",
    LEAST_DOUBT: "Duplicates begin at {}, near the cut of the model, where the smallest share of "
    "them is in doubt in this collection.",
    PLANTED: "Duplicates begin at {}, where copies with planted edits and traps, made of documents "
    "of this collection, are told apart best.",
    USUAL: "Duplicates begin at {}, the usual cut of the method: the scores of this collection "
    "have no clear valley that would say otherwise.",
    UNLIKE: "Duplicates begin at {}, the cut of the model. This collection is unlike what the "
    "model was trained on, so nothing passes by standing out, and probabilities may be wrong.",
    GENERAL: "Duplicates begin at {}, the threshold for general tables: no collection was counted.",
}


def _cut(run: Run, score: Array) -> str:
    threshold = run.result.threshold
    made = _calibration(run)
    if made is None:
        return f"Two documents are duplicates from a score of {threshold:.4g} on."
    told = [CUT[made["by"]].format(f"{threshold:.4g}")]
    if made["found"] is not None:
        told.append(
            f"Of copies with planted edits {made['found']:.0%} are found there, and "
            f"{made['trapped']:.0%} of the traps, which share only a frame, pass."
        )
    if made.get("stability") is not None:
        told.append(
            f"A cut 0.05 higher or lower would not touch {made['stability']:.0%} of the pairs "
            "above it."
        )
    if faint := int(np.count_nonzero(score < threshold)):
        share = percent(Share(faint, len(score)))
        stands = "pair stands" if faint == 1 else "pairs stand"
        told.append(
            f"{faint:,} {stands} out below it ({share}): far more alike than anything else near "
            "these documents."
        )
    return " ".join(told)


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
