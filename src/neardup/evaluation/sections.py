"""The sections of an evaluation: gold, the measures of every setting, and a recommendation.

``summary_sections`` is for a terminal, ``all_sections`` for the report; the figures are in
``charts.py``.

The sections are plain data: text, figures and tables. A terminal prints them
(``cli/evaluate.py``), and here they become one HTML file that works offline and has no script, also
for experiments and models. What comes from documents, labels or settings is escaped in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from neardup.evaluation import charts
from neardup.evaluation.measurement import AtCut, Line, Measured
from neardup.evaluation.recommendation import Recommendation, doubts
from neardup.files import make_folder, whole_file, write_text
from neardup.report.html_page import (
    WARNING,
    Html,
    Ranged,
    Table,
    card,
    html,
    page,
    prose,
    table_html,
)
from neardup.wording import many

DATA, REPORT = "evaluation.json", "report.html"


@dataclass(frozen=True)
class Section:
    """``text`` is plain, with blank lines between paragraphs; one that begins with "$ " is a
    command to paste, one that begins with WARNING is highlighted. ``figure`` draws the figure of
    the section, and is called only for a page."""

    title: str
    text: str = ""
    table: Table | None = None
    figure: Callable[[], Html] | None = None


def write_report(path: Path, title: str, sections: Sequence[Section], lead: str = "") -> None:
    write_text(path, html_page(title, sections, lead))


class Reported(Protocol):
    """What an evaluation of any sort gives."""

    def data(self) -> dict[str, Any]: ...

    def sections(self) -> list[Section]: ...


def save_report(found: Reported, folder: Path, title: str = "Evaluation") -> None:
    """``report.html`` and, when that is whole, ``evaluation.json``."""
    make_folder(folder)
    lead = getattr(found, "lead", str)()
    write_report(folder / REPORT, title, found.sections(), lead)
    with whole_file(folder / DATA) as part:
        part.write_text(json.dumps(found.data(), indent=2, ensure_ascii=False) + "\n", "utf-8")


def html_page(title: str, sections: Sequence[Section], lead: str = "") -> str:
    head = f"<h1>{html(title)}</h1>{prose(lead, 'lead')}"
    return page(title, [head, *map(_section, sections)])


def _section(section: Section) -> Html:
    figure = section.figure() if section.figure else ""
    table = table_html(section.table) if section.table else ""
    return card(section.title, prose(section.text), figure, table)


PAIRS = (
    "Each row is one setting at one threshold. Precision: the share of the predicted pairs with a "
    "label in gold that are duplicates. Recall: the share of gold's duplicates that were "
    "predicted; pairs that were never candidates count as missed. Each number is followed by its "
    "95 % interval: Wilson's for precision and recall, that of a bootstrap over groups of "
    "documents for F1."
)
HARD = (
    "The same measures without pairs whose texts are equal after normalisation. Every method finds "
    "those, and many of them hide how well the other pairs are found."
)
BANDS = (
    "How similar gold's duplicates are, by the Jaccard measure of their three-word shingles, and "
    "how many of them are found at the threshold of the highest F1. Pairs that are missed in the "
    "lowest band share almost no words: a different method may find them, a different threshold "
    "will not."
)
CLUSTERS = (
    "The clusters of the decisions against those of gold, document by document (B-cubed) and pair "
    "by pair, corrected for chance (adjusted Rand). Documents without a duplicate in gold are many "
    "and easy; the second F1 leaves them out."
)
RANKED = (
    "How well the scores alone rank duplicates before other pairs, down to the lowest threshold "
    "that was measured: pairs below it count as not found."
)
KINDS = (
    "The labels of gold, and how many pairs with each label every setting predicts at its highest "
    "F1: with texts that are equal after normalisation, or only similar."
)


def summary_sections(
    about: dict[str, Any], measured: Sequence[Measured], found: Recommendation | None
) -> list[Section]:
    table = _pair_table(measured, found, hard=False)
    sections = [
        Section("Gold", _gold_text(about)),
        Section("Pairs", _notes(measured, found), table),
    ]
    return [*sections, *_recommended(found)]


def all_sections(
    about: dict[str, Any], measured: Sequence[Measured], found: Recommendation | None
) -> list[Section]:
    best = [best_cut(one) for one in measured]
    return [
        Section("What was evaluated", _gold_text(about)),
        Section(
            "Precision, recall and F1",
            "\n\n".join(filter(None, [PAIRS, _notes(measured, found)])),
            _pair_table(measured, found, hard=False),
            partial(charts.measures, measured) if _swept(measured) else None,
        ),
        Section(
            "Precision against recall", RANKED, _ranked(measured), partial(charts.curve, measured)
        ),
        Section("Hard pairs", HARD, _pair_table(measured, found, hard=True)),
        Section(
            "Recall by similarity",
            BANDS + _drawn(about, measured),
            _band_table(measured, best),
            partial(charts.bands, measured, best),
        ),
        *_clusters(measured, found),
        Section("By label", KINDS, _kind_table(measured, best)),
        *_recommended(found),
    ]


def _gold_text(about: dict[str, Any]) -> str:
    gold = about["gold"]
    text = [
        f"{about['documents']:,} documents"
        + (f", {about['rejected']:,} of them rejected" if about["rejected"] else "")
        + f"; gold is {gold['from']}.",
        f"{gold['positives']:,} pairs are duplicates, {gold['hard_positives']:,} of them hard "
        "(not equal after normalisation).",
    ]
    if gold["complete"]:
        text.append("Every other pair is not a duplicate.")
    elif gold["negatives"]:
        text.append(
            f"Labelled as not duplicates: {many(gold['negatives'], 'pair')}. Other pairs are "
            "unknown and left out of every figure."
        )
    else:
        text.append("Other pairs are unknown, so precision cannot be measured.")
    return " ".join(text) + "".join(f"\n\n{line}" for line in about["gold"]["notes"])


def _notes(measured: Sequence[Measured], found: Recommendation | None) -> str:
    """Warnings about settings whose figures are biased."""
    partial_ = [one.setting.name for one in measured if not one.complete]
    text = []
    if partial_:
        text.append(
            f"{WARNING}{', '.join(partial_)}: there were more pairs than max_pairs allows, so some "
            "were left out. Recall, B-cubed and the adjusted Rand index are too low; use a larger "
            "--max-pairs or a higher lowest threshold."
        )
    taught = [one.setting.name for one in measured if one.taught_here]
    if taught:
        text.append(
            f"{WARNING}{', '.join(taught)}: trained on labels of these documents. If these are the "
            "labels of this gold, the figures are too good; `neardup train --show MODEL` reports "
            "what to expect on other documents."
        )
    if len(measured) > 1:
        cuts = [best_cut(one) for one in measured]
        text += [
            WARNING + doubt for doubt in doubts(measured, cuts, found.chosen if found else None)
        ]
    return "\n\n".join(text)


def _pair_table(measured: Sequence[Measured], found: Recommendation | None, *, hard: bool) -> Table:
    header = ["method", "threshold", "pairs", "precision", "recall", "F1"]
    unlabelled = any(at.every.counts.unlabelled for one in measured for at in one.at)
    if unlabelled:
        header.insert(3, "unlabelled")
    rows: list[list[Any]] = []
    marked = []
    for one in measured:
        for at in one.at:
            line = at.hard if hard else at.every
            if _is_chosen(found, at):
                marked.append(len(rows))
            pairs = line.counts.tp + line.counts.fp + line.counts.unlabelled
            rows.append(
                [one.setting.name, str(at.cut), pairs]
                + ([line.counts.unlabelled] if unlabelled else [])
                + _measures(line)
            )
    return Table(header, rows, marked)


def _swept(measured: Sequence[Measured]) -> bool:
    return any(len(one.at) > 1 for one in measured)


def _measures(line: Line) -> list[Ranged]:
    return [
        Ranged(line.precision, line.precision_interval),
        Ranged(line.recall, line.recall_interval),
        Ranged(line.f1, line.f1_interval),
    ]


def _is_chosen(found: Recommendation | None, at: AtCut) -> bool:
    return bool(found and found.chosen and found.chosen.at is at)


def best_cut(one: Measured) -> int:
    """The threshold of the highest F1, the same that is recommended, or the lowest one if that is
    unknown: it finds the most."""
    known = [i for i, at in enumerate(one.at) if at.every.f1]
    return max(known, key=lambda i: (*one.at[i].every.merit, i), default=0)


def _ranked(measured: Sequence[Measured]) -> Table:
    rows = [
        (
            one.setting.name,
            f"{one.setting.cuts[0].threshold:g}",
            one.average_precision,
            one.average_precision_hard,
        )
        for one in measured
    ]
    return Table(("method", "down to", "average precision", "of hard pairs"), rows)


def _band_table(measured: Sequence[Measured], best: Sequence[int]) -> Table:
    bands = measured[0].at[best[0]].bands
    header = ["method", "threshold", *(charts.band_name(band) for band in bands)]
    exist: list[Any] = ["", "duplicates", *(band.positives for band in bands)]
    rows = [
        [one.setting.name, str(one.at[i].cut), *(band.recall for band in one.at[i].bands)]
        for one, i in zip(measured, best, strict=True)
    ]
    return Table(header, [exist, *rows])


def _drawn(about: dict[str, Any], measured: Sequence[Measured]) -> str:
    """A note where only a sample of very many duplicates was measured."""
    seen = sum(band.positives for band in measured[0].at[0].bands)
    return (
        ""
        if seen == about["gold"]["positives"]
        else f" A sample of {seen:,} of them was drawn for this."
    )


def _clusters(measured: Sequence[Measured], found: Recommendation | None) -> list[Section]:
    if all(at.b_cubed is None for one in measured for at in one.at):
        return []
    header = (
        "method",
        "threshold",
        "precision",
        "recall",
        "F1",
        "F1 without single documents",
        "adj. Rand",
    )
    rows: list[list[Any]] = []
    marked = []
    for one in measured:
        for at in one.at:
            if _is_chosen(found, at):
                marked.append(len(rows))
            every, several = (at.b_cubed.every, at.b_cubed.several) if at.b_cubed else (None, None)
            rows.append(
                [
                    one.setting.name,
                    str(at.cut),
                    every and every.precision,
                    every and every.recall,
                    every and every.f1,
                    several and several.f1,
                    at.adjusted_rand,
                ]
            )
    return [Section("Clusters", CLUSTERS, Table(header, rows, marked))]


def _kind_table(measured: Sequence[Measured], best: Sequence[int]) -> Table:
    header = ("method", "threshold", "gold's label", "equal text", "near", "not predicted")
    rows = [
        (
            one.setting.name,
            str(one.at[i].cut),
            kind.label or "(none)",
            kind.equal,
            kind.near,
            kind.missed,
        )
        for one, i in zip(measured, best, strict=True)
        for kind in one.at[i].kinds
    ]
    return Table(header, rows)


def _recommended(found: Recommendation | None) -> list[Section]:
    if found is None:
        return []
    text = "\n\n".join([found.text, *(WARNING + warning for warning in found.warnings)])
    if found.command:
        text += f"\n\n$ {found.command}"
    return [Section("Recommendation", text)]
