"""The sections of an evaluation: what was asked, the measures, and what to take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from neardup.evaluation import charts
from neardup.evaluation.evaluation_report import Section
from neardup.evaluation.measurement import AtCut, Line, Measured
from neardup.evaluation.recommendation import Recommendation
from neardup.report.html_page import WARNING, Ranged, Table

PAIRS = (
    "Each row is one setting at one threshold. Precision: the share of predicted pairs that are "
    "duplicates, of those that gold says something about. Recall: the share of gold's duplicates "
    "that were predicted; those that never met as candidates count as missed. Behind a number "
    "stands its 95 % interval: Wilson's for precision and recall, that of a bootstrap over groups "
    "of documents for F1."
)
HARD = (
    "The same without pairs whose texts are equal after normalisation. Those are easy, every "
    "method finds them, and many of them hide what happens to the others."
)
BANDS = (
    "How alike gold's duplicates are, by Jaccard's measure of their three-word shingles, and how "
    "many of them are found at the threshold of the highest F1. What is missed in the lowest band "
    "shares almost no words: another kind of method may find it, no threshold will."
)
CLUSTERS = (
    "The clusters of the decisions against those of gold, document by document (B-cubed) and pair "
    "by pair, corrected for chance (adjusted Rand). Documents alone in gold are easy and many; the "
    "second F1 is that of the others."
)
RANKED = (
    "How well the scores alone put duplicates before others, whatever the threshold, down to the "
    "lowest one that was looked at: what lies below counts as not found."
)
KINDS = (
    "What gold calls the pairs, and how many of them each setting predicts at its highest F1: "
    "equal after normalisation, or near."
)


def summary_sections(
    about: dict[str, Any], measured: Sequence[Measured], found: Recommendation | None
) -> list[Section]:
    table = _pair_table(measured, found, hard=False)
    sections = [Section("Gold", _gold_text(about)), Section("Pairs", _notes(measured), table)]
    return [*sections, *_recommended(found)]


def all_sections(
    about: dict[str, Any], measured: Sequence[Measured], found: Recommendation | None
) -> list[Section]:
    best = [_best(one) for one in measured]
    return [
        Section("What was evaluated", _gold_text(about)),
        Section(
            "Precision, recall and F1",
            "\n\n".join(filter(None, [PAIRS, _notes(measured)])),
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
    said = [
        f"{about['documents']:,} documents"
        + (f", {about['rejected']:,} of them rejected" if about["rejected"] else "")
        + f"; gold is {gold['from']}.",
        f"{gold['positives']:,} pairs are duplicates, {gold['hard_positives']:,} of them hard "
        "(not equal after normalisation).",
    ]
    if gold["complete"]:
        said.append("Every pair that is not among them is no duplicate.")
    elif gold["negatives"]:
        said.append(
            f"{gold['negatives']:,} pairs are labelled as no duplicates; of others nothing is "
            "known, and they count neither way."
        )
    else:
        said.append("Of other pairs nothing is known: precision cannot be judged.")
    return " ".join(said) + "".join(f"\n\n{line}" for line in about["gold"]["notes"])


def _notes(measured: Sequence[Measured]) -> str:
    """What makes an answer less than whole is said aloud."""
    partial_ = [one.setting.name for one in measured if not one.complete]
    said = []
    if partial_:
        said.append(
            f"{WARNING}{', '.join(partial_)}: there were more pairs than max_pairs allows, so some "
            "were left out. Recall, B-cubed and the adjusted Rand index are too low; take a larger "
            "--max-pairs or a higher lowest threshold."
        )
    taught = [one.setting.name for one in measured if one.taught_here]
    if taught:
        said.append(
            f"{WARNING}{', '.join(taught)}: trained on labels of these documents. If they are the "
            "labels of this gold, its figures are too good; what to expect on other documents is "
            "what `neardup train --show MODEL` says."
        )
    return "\n\n".join(said)


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


def _best(one: Measured) -> int:
    """The cut of the highest F1, or where that is unknown the lowest: it finds the most."""
    return max(range(len(one.at)), key=lambda i: (one.at[i].every.f1 or 0, -i))


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
    """Of very many duplicates only some are looked at."""
    seen = sum(band.positives for band in measured[0].at[0].bands)
    return "" if seen == about["gold"]["positives"] else f" {seen:,} of them were drawn for this."


def _clusters(measured: Sequence[Measured], found: Recommendation | None) -> list[Section]:
    if all(at.b_cubed is None for one in measured for at in one.at):
        return []
    header = (
        "method",
        "threshold",
        "precision",
        "recall",
        "F1",
        "F1 without those alone",
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
