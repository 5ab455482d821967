"""The report of a run: one page for managers and engineers, put together from its sections."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.calibration import below_threshold, expected_of, origin_of
from neardup.report.html_page import (
    WARNING,
    Bin,
    Cell,
    Html,
    Piece,
    Share,
    Table,
    bar,
    card,
    folded,
    histogram,
    html,
    name,
    page,
    percent,
    prose,
    scale,
    stacked,
    table_html,
)
from neardup.report.run_lists import (
    Row,
    compare_command,
    duplicates,
    largest,
    largest_clusters,
    rejected,
    sizes,
    too_short,
    weakest,
    weakest_pairs,
)
from neardup.report.run_view import Run, by_kind, by_source, column_values, read_texts
from neardup.runs.result import Result
from neardup.schema import Array
from neardup.wording import many, shortened

INPUTS_NAMED = 3


def title(run: Run) -> str:
    """The title of the report, with the names of the first inputs."""
    named = [entry["file"] for entry in run.info.get("inputs") or [] if entry]
    first = ", ".join(shortened(file, 60) for file in named[:INPUTS_NAMED])
    more = len(named) - INPUTS_NAMED
    others = f" and {more:,} more" if more > 0 else ""
    return f"Near-duplicates in {first or 'documents in memory'}{others}"


def top(run: Run, title: str) -> Html:
    """The counts in a sentence and as tiles, and what they mean."""
    counts, read = run.counts, run.info["counts"]["documents"]
    together = counts.kept + counts.duplicates + counts.rejected
    share = f" ({percent(Share(counts.duplicates, counts.documents))})" if counts.documents else ""
    check = f"THE COUNTS DO NOT ADD UP to the {read:,} documents that the run read"
    if together == counts.documents == read:
        check = "the counts add up" if counts.documents else "there was nothing to compare"
    lead = (
        f"{many(counts.documents, 'document')}: {counts.kept:,} kept, "
        f"{many(counts.duplicates, 'duplicate')}{share}, {counts.rejected:,} rejected; {check}."
    )
    tiles = "".join(
        f"<div><dt>{word}</dt><dd data-count={word}>{getattr(counts, word):,}</dd></div>"
        for word in ("documents", "kept", "duplicates", "rejected", "clusters", "pairs")
    )
    first = (
        '<p>Look at the <a href="#weakest">weakest pairs</a> first: if they are right, the other '
        "duplicates most likely are.</p>"
    ) * bool(counts.duplicates)
    return Html(
        f'<h1>{html(title)}</h1><p class="lead" id="headline">{html(lead)}</p>'
        f'<dl class="tiles">{tiles}</dl>{prose(_meaning(run))}{first}'
    )


def _meaning(run: Run) -> str:
    settings, counts = run.settings, run.counts
    written = "Nothing was removed: the duplicates below are only listed."
    if (names := run.info.get("kept_files")) and "annotated" not in run.info:
        folders = Counter(name.partition("/")[0] for name in names if "/" in name)
        counted = [f"{name}/ ({many(count, 'file')})" for name, count in folders.items()]
        files = ", ".join([name for name in names if "/" not in name] + counted)
        written = f"The kept documents are in {files}; the input was not changed."
    text = [
        f"The method {settings['method']} compared every document with all that could be similar. "
        f"A document is a duplicate only if it matches a document that is kept. {written}"
    ]
    if run.info.get("kept_fault"):
        text.append(f"{WARNING}{run.info['kept_fault']}")
    damage = run.info.get("kept_damage")
    text += [f"{WARNING}{sentence}." for sentence in damage] if isinstance(damage, list) else []
    if counts.documents and counts.rejected == counts.documents:
        text.append(f"{WARNING}No document could be read. The reasons are below.")
    if settings.get("limit") == counts.documents:
        text.append(
            f"{WARNING}Only the first {counts.documents:,} documents were read: that is the limit."
        )
    if not run.result.pairs_complete:
        text.append(
            "Not all pairs were listed: each duplicate is listed with its kept document only. The "
            "decisions do not depend on that."
        )
    return "\n\n".join(text)


def accounts(run: Run) -> Html:
    """Each document once: the table adds up to its last row."""
    counts = run.counts
    kept = run.result.decisions["reason"].filter(pa.array(run.result.keep_mask()))
    leading, short = (  # reasons may have a note behind them
        int(pc.sum(pc.starts_with(kept, word)).as_py() or 0)
        for word in ("representative", "too_short")
    )
    rows = [
        ("kept, alone", counts.kept - leading - short, "alone", "it has no duplicate"),
        ("kept, with duplicates", leading, "leading", "it is kept in the place of its duplicates"),
        ("kept, too short", short, "short", "too few different words to compare"),
        ("duplicate", counts.duplicates, "aside", "it matches a kept document"),
        ("rejected", counts.rejected, "rejected", "it could not be read"),
    ]
    bar_title = f"{counts.documents:,} documents by decision"
    pieces = [Piece(label, count, css) for label, count, css, _ in rows]
    table = Table(
        ("decision", "documents", "share", "", "meaning"),
        [
            (
                Html(f'<span class="swatch {css}"></span>{label}'),
                count,
                Share(count, counts.documents),
                bar(count, counts.documents, css),
                meaning,
            )
            for label, count, css, meaning in rows
        ]
        + [("all", counts.documents, Share(counts.documents, counts.documents), "", "")],
        marked=[len(rows)],
    )
    return card(
        "Where every document went",
        stacked(bar_title, pieces),
        table_html(table),
        anchor="accounts",
    )


STEPS = 20  # bins from 0 to 1; those below the first score are left out


def scores(run: Run) -> Html:
    """The scores of all verified pairs where they are listed, else of those that decided."""
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
    """The bins of the histogram, from the lowest score or the threshold on, and the number of the
    first. Scores of exactly 1 have a bin of their own."""
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
    text.append(expected_of(run.info))
    text.append(below_threshold(int(np.count_nonzero(score < threshold)), calibration))
    return " ".join(filter(None, text))


LONGEST_VALUE = 120
_json = json.JSONEncoder(ensure_ascii=False, default=str).encode
MOST_ROWS = 80


def settings(run: Run) -> Html:
    """All settings as they were resolved, those of the method by their path."""
    rows = [
        (key, shortened(value if isinstance(value, str) else _json(value), LONGEST_VALUE))
        for key, value in flat(run.settings)
        if key.partition(".")[0] != "signature"
    ][:MOST_ROWS]
    artefacts = run.info.get("artefacts", {})
    digests = [(name(key, 40), table.get("digest", "")) for key, table in artefacts.items()]
    digests.append((Html("signature"), (run.settings.get("signature") or {}).get("digest")))
    learned = [(key, Html(f"<code>{html(str(digest))}</code>")) for key, digest in digests]
    versions = {"neardup": run.info.get("neardup"), **run.info.get("versions", {})}
    details = [
        "<h3>Settings as resolved</h3>",
        table_html(Table(("setting", "value"), rows)),
        "<h3>Inputs</h3>",
        _inputs(run),
        "<h3>Tables learned from the collection</h3>",
        table_html(Table(("artefact", "digest"), learned)),
        "<h3>Versions</h3>",
        table_html(Table(("package", "version"), [(k, str(v)) for k, v in versions.items()])),
    ]
    text = prose(
        f"Method {run.settings['method']}, order {shortened(str(run.settings['keep']))}. The same "
        "input with these settings gives the same decisions."
    )
    return card("Settings", text, folded("Show the settings", *details), anchor="settings")


def flat(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _inputs(run: Run) -> str:
    inputs = run.info.get("inputs") or []
    rows: list[tuple[Cell, ...]] = [
        (name(one["source"], 40), name(one["file"]))
        if one
        else ("in memory", "it cannot be read again")
        for one in inputs[:MOST_ROWS]
    ]
    rows += [("reference", name(str(one))) for one in (run.info.get("against") or [])[:MOST_ROWS]]
    more = len(inputs) - MOST_ROWS
    rest = f"<p>… and {more:,} more, in run.json.</p>" if more > 0 else ""
    return table_html(Table(("source", "input"), rows)) + rest


def timings(run: Run) -> Html:
    """The only part that differs from one run to the next."""
    found = run.info.get("timings", {})
    rows: list[tuple[Cell, ...]] = [(key, f"{value:,.1f} s") for key, value in found.items()]
    total = sum(found.values())
    rows.append(("together", f"{total:,.1f} s"))
    text = f"{run.info.get('candidates', 0):,} candidate pairs were scored."
    if memory := run.settings.get("memory"):
        text += f" The run was allowed {_size(memory)} of memory"
        peak = run.info.get("peak_memory")
        text += f"; the process had {_size(peak)} at most." if peak else "."
    table = table_html(Table(("stage", "time"), rows, marked=[len(rows) - 1]))
    return card("Time and memory", prose(text), table, anchor="timings")


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def further(pairs: list[Row]) -> Html:
    """Commands to paste in the folder of the run."""
    text, id = ["In the folder of the run:"], "ID"
    if example := next(filter(compare_command, pairs), None):
        text.append("Show two documents side by side, with every measure:")
        text.append(f"$ {compare_command(example)}")
        id = example["id"]
    text += [
        "Write this report again, with the shares by a column of your documents:",
        "$ neardup report . --by COLUMN",
        "Let people judge pairs, for precision and recall:",
        "$ neardup label sample . -o sample.jsonl",
        "Ask in Python why a document was kept or is a duplicate:",
        f'$ import neardup\nprint(neardup.Result.load(".").explain({id!r}))',
    ]
    return card("Go further", prose("\n\n".join(text)), anchor="further")


REPORT = "report.html"
# The anchor and the name of each section, in the order of the sections in ``run_page``.
PLACES = {
    "accounts": "Counts",
    "sources": "Sources",
    "kinds": "Kinds",
    "scores": "Scores",
    "sizes": "Cluster sizes",
    "largest": "Largest clusters",
    "weakest": "Weakest pairs",
    "aside": "Duplicates",
    "notes": "Notes",
    "rejected": "Rejected",
    "settings": "Settings",
    "timings": "Time",
    "further": "Go further",
}


def report_page(result: Result, by: str | None = None) -> str:
    """``by``: a column of the documents; the shares of its values are listed."""
    groups = column_values(result, by) if by else None
    return run_page(Run(result, result.info, by, groups, references=True))


def run_page(run: Run) -> str:
    clusters, pairs = largest(run), weakest(run)
    weakest_of = [one.weakest for one in clusters if one.weakest]
    ids = {pair[of]: None for pair in [*weakest_of, *pairs] for of in ("kept_id", "id")}
    members = {row["id"]: None for one in clusters for row in one.members}
    texts = read_texts(run, list(ids), list(members))
    parts = [
        accounts(run),
        by_source(run),
        by_kind(run),
        scores(run),
        sizes(run),
        largest_clusters(run, clusters, texts),
        weakest_pairs(run, pairs, texts),
        duplicates(run),
        too_short(run),
        rejected(run),
        settings(run),
        timings(run),
        further(pairs),
    ]
    links = " ".join(
        f'<a href="#{anchor}">{name}</a>'
        for (anchor, name), part in zip(PLACES.items(), parts, strict=True)
        if part
    )
    contents, called = f'<nav aria-label="Parts of this report">{links}</nav>', title(run)
    return page(called, [top(run, called), contents, *parts], "side_by_side", "run_report")
