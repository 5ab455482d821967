"""The first sentence, the numbers and the bar: what a manager reads."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from neardup.counted import many
from neardup.names import shortened
from neardup.outputs.html.page import WARNING, card, prose
from neardup.outputs.html.safe import Html, html
from neardup.outputs.html.table import Share, Table, percent, table_html
from neardup.outputs.report.bars import Piece, bar, stacked
from neardup.outputs.report.run import Run

INPUTS_NAMED = 3


def title(run: Run) -> str:
    return "Near-duplicates in " + inputs(run)


def inputs(run: Run) -> str:
    """The names that the user gave, the first of them."""
    given = [entry["file"] for entry in run.info.get("inputs") or [] if entry]
    if not given:
        return "documents in memory"
    named = ", ".join(shortened(one, 60) for one in given[:INPUTS_NAMED])
    more = len(given) - INPUTS_NAMED
    return f"{named} and {more:,} more" if more > 0 else named


def headline(run: Run) -> str:
    counts = run.counts
    share = percent(Share(counts.duplicates, counts.documents))
    part = f" ({share})" if counts.documents else ""
    return (
        f"{many(counts.documents, 'document')}: {counts.kept:,} kept, {counts.duplicates:,} set "
        f"aside as duplicates{part}, {counts.rejected:,} rejected; {_sum(run)}."
    )


def _sum(run: Run) -> str:
    counts = run.counts
    if not counts.documents:
        return "there was nothing to compare"
    together = counts.kept + counts.duplicates + counts.rejected
    read = run.info["counts"]["documents"]
    if together == counts.documents == read:
        return "they add up"
    return f"THEY DO NOT ADD UP to the {read:,} documents that the run has read"


def top(run: Run) -> Html:
    lead = f'<p class="lead" id="headline">{html(headline(run))}</p>'
    return Html(f"<h1>{html(title(run))}</h1>{lead}{_tiles(run)}{prose(_meaning(run))}")


def _tiles(run: Run) -> str:
    counts = run.counts
    shown = [
        ("documents", counts.documents),
        ("kept", counts.kept),
        ("set aside", counts.duplicates),
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
    told = [
        f"Every document was compared with every other that could be like it, by the method "
        f"{settings['method']}. A document is set aside only for one that is kept and that it "
        "matches itself. " + _what_was_written(run)
    ]
    if run.info.get("kept_fault"):
        told.append(f"{WARNING}{run.info['kept_fault']}")
    if counts.documents and counts.rejected == counts.documents:
        told.append(f"{WARNING}No document could be read. The reasons are below.")
    if settings.get("limit") == counts.documents:
        told.append(
            f"{WARNING}Only the first {counts.documents:,} documents were read: that is the limit."
        )
    if not run.result.pairs_complete:
        told.append(
            "Not all pairs were listed: each set-aside document stands with the one it was set "
            "aside for. The decisions are not touched by that."
        )
    return "\n\n".join(told)


def _what_was_written(run: Run) -> str:
    if run.removed:
        files = ", ".join(run.info["kept_files"])
        return f"The kept documents are in {files}; the input was not changed."
    return "Nothing was removed: this is what would be set aside."


def accounts(run: Run) -> Html:
    """Each document once: the table adds up to its last row."""
    counts = run.counts
    kept = run.result.decisions["reason"].filter(pa.array(run.result.keep_mask()))
    leading, short = (_beginning(kept, word) for word in ("representative", "too_short"))
    rows = [
        ("kept, alone", counts.kept - leading - short, "alone", "no document was set aside for it"),
        ("kept, for others", leading, "leading", "others were set aside for it"),
        ("kept, too short", short, "short", "too few words to compare; kept to be safe"),
        ("set aside", counts.duplicates, "aside", "a duplicate of a kept document"),
        ("rejected", counts.rejected, "rejected", "could not be read"),
    ]
    bar_title = f"{counts.documents:,} documents by what was decided"
    pieces = [Piece(label, count, css) for label, count, css, _ in rows]
    table = Table(
        ("decision", "documents", "share", "", "what it means"),
        [
            (
                Html(f'<span class="swatch {css}"></span>{label}'),
                count,
                Share(count, counts.documents),
                bar(count, counts.documents, css),
                said,
            )
            for label, count, css, said in rows
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
