"""The page of traced documents: each text beside its sources, every source in its own colour."""

from __future__ import annotations

from collections.abc import Sequence

from neardup.passages.traces import Part, Trace
from neardup.report.html_page import Cell, Html, Table, card, html, name, page, prose, table_html

COLOURS = 7
LONGEST = 200_000  # characters of a text that are shown


def trace_page(traces: Sequence[Trace]) -> str:
    parts = [Html("<h1>Where the passages come from</h1>"), *map(traced_document, traces)]
    return page("Where the passages come from", parts, "passages")


def traced_document(trace: Trace) -> Html:
    sources = trace.sources()
    number = {source: i for i, (source, _, _) in enumerate(sources)}
    rows: list[list[Cell]] = [
        [f"{i + 1}", source, count, f"{100 * share:.1f} %"]
        for i, (source, count, share) in enumerate(sources)
    ]
    table = table_html(Table(("", "source", "passages", "share"), rows)) if rows else Html("")
    text = Html(f"<div>{_marked(trace, number)}</div>")
    quoted = Html("".join(_source(part, number[part.source]) for part in trace.parts))
    beside = Html(f"<div class=traced>{text}<div>{quoted}</div></div>")
    return card(trace.id, prose(f"{trace.sentence()}.", "lead"), table, beside)


def _marked(trace: Trace, number: dict[str, int]) -> Html:
    """The text with its parts marked; where parts overlap, the first one is."""
    out, at = [], 0
    for part in trace.parts:
        begin = max(part.begin, at)
        if begin >= part.end or part.end > LONGEST:
            continue
        out.append(html(trace.text[at:begin]))
        out.append(_mark(trace.text[begin : part.end], number[part.source]))
        at = part.end
    rest = trace.text[at : max(at, LONGEST)]
    more = "…" if len(trace.text) > max(at, LONGEST) else ""
    return Html("".join([*out, html(rest + more)]))


def _mark(text: str, number: int) -> Html:
    return Html(f"<mark class=s{number % COLOURS}>{html(text)}<sup>{number + 1}</sup></mark>")


def _source(part: Part, number: int) -> Html:
    also = f" · also in {part.also_in:,} more" if part.also_in else ""
    return Html(
        f"<div class=place><small>{number + 1} · {name(part.source)} · characters "
        f"{part.source_begin:,} to {part.source_end:,} · {part.similarity:.0%} of the words"
        f"{also}</small>{_mark(part.text, number)}</div>"
    )
