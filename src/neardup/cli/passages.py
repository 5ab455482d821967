"""``neardup passages``: passages that documents share, and evaluation items in training sets.

``neardup trace``: which passages of a document come from where.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json
from neardup.cli.passage_options import (
    SHOWN,
    gap_option,
    out_option,
    passage_settings,
    reading_options,
    refuse_documents,
    rejected_line,
    search_engine,
    search_options,
    searched,
    similarity_option,
    target_of,
    traced_documents,
    unit_option,
    words_option,
)
from neardup.files import check_parent, write_text
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.cli.command import Target
    from neardup.passages.passage_tables import Passages

ALARM = 0.5  # of an evaluation item, weighed by rarity


@click.command(
    short_help="Find passages that documents share.",
    epilog="""\b
Examples:
  neardup passages crawl.jsonl -o out
  neardup passages train.parquet --against evals.jsonl -o out""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@out_option
@words_option(20)
@unit_option("word")
@click.option(
    "--against",
    metavar="EVALS",
    multiple=True,
    help="Instead, report how much of each document of EVALS stands in INPUT: contamination.jsonl "
    "and contamination.parquet. The shortest passage then has 13 words. Repeatable.",
)
@search_options
def passages(
    inputs: tuple[str, ...], out: Path | None, against: tuple[str, ...], **options: Any
) -> None:
    """Find every passage that occurs more than once in INPUT, exactly or with small edits.

    The folder OUT holds passages.parquet (each passage with its class and the evidence for it),
    occurrences.parquet (where it stands, in characters of the original text), rejected.jsonl,
    report.html and run.json. Classes: boilerplate, notice, template, quotation, copied,
    repetition.
    """
    target = target_of(out, options)
    if against:
        _contamination(inputs, target, against, options)
        return
    settings, engine = passage_settings(options), search_engine(options)
    from neardup.passages.passage_tables import passages_of

    found = searched(
        inputs,
        target,
        options,
        lambda documents, *how: passages_of(documents, settings, *how, engine=engine),
    )
    found.save(target.folder)
    if options["as_json"]:
        show_json({"counts": found.counts, "folder": str(target.folder)})
    elif not options["quiet"]:
        echo("\n".join([*_lines(found), f"Written to {target.folder}: {_written()}."]))
    refuse_documents(found.documents, target.folder, options)


def _written() -> str:
    from neardup.passages.passage_folder import FILES

    return ", ".join(FILES)


def _lines(found: Passages) -> list[str]:
    from neardup.passages.passage_settings import CLASSES

    counted = [f"{found.counts[f'class_{n}']:,} {n}" for n in CLASSES if found.counts[f"class_{n}"]]
    lines = [f"{found.sentence()}."]
    if counted:
        lines.append(f"Classes of passages: {', '.join(counted)}.")
    lines += rejected_line(found)
    for row in found.passages.slice(0, SHOWN).to_pylist():
        text = shortened(row["text"], 60)
        lines.append(f"{row['occurrences']:>7,} × {row['words']:,} words  {row['class']}: {text}")
    return lines


def _contamination(
    inputs: tuple[str, ...], target: Target, against: tuple[str, ...], options: dict[str, Any]
) -> None:
    import json

    from neardup.draft import Draft
    from neardup.files import write_text
    from neardup.runs.run_folder import write_table
    from neardup.runs.run_info import PASSAGES

    traces = traced_documents(against, inputs, {**options, "limit": None}, min_words=13)
    table = traces.contamination()
    rows = table.to_pylist()
    counts = {
        "documents": len(rows),
        "touched": sum(row["coverage"] > 0 for row in rows),
        "contaminated": sum(row["weighted"] >= ALARM for row in rows),
    }
    with Draft(target.folder, "run.json") as draft:
        write_table(table, draft.path / "contamination.parquet")
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        write_text(draft.path / "contamination.jsonl", "".join(lines))
        write_text(draft.path / "run.json", json.dumps({"format": PASSAGES, "counts": counts}))
        draft.publish(["contamination.parquet", "contamination.jsonl", "run.json"])
    if options["as_json"]:
        show_json({"counts": counts, "folder": str(target.folder)})
    elif not options["quiet"]:
        echo(
            f"{counts['contaminated']:,} of {many(len(rows), 'document')} stand in the collection "
            f"by half or more, weighed by rarity; {counts['touched']:,} have some passage there."
        )
        worst = sorted(rows, key=lambda row: -row["weighted"])[:SHOWN]
        for row in worst:
            if row["weighted"] > 0:
                echo(
                    f"  {row['weighted']:6.1%} (unweighted {row['coverage']:.1%})  "
                    f"{shortened(row['id'])}, most of it in {shortened(row['source'])}"
                )
        echo(f"Written to {target.folder}: contamination.parquet, contamination.jsonl, run.json.")
    refuse_documents(traces, target.folder, options)


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
        from neardup.passages.traces import trace_page

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
