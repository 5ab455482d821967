"""``neardup trace``: which passages of a document come from where."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json
from neardup.cli.passage_options import (
    SHOWN,
    gap_option,
    reading_options,
    refuse_documents,
    similarity_option,
    traced_documents,
    words_option,
)
from neardup.files import check_parent, write_text
from neardup.wording import many, shortened

PARTS = 20


@click.command(
    short_help="Show which passages of a document come from where.",
    epilog="""\b
Examples:
  neardup trace essay.txt --against sources/
  neardup trace essays/ --against library.jsonl --html traces.html
  neardup trace essay.txt --against library.db""",
)
@click.argument("inputs", nargs=-1, metavar="DOCUMENT...")
@click.option(
    "--against",
    metavar="COLLECTION|INDEX",
    multiple=True,
    required=True,
    help="Documents that may be the sources: files or folders, repeatable; or one index (`neardup "
    "index build STORE INPUT… --passages`), which answers in milliseconds.",
)
@words_option(8)
@gap_option
@similarity_option
@click.option(
    "--html",
    "page",
    metavar="FILE",
    type=shared.PATH,
    help="Also write an HTML page: each text beside its sources, in colours.",
)
@reading_options
def trace(
    inputs: tuple[str, ...], against: tuple[str, ...], page: Path | None, **options: Any
) -> None:
    """Show which passages of each DOCUMENT stand in COLLECTION, where in both, and how much of the
    document they are.

    Copies with small edits count. DOCUMENT and COLLECTION are whatever `neardup dedup` reads: text
    files, folders of text, HTML, PDF and office files, books (.epub), JSON Lines, tables.
    --text and --id name columns of COLLECTION; a DOCUMENT that lacks them has text and id.
    """
    if page:
        check_parent(page)
    if (note := _beside(inputs, against)) and not options["quiet"]:
        echo(note, err=True)
    traces = traced_documents(inputs, against, options, min_words=8)
    if page:
        from neardup.passages.trace_page import trace_page

        write_text(page, trace_page(traces))
    if options["as_json"]:
        rejected = [{"where": lost.where, "reason": lost.reason} for lost in traces.rejected]
        shown = {"documents": [each.to_dict() for each in traces], "rejected": rejected}
        show_json({**shown, "unread": len(traces.unread)})
    elif not options["quiet"]:
        for each in traces:
            _show(each)
        for lost in traces.rejected[:SHOWN]:
            echo(f"{lost.where} was not traced: {lost.reason}.")
        if not len(traces) and not traces.rejected:
            echo(f"{', '.join(inputs)}: no document, so nothing was traced.")
        if traces.unread:
            count = many(len(traces.unread), "document")
            echo(
                f"{count} of the collection could not be read; {traces.unread[0].where}: "
                f"{traces.unread[0].reason}."
            )
        if page:
            echo(f"Written to {page}.")
    refuse_documents(traces, page, options)


def _beside(inputs: Sequence[str], against: Sequence[str]) -> str | None:
    """A shell replaces a pattern by names, of which --against takes only the first."""
    for source in map(Path, against):
        beside = [path for path in map(Path, inputs) if path.parent == source.parent]
        if len(inputs) > 1 and beside and source.is_file():
            alike = all(path.suffix == source.suffix for path in beside)
            pattern = source.parent / (f"*{source.suffix}" if alike else "*")
            lie = "document lies" if len(beside) == 1 else "documents lie"
            return (
                f"Note: {len(beside):,} {lie} beside the source {source}. Quote the pattern "
                f"(--against '{pattern}') or name the folder to trace against all of them."
            )
    return None


def _show(each: Any) -> None:
    echo(f"{each.sentence()}.")
    for name, count, share in each.sources()[:PARTS]:
        echo(f"  {100 * share:5.1f} %  {many(count, 'passage')} of {shortened(name)}")
    for part in each.parts[:PARTS]:
        agrees = "exact" if part.similarity == 1 else f"{part.similarity:.0%} of the words"
        echo(
            f"  {part.begin:,}–{part.end:,} from {shortened(part.source)} "
            f"{part.source_begin:,}–{part.source_end:,}, {agrees}: "
            f"{shortened(each.text[part.begin : part.end], 70)}"
        )
    if len(each.parts) > PARTS:
        echo(f"  … and {len(each.parts) - PARTS:,} more passages; --json lists all")
