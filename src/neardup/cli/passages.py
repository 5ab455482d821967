"""``neardup passages``: passages that documents share, and evaluation items in training sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import echo, show_json
from neardup.cli.passage_options import (
    SHOWN,
    out_option,
    passage_settings,
    refuse_documents,
    rejected_line,
    search_engine,
    search_options,
    searched,
    target_of,
    traced_documents,
    unit_option,
    words_option,
)
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
    from neardup.passages.passage_class import CLASSES

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
