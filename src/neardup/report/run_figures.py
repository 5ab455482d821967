"""The sections of a run report that have figures: pairs by score, documents by source and kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup import schema
from neardup.artefacts.calibration import below_threshold, expected_of, origin_of
from neardup.report.bars import Bin, bar, histogram, scale
from neardup.report.html_page import (
    Cell,
    Html,
    Share,
    Table,
    card,
    folded,
    html,
    name,
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
    """Of all verified pairs where they are listed, else of those that decided."""
    what = "pair" if run.result.pairs_complete else "duplicate"
    listed = run.result.pairs if run.result.pairs_complete else run.result.duplicates
    score = np.asarray(listed["score"], dtype=np.float64)
    if not len(score):
        return card("Scores", prose("There are no pairs to show."), anchor="scores")
    text = [
        f"{many(len(score), what)}, by the similarity of the two documents: 0 means nothing in "
        "common, 1 means equal.",
        _threshold(run, score),
    ]
    if refused := run.info.get("refused"):
        text.append(
            f"{many(refused, 'more candidate pair')} share boilerplate but differ in content; they "
            "are not treated as duplicates."
        )
    if score.min() == 1.0:
        text.append("All of them have the score 1.")
        return card("Scores", prose("\n\n".join(text)), anchor="scores")
    first, bins = _bins(score, run.result.threshold)
    if scale([one.count for one in bins])[1]:
        text.append("The tallest bar is shortened; its number is above it.")
    line = (run.result.threshold - first / STEPS) * STEPS
    label = f"threshold {run.result.threshold:.4g}"
    drawn = histogram(f"{what}s by score", bins, line=line, label=label)
    table = Table(("score", f"{what}s"), [(one.label, one.count) for one in bins if one.count])
    numbers = folded("The numbers", table_html(table))
    return card("Scores", prose("\n\n".join(text)), drawn, numbers, anchor="scores")


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


def _threshold(run: Run, score: Array) -> str:
    """Where duplicates begin, why there, and how sure that is."""
    threshold = run.result.threshold
    calibration: dict[str, Any] | None = run.info.get("artefacts", {}).get("calibration")
    if calibration is None:
        return f"Threshold {threshold:.4g}: pairs with this score or a higher one are duplicates."
    text = [f"Threshold {threshold:.4g} ({origin_of(run.info['artefacts'])})."]
    if calibration.get("stability") is not None:
        text.append(
            f"A threshold 0.05 higher or lower would not change {calibration['stability']:.0%} of "
            "the pairs above it."
        )
    if expected := expected_of(run.info):
        text.append(expected.sentence())
    text.append(below_threshold(int(np.count_nonzero(score < threshold)), calibration))
    return " ".join(filter(None, text))


MOST_SOURCES = 20
KINDS = {
    "identical": "equal texts",
    "normalised": "equal words in equal order; case, spaces or punctuation differ",
    "layout": "the same text with different page numbers, notices or formatting",
    "excerpt": "one is a part of the other",
    "elaboration": "one has additional paragraphs",
    "insertion": "one has additional sentences or phrases inside paragraphs",
    "revision": "small edits: dates, numbers, a new version",
    "rewrite": "the same content in clearly different words",
    "other": "similar in none of these ways",
    (NO_KIND := "not classified"): "the kind was not determined",
}
ONE_SOURCE = (
    "All documents come from one input. Several inputs, or inputs with names (--source "
    "NAME=INPUT), are listed separately here; so are the values of a column:\n\n"
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
    """The groups with the most duplicates come first."""
    order = np.lexsort((np.arange(len(found)), -found.sum(axis=1), -found[:, DUPLICATE]))
    order = order[found[order].sum(axis=1) > 0]
    names = [*map(name, groups.names), html("no value")]
    lines = _lines(names, order, found, same)
    most = max(line.aside / max(line.every, 1) for line in lines)
    rows = [line.cells(most) for line in lines]
    header = [word, "documents", "kept", "duplicates", "of the same", "rejected", "share", ""]
    if same is None:
        rows, header = [row[:4] + row[5:] for row in rows], header[:4] + header[5:]
    return Table(header, rows, marked=[len(rows) - 1])


def _across(run: Run, same: Array, word: str) -> str:
    inside, every = int(same.sum()), run.counts.duplicates
    return (
        f"{inside:,} of {many(every, 'duplicate')} match a kept document of the same {word}, "
        f"{every - inside:,} one of a different {word}."
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

    most = MOST_SOURCES if len(order) > MOST_SOURCES + 1 else len(order)
    lines = [replace(together("", order[i : i + 1]), label=names[order[i]]) for i in range(most)]
    if most < len(order):
        lines.append(together(f"{len(order) - most:,} others", order[most:]))
    return [*lines, together("all", order)]


def _same(run: Run, groups: Coded) -> Array | None:
    """How many duplicates of each group match a kept document of the same group. By the rule a
    cluster has one kept document; chains have several, and references are no input."""
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
    """How the duplicates differ from the kept documents."""
    if not run.counts.duplicates:
        return card("By kind", prose("There are no duplicates."), anchor="kinds")
    groups = coded(run.result.decisions["kind"])
    found = count_by(groups, run.decision)[:, DUPLICATE]
    by_name = dict(zip([*groups.names, NO_KIND], map(int, found), strict=True))
    whole = run.counts.duplicates
    kinds = [*schema.KINDS, *sorted(by_name.keys() - {*schema.KINDS, NO_KIND}), NO_KIND]
    rows = [
        (
            kind,
            by_name[kind],
            Share(by_name[kind], whole),
            bar(by_name[kind], whole),
            KINDS.get(kind, ""),
        )
        for kind in kinds
        if by_name.get(kind)
    ]
    table = Table(("kind", "duplicates", "share", "", "meaning"), rows)
    return card("By kind", table_html(table), anchor="kinds")
