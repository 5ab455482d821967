"""Documents by name: set aside, too short, rejected; the first of them, and where the rest is."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.counted import many
from neardup.names import shortened
from neardup.outputs.html.page import card, prose
from neardup.outputs.html.safe import Html, html, name, place, wrapped
from neardup.outputs.html.table import Cell, Table, table_html
from neardup.outputs.report.run import Run

MOST = 50


def set_aside(run: Run) -> Html:
    if not run.counts.duplicates:
        return Html("")
    aside = run.result.duplicates.slice(0, MOST).to_pylist()
    rows: list[tuple[Cell, ...]] = [
        (
            name(row["id"], 60),
            name(row["kept_id"], 60),
            float(row["score"]),
            row["kind"] or "not classified",
            _reason(row["reason"]),
            place(row["file"], row["row"], run.result.path_of(row)),
        )
        for row in aside
    ]
    header = ("set aside", "for", "score", "kind", "why", "where")
    told = _first(len(rows), run.counts.duplicates, "set-aside document", "duplicates.parquet")
    folded = _folded(told, table_html(Table(header, rows)))
    return card("Set aside", prose(_by_reason(run)), folded, anchor="aside")


def _by_reason(run: Run) -> str:
    reasons = run.result.duplicates["reason"]
    if isinstance(reasons, pa.ChunkedArray):
        reasons = reasons.combine_chunks()
    found = sorted(
        ((row["counts"], row["values"]) for row in pc.value_counts(reasons).to_pylist()),
        key=lambda one: (-one[0], one[1]),
    )
    told = "; ".join(f"{count:,} {shortened(reason)}" for count, reason in found[:8])
    more = f"; {len(found) - 8:,} other reasons" if len(found) > 8 else ""
    return f"Why: {told}{more}."


def too_short(run: Run) -> Html:
    """Kept because nothing can be said of so little, and what methods said beside."""
    told = []
    decisions = run.result.decisions
    short = decisions.filter(pc.starts_with(decisions["reason"], "too_short"))
    if len(short):
        told.append(
            f"{many(len(short), 'document')} had too few words to be compared, and "
            f"{'was' if len(short) == 1 else 'were'} kept. Of short documents only equal ones are "
            "duplicates."
        )
    told += [_flag(*one) for one in run.info.get("flags", {}).items() if one[0] != "too_short"]
    if not told:
        return Html("")
    first = short.slice(0, MOST).to_pylist()
    rows = [
        (name(row["id"], 60), place(row["file"], row["row"], run.result.path_of(row)))
        for row in first
    ]
    table = table_html(Table(("document", "where"), rows))
    said = _first(len(rows), len(short), "short document", "decisions.parquet")
    folded = _folded(said, table) if rows else ""
    return card("Kept with a note", prose("\n\n".join(told)), folded, anchor="notes")


def _flag(flag: str, count: int) -> str:
    said = {
        "unreliable": "compared on little evidence",
        "undated": "without a date that can be read: dates were not compared",
        "mostly_numbers": "mostly numbers",
    }
    return f"{many(count, 'document')}: {said.get(flag, flag)}."


def rejected(run: Run) -> Html:
    if not run.counts.rejected:
        return card("Rejected", prose("Every document could be read."), anchor="rejected")
    decisions = run.result.decisions
    lost = decisions.filter(pc.equal(decisions["decision"], schema.REJECTED))
    rows: list[tuple[Cell, ...]] = [
        (
            place(row["file"], row["row"], run.result.path_of(row)),
            name(row["id"], 60),
            _reason(row["reason"], 300),
        )
        for row in lost.slice(0, MOST).to_pylist()
    ]
    told = _first(len(rows), run.counts.rejected, "rejected document", "rejected.jsonl")
    table = table_html(Table(("where", "id", "reason"), rows))
    told += " They are neither kept nor set aside."
    return card("Rejected", prose(told), table, anchor="rejected")


def _reason(reason: str, most: int = 100) -> Html:
    return wrapped(shortened(reason, most))


def _first(shown: int, every: int, what: str, where: str) -> str:
    if shown == every:
        return f"{many(every, what).capitalize()}."
    return f"The first {shown} of {every:,} {what}s; all of them are in {where}."


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{html(summary)}</summary>{content}</details>"
