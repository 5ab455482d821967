"""``neardup idf build``: in how many documents each term occurs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import click

from neardup.cli.idf.parts import out_option, overwrite_option, quiet_option
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Count the terms of a collection.")
@click.argument(
    "inputs", nargs=-1, required=True, metavar="INPUT...", type=click.Path(path_type=Path)
)
@out_option
@click.option(
    "--filter",
    "filter_",
    metavar="words|alpha|alnum+",
    default="words",
    help="What is a term: every word; words of three letters or more and no digit; or also words "
    "with . ' - & + / inside.  [default: words]",
)
@click.option("--text", metavar="COL", default="text", help="The column of the text.")
@click.option(
    "--set",
    "assignments",
    metavar="text.KEY=VALUE",
    multiple=True,
    help="What counts as the same word, such as text.case=keep; may be repeated.",
)
@click.option(
    "--min-count",
    metavar="N",
    type=int,
    default=1,
    help="Leave out terms of fewer than N documents. A table that is to be merged must keep all: "
    "give it to `idf merge` then.  [default: 1, keeps all]",
)
@click.option("--workers", metavar="N", type=int, help="Threads.  [default: all cores]")
@click.option("--limit", metavar="N", type=int, help="Read only the first N documents.")
@overwrite_option
@json_option
@quiet_option
@debug_option
def build(
    inputs: tuple[Path, ...],
    out: Path,
    filter_: str,
    text: str,
    assignments: tuple[str, ...],
    min_count: int,
    workers: int | None,
    limit: int | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Count in how many documents of INPUT each term occurs, and write the table.

    INPUT: as in `dedup`, JSON Lines, CSV, TSV (also .gz, .zst, .bz2, .xz), Parquet or Arrow files,
    globs in quotes, folders of text files, or - for stdin.

    Terms are never stemmed. Documents that cannot be used are counted as rejected, not in the
    table. The file appears only when it is whole.
    """
    from neardup.artefacts.idf import IdfNeed
    from neardup.cli.idf import parts
    from neardup.cli.progress import progress_for
    from neardup.documents import collect
    from neardup.local.artefacts import build_idf

    began = time.perf_counter()
    need = IdfNeed(None, filter_, parts.text_options(assignments))
    parts.check_target(out, inputs, overwrite=overwrite)
    progress = progress_for(quiet=quiet)
    try:
        table, seen = build_idf(
            collect(list(inputs)),
            need,
            column=text,
            min_count=min_count,
            workers=workers,
            limit=limit,
            progress=progress,
        )
    finally:
        progress.finish()
    if not table.documents:
        raise parts.nothing_counted(seen)
    table.save(out)
    if as_json:
        data = {"out": str(out), **table.describe(), "min_count": table.min_count}
        data |= {"rejected": seen.rejected, "rejected_shown": parts.rejected_data(seen)}
        data |= {"seconds": round(time.perf_counter() - began, 3)}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    if not quiet:
        lines = [*parts.rejected_lines(seen), *parts.table_lines(table), f"Written to {out}."]
        click.echo("\n".join(lines), err=True)
