"""``neardup dedup``: decide which documents to keep, and write them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import run_options
from neardup.cli.target import STDOUT, Target, names_file

if TYPE_CHECKING:
    from neardup.outputs.result import Result


@click.command(short_help="Decide which documents to keep, and write them.")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o",
    "--out",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="The folder to write. A FILE in the format of the input, or - for stdout, gets the kept "
    "documents and nothing else.  [required]",
)
@click.option(
    "--signatures/--no-signatures",
    default=True,
    help="Keep in OUT what a next run needs to build on this one (--against OUT).  "
    "[default: signatures]",
)
@run_options
def dedup(inputs: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Find near-duplicates in INPUT, keep one document of each, write the kept ones.

    INPUT: JSON Lines, CSV, TSV, WARC (also .gz, .zst, .bz2, .xz), Parquet or Arrow files, HTML,
    PDF, XML and feeds (RSS, Atom), globs in quotes, folders of these pages and of text files, or -
    for stdin; of stores too, such as s3://BUCKET/*.parquet.

    The folder OUT holds the kept documents as they came, decisions.parquet (every document once),
    duplicates.parquet (each with the document it was set aside for, and why), pairs.parquet,
    rejected.jsonl, report.html and run.json.
    """
    from neardup.cli.running import Job

    if out is None and not options["dry_run"]:
        raise click.UsageError("Missing option '-o' / '--out'. Hint: name the folder to write.")
    if out == STDOUT and options["as_json"]:
        raise click.UsageError("-o - and --json both want the standard output; give one of them.")
    to_file = out is not None and names_file(out)
    job = Job.of(inputs, options)
    if out and to_file:
        job.collection.check_kept_file(out)
    if options["dry_run"]:
        written = "annotated" if job.annotate else "kept"
        job.dry_run(writes=None if out == STDOUT else written)
    elif out == STDOUT:
        job.collection.check_stream()
        job.into(_write_to_stdout)
    elif out and to_file:
        job.into_file(out, overwrite=options["overwrite"])
    elif out:
        job.collection.check_kept()
        job.into_folder(Target(out, overwrite=options["overwrite"]), kept=True)


def _write_to_stdout(result: Result) -> None:
    stdout = sys.stdout.buffer
    result.collection().write_kept_to(result.keep_mask(), stdout)
    stdout.flush()
