"""The few figures of the report, drawn here as SVG.

Places are in percent and texts in pixels, so that a figure fits a telephone and its labels stay
readable. Colours come from the style of the page; nothing is told by colour alone.

How alike the pairs are, and where the threshold stands among them.

Which part of each source and of each kind are duplicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from neardup import schema
from neardup.artefacts.calibration import GENERAL, LEAST_DOUBT, PLANTED, UNLIKE, USUAL, VALLEY
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

LEAST = 0.4  # percent: what is not nothing must be seen
TOP, HEIGHT, FOOT = 44, 150, 22  # pixels of a histogram
TALLEST = 3.0  # times the next: beyond, the tallest bar is cut


def bar(part: float, whole: float, css: str = "aside") -> Html:
    """One bar in a table; the number stands beside it."""
    width = max(LEAST, 100 * part / whole) if part and whole else 0
    return Html(
        '<svg class="bar" aria-hidden="true"><rect class="track" width="100%" height="100%"/>'
        f'<rect class="{css}" width="{width:.2f}%" height="100%"/></svg>'
    )


@dataclass(frozen=True)
class Piece:
    label: str
    count: int
    css: str


def stacked(title: str, pieces: Sequence[Piece]) -> Html:
    """One bar of all documents."""
    whole = sum(piece.count for piece in pieces) or 1
    shares = [max(LEAST, 100 * p.count / whole) if p.count else 0.0 for p in pieces]
    scale, x, drawn = 100 / (sum(shares) or 1), 0.0, []
    for piece, share in zip(pieces, shares, strict=True):
        width = share * scale
        drawn.append(
            f'<rect class="{piece.css}" x="{x:.2f}%" width="{width:.2f}%" height="100%">'
            f"<title>{html(piece.label)}: {piece.count:,}</title></rect>"
        )
        x += width
    return Html(
        f'<svg class="stacked" role="img" aria-label="{html(title)}"><title>{html(title)}</title>'
        f"{''.join(drawn)}</svg>"
    )


@dataclass(frozen=True)
class Bin:
    """``tick`` is written below its left end, or below its middle where it is ``alone``."""

    label: str
    count: int
    tick: str
    alone: bool = False


def histogram(title: str, bins: Sequence[Bin], *, line: float, said: str) -> Html:
    """``line``: where the dashed line stands, in bins from the left; ``said`` is written at it."""
    most, cut = scale([one.count for one in bins])
    step = 100 / len(bins)
    drawn = [_bar(i, one, step, most, cut) for i, one in enumerate(bins)]
    return Html(
        f'<figure><svg class="histogram" style="height:{TOP + HEIGHT + FOOT}px" role="img" '
        f'aria-label="{html(title)}"><title>{html(title)}</title>'
        f'<line class="axis" x1="0" x2="100%" y1="{TOP + HEIGHT}" y2="{TOP + HEIGHT}"/>'
        f"{''.join(drawn)}{_line(line * step, said)}</svg></figure>"
    )


def scale(counts: Sequence[int]) -> tuple[float, bool]:
    """The count that reaches the top, and whether a bar goes beyond it."""
    ordered = sorted(counts, reverse=True)
    if len(ordered) > 1 and ordered[0] > TALLEST * ordered[1] > 0:
        return 1.4 * ordered[1], True
    return max(ordered[0] if ordered else 0, 1), False


def _bar(i: int, one: Bin, step: float, most: float, cut: bool) -> str:
    height = min(1.0, one.count / most) * HEIGHT
    height = max(height, 1.5) if one.count else 0
    middle, top = (i + 0.5) * step, TOP + HEIGHT - height
    broken = ""
    if cut and one.count > most:
        broken = (
            f'<rect class="broken" x="{i * step:.2f}%" width="{step:.2f}%" y="{top + 14}" '
            'height="4"/>'
        )
    count = f'<text class="count" x="{middle:.2f}%" y="{top - 5:.1f}">{one.count:,}</text>'
    return (
        f'<rect class="pairs" x="{i * step + step * 0.08:.2f}%" width="{step * 0.84:.2f}%" '
        f'y="{top:.1f}" height="{height:.1f}"><title>{html(one.label)}: {one.count:,}</title>'
        f"</rect>{broken}{count if one.count else ''}"
        f"{_tick(i, one, step)}"
    )


def _tick(i: int, one: Bin, step: float) -> str:
    x = (i + 0.5) * step if one.alone else i * step
    css = "tick" + (" first" if x == 0 else " wide" if i % 4 and not one.alone else "")
    return f'<text class="{css}" x="{x:.2f}%" y="{TOP + HEIGHT + 16}">{html(one.tick)}</text>'


def _line(x: float, said: str) -> str:
    side, shift = ("before", -6) if x > 60 else ("after", 6)
    return (
        f'<line class="cut" x1="{x:.2f}%" x2="{x:.2f}%" y1="4" y2="{TOP + HEIGHT}"/>'
        f'<text class="said {side}" x="{x:.2f}%" dx="{shift}" y="14">{html(said)}'
        "</text>"
    )


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
    said = f"{_word(run)} {run.result.threshold:.4g}"
    drawn = histogram(f"{what}s by score", bins, line=line, said=said)
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


def _word(run: Run) -> str:
    return "cut" if _calibration(run) else "threshold"


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
