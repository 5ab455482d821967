"""``neardup find``: list near-duplicate pairs and clusters; nothing is removed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.options import run_options
from neardup.cli.target import STDOUT, Target, names_file


@click.command(short_help="List near-duplicate pairs and clusters.")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o",
    "--out",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="The folder to write; without it the first clusters are shown.",
)
@run_options
def find(inputs: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Find near-duplicates in INPUT and list them; nothing is removed.

    INPUT: JSON Lines, CSV, TSV, WARC (also .gz, .zst, .bz2, .xz), Parquet or Arrow files, HTML,
    PDF, XML and feeds (RSS, Atom), globs in quotes, folders of these pages and of text files, or -
    for stdin; of stores too, such as s3://BUCKET/*.parquet.

    The folder OUT holds pairs.parquet (every pair with its score), decisions.parquet (what dedup
    would do with each document), duplicates.parquet, rejected.jsonl, report.html and run.json.
    """
    from neardup.cli.listing import show_clusters
    from neardup.cli.running import Job

    if out == STDOUT:
        raise click.UsageError("find writes a folder. Hint: leave -o out to see the clusters.")
    if out and names_file(out):
        raise click.UsageError(
            f"find writes a folder, and {out} is named as a file. Hint: -o FOLDER; its "
            "pairs.parquet lists the pairs."
        )
    if options["annotate"] and not out and not options["dry_run"]:
        raise click.UsageError("--annotate writes documents. Hint: name a folder with -o.")
    job = Job.of(inputs, options, every_pair=True)
    if options["dry_run"]:
        job.dry_run(writes="annotated" if job.annotate else None)
    elif out:
        if job.annotate:
            job.collection.check_kept()
        job.into_folder(Target(out, overwrite=options["overwrite"]), kept=job.annotate)
    else:
        job.into(lambda result: None if job.as_json else show_clusters(result))
