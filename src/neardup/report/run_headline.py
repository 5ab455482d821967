"""The first and the last sections of a run report: the counts; settings, times and next steps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.report.bars import Piece, bar, stacked
from neardup.report.html_page import (
    WARNING,
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
from neardup.report.run_lists import Shown, compare_command
from neardup.report.run_view import Run
from neardup.wording import many, shortened

INPUTS_NAMED = 3


def title(run: Run) -> str:
    return "Near-duplicates in " + inputs(run)


def inputs(run: Run) -> str:
    """The names that the user gave, the first of them."""
    named = [entry["file"] for entry in run.info.get("inputs") or [] if entry]
    if not named:
        return "documents in memory"
    first = ", ".join(shortened(file, 60) for file in named[:INPUTS_NAMED])
    more = len(named) - INPUTS_NAMED
    return f"{first} and {more:,} more" if more > 0 else first


def headline(run: Run) -> str:
    counts = run.counts
    share = percent(Share(counts.duplicates, counts.documents))
    part = f" ({share})" if counts.documents else ""
    return (
        f"{many(counts.documents, 'document')}: {counts.kept:,} kept, "
        f"{many(counts.duplicates, 'duplicate')}{part}, {counts.rejected:,} rejected; {_sum(run)}."
    )


def _sum(run: Run) -> str:
    counts = run.counts
    if not counts.documents:
        return "there was nothing to compare"
    together = counts.kept + counts.duplicates + counts.rejected
    read = run.info["counts"]["documents"]
    if together == counts.documents == read:
        return "the counts add up"
    return f"THE COUNTS DO NOT ADD UP to the {read:,} documents that the run read"


def top(run: Run) -> Html:
    lead = f'<p class="lead" id="headline">{html(headline(run))}</p>'
    return Html(f"<h1>{html(title(run))}</h1>{lead}{_tiles(run)}{prose(_meaning(run))}")


def _tiles(run: Run) -> str:
    counts = run.counts
    shown = [
        ("documents", counts.documents),
        ("kept", counts.kept),
        ("duplicates", counts.duplicates),
        ("rejected", counts.rejected),
        ("clusters", counts.clusters),
        ("pairs", counts.pairs),
    ]
    tiles = "".join(
        f"<div><dt>{word}</dt><dd data-count={word.replace(' ', '-')}>{count:,}</dd></div>"
        for word, count in shown
    )
    return f'<dl class="tiles">{tiles}</dl>'


def _meaning(run: Run) -> str:
    settings, counts = run.settings, run.counts
    text = [
        f"The method {settings['method']} compared every document with all that could be similar. "
        "A document is a duplicate only if it matches a document that is kept. "
        + _what_was_written(run)
    ]
    if run.info.get("kept_fault"):
        text.append(f"{WARNING}{run.info['kept_fault']}")
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


def _what_was_written(run: Run) -> str:
    if run.removed:
        files = ", ".join(_outputs(run.info["kept_files"]))
        return f"The kept documents are in {files}; the input was not changed."
    return "Nothing was removed: the duplicates below are only listed."


def _outputs(names: Sequence[str]) -> list[str]:
    """The files of a folder are counted."""
    folders = Counter(name.partition("/")[0] for name in names if "/" in name)
    counted = [f"{name}/ ({many(count, 'file')})" for name, count in folders.items()]
    return [name for name in names if "/" not in name] + counted


def accounts(run: Run) -> Html:
    """Each document once: the table adds up to its last row."""
    counts = run.counts
    kept = run.result.decisions["reason"].filter(pa.array(run.result.keep_mask()))
    leading, short = (_beginning(kept, word) for word in ("representative", "too_short"))
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


def _beginning(reasons: pa.ChunkedArray, word: str) -> int:
    """Reasons may have a note behind them."""
    return int(pc.sum(pc.starts_with(reasons, word)).as_py() or 0)


LONGEST_VALUE = 120
MOST_ROWS = 80


def settings(run: Run) -> Html:
    """All settings as they were resolved, those of the method by their path."""
    found = [(key, value) for key, value in run.settings.items() if key != "signature"]
    rows = [(key, _value(value)) for key, value in flat(dict(found))][:MOST_ROWS]
    made = [
        "<h3>Settings as resolved</h3>",
        table_html(Table(("setting", "value"), rows)),
        "<h3>Inputs</h3>",
        _inputs(run),
        "<h3>Tables learned from the collection</h3>",
        _artefacts(run),
        "<h3>Versions</h3>",
        _versions(run),
    ]
    folded = f"<details><summary>Show the settings</summary>{''.join(made)}</details>"
    text = prose(
        f"Method {run.settings['method']}, order {shortened(str(run.settings['keep']))}. The same "
        "input with these settings gives the same decisions."
    )
    return card("Settings", text, folded, anchor="settings")


def flat(values: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _value(value: Any) -> str:
    if isinstance(value, str):
        return shortened(value, LONGEST_VALUE)
    return shortened(json.dumps(value, ensure_ascii=False, default=str), LONGEST_VALUE)


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


def _artefacts(run: Run) -> str:
    rows = [
        (name(key, 40), Html(f"<code>{html(str(made.get('digest', '')))}</code>"))
        for key, made in run.info.get("artefacts", {}).items()
    ]
    signature = run.settings.get("signature") or {}
    rows.append((Html("signature"), Html(f"<code>{html(str(signature.get('digest')))}</code>")))
    return table_html(Table(("artefact", "digest"), rows))


def _versions(run: Run) -> str:
    versions = {"neardup": run.info.get("neardup"), **run.info.get("versions", {})}
    return table_html(Table(("package", "version"), [(k, str(v)) for k, v in versions.items()]))


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


def _example(pairs: list[Shown]) -> str:
    return next((pair.id for pair in pairs if compare_command(pair)), "ID")


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def further(pairs: list[Shown]) -> Html:
    """Commands to paste in the folder of the run."""
    text = ["In the folder of the run:"]
    example = next(filter(None, map(compare_command, pairs)), None)
    if example:
        text += ["Show two documents side by side, with every measure:", f"$ {example}"]
    text += [
        "Write this report again, with the shares by a column of your documents:",
        "$ neardup report . --by COLUMN",
        "Let people judge pairs, for precision and recall:",
        "$ neardup label sample . -o sample.jsonl",
        "Ask in Python why a document was kept or is a duplicate:",
        f'$ import neardup\nprint(neardup.Result.load(".").explain({_example(pairs)!r}))',
    ]
    return card("Go further", prose("\n\n".join(text)), anchor="further")
