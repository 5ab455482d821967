"""What ran, on what, with which versions, for how long; and what to do next."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from neardup.names import shortened
from neardup.outputs.html.page import card, prose
from neardup.outputs.html.safe import Html, html, name
from neardup.outputs.html.table import Cell, Table, table_html
from neardup.outputs.report.pairs import Shown, compare_command
from neardup.outputs.report.run import Run

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
        "<h3>What was learned from the collection</h3>",
        _artefacts(run),
        "<h3>Versions</h3>",
        _versions(run),
    ]
    folded = f"<details><summary>Show the settings</summary>{''.join(made)}</details>"
    told = prose(
        f"Method {run.settings['method']}, order {shortened(str(run.settings['keep']))}. The same "
        "input with these settings gives the same decisions."
    )
    return card("Settings", told, folded, anchor="settings")


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
        else ("in memory", "cannot be read again")
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
    told = f"{run.info.get('candidates', 0):,} candidate pairs were scored."
    if memory := run.settings.get("memory"):
        told += f" The run was allowed {_size(memory)} of memory"
        peak = run.info.get("peak_memory")
        told += f"; the process had {_size(peak)} at most." if peak else "."
    table = table_html(Table(("stage", "time"), rows, marked=[len(rows) - 1]))
    return card("Time and memory", prose(told), table, anchor="timings")


def _example(pairs: list[Shown]) -> str:
    return next((pair.id for pair in pairs if compare_command(pair)), "ID")


def _size(count: float) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def further(pairs: list[Shown]) -> Html:
    """Commands to paste in the folder of the run."""
    told = ["In the folder of the run:"]
    example = next(filter(None, map(compare_command, pairs)), None)
    if example:
        told += ["Two documents side by side, with every measure:", f"$ {example}"]
    told += [
        "This report again, with the shares of a column of your documents:",
        "$ neardup report . --by COLUMN",
        "Let people judge pairs, for precision and recall:",
        "$ neardup label sample . -o sample.jsonl",
        "Why one document was kept or set aside, in Python:",
        f'$ import neardup\nprint(neardup.Result.load(".").explain({_example(pairs)!r}))',
    ]
    return card("Go further", prose("\n\n".join(told)), anchor="further")
