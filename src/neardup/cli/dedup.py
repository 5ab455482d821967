"""``neardup dedup`` and ``neardup find``: what they are, and their options; ``job.py`` runs them.

``dedup`` decides which documents to keep and writes them; ``find`` lists pairs and clusters and
removes nothing. Whatever can be refused without documents is refused before numpy is loaded.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import (
    STDOUT,
    Sectioned,
    names_file,
)

if TYPE_CHECKING:
    from neardup.runs.result import Result
from neardup.cli.job import Job

_LIMITS = ("--max-document", "--max-file", "--max-ratio")
EVERY_SECTION = {
    "Common": ("--out", "--method", "--threshold", "--keep", "--text", "--id", "--date"),
    "Input": ("--source", "--against", "--encoding", "--extract", "--limit", "--strict", *_LIMITS),
    "Output": (
        "--annotate",
        "--one-file",
        "--export",
        "--overwrite",
        "--json",
        "--verbose",
        "--quiet",
    ),
    "Matching": ("--set", "--recipe", "--within", "--boilerplate"),
    "Deciding": ("--policy", "--action", "--clusters", "--kinds"),
    "Resources": ("--resume", "--dry-run", "--workers", "--memory", "--engine", "--master"),
    "Advanced": ("--max-pairs", "--accept-rejected", "--debug", "--help"),
}
DEDUP_SECTIONS = {**EVERY_SECTION, "Advanced": ("--signatures", *EVERY_SECTION["Advanced"])}
run_options = shared.with_options(
    shared.method_option,
    shared.threshold_option,
    shared.keep_option,
    shared.text_option,
    shared.id_option,
    shared.date_option,
    click.option(
        "--source",
        "sources",
        metavar="NAME=INPUT",
        multiple=True,
        help="Input with a name, for --keep source:… and --within source. Named inputs come after "
        "the others. Repeatable.",
    ),
    click.option(
        "--against",
        metavar="REF",
        multiple=True,
        callback=lambda _ctx, _option, value: value or None,
        help="Reference files, a folder of texts, or the folder of an earlier run. Their "
        "documents come first and are never removed or changed. Repeatable.",
    ),
    shared.encoding_option,
    shared.extract_option,
    *shared.limits_options,
    shared.limit_option,
    click.option(
        "--strict",
        is_flag=True,
        default=None,
        help="Stop at the first document that cannot be used.",
    ),
    click.option(
        "--annotate",
        is_flag=True,
        help="Write all documents, with the columns cluster, kept_id, score, kind and decision.",
    ),
    click.option(
        "--one-file",
        is_flag=True,
        help="Write the documents of several input files into one file for each format, instead of "
        "into files of the same names.",
    ),
    click.option(
        "--export",
        metavar="csv|xlsx|parquet|bibtex|ris",
        multiple=True,
        type=click.Choice(["csv", "xlsx", "parquet", "bibtex", "ris"]),
        help="Also write OUT/export.*, a table for colleagues with one row for each document: "
        "path, title, decision, kept_id, score, kind, cluster, copies. bibtex and ris list the "
        "kept documents for reference managers. Repeatable.",
    ),
    shared.overwrite_run_option,
    shared.json_option,
    shared.verbose_option,
    shared.quiet_option,
    shared.set_option,
    shared.recipe_option,
    shared.within_option,
    click.option(
        "--boilerplate",
        metavar="FILE|auto",
        multiple=True,
        type=shared.PATH,
        help="Text to ignore in every document, such as a standard notice; any input of texts. "
        "Repeatable. auto: the passages that at least ten documents of a source repeat, and a "
        "twentieth of them (raregrams, rareshingles, shingles).",
    ),
    shared.policy_option,
    shared.action_option,
    click.option(
        "--clusters",
        metavar="rule|components|average",
        help="Group duplicates by the kept document, by chains of pairs, or by the mean score of "
        "all pairs of a group, without chains.  [default: rule]",
    ),
    click.option(
        "--kinds",
        metavar="decided|all|none",
        help="Pairs to classify by kind: each duplicate with the document kept instead of it, all "
        "listed pairs, or only those that need no second reading.  [default: decided]",
    ),
    shared.resume_option,
    click.option(
        "--dry-run",
        is_flag=True,
        help="Estimate time, memory, disk and duplicates from a sample; write nothing.",
    ),
    shared.workers_option,
    shared.capped_memory_option,
    shared.engine_option,
    shared.master_option,
    shared.max_pairs_option,
    shared.accept_rejected_option,
    shared.debug_option,
)


@click.command(
    cls=Sectioned,
    sections=DEDUP_SECTIONS,
    short_help="Remove near-duplicates and write the documents to keep.",
    epilog="""\b
Examples:
  neardup dedup news.jsonl -o out
  neardup dedup 'crawl/*.parquet' --text body --keep newest --date published -o out""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o",
    "--out",
    metavar="OUT",
    type=shared.PATH,
    help="Folder to write. A FILE in the format of the input, or - for stdout, receives the kept "
    "documents and nothing else.  [required]",
)
@run_options
@click.option(
    "--signatures/--no-signatures",
    default=False,
    help="Store in OUT what a later run with --against OUT would otherwise prepare again from the "
    "kept documents.  [default: no-signatures]",
)
def dedup(inputs: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Find near-duplicates in INPUT, keep one document of each group, and write the kept ones.

    INPUT: JSON Lines, CSV, TSV, WARC, text (also .gz, .zst, .bz2, .xz), Parquet or Arrow files,
    mail (mbox, eml, msg, Maildir), HTML, PDF, DOCX, ODT, PPTX, RTF, EPUB, XML and feeds (RSS,
    Atom), quoted globs, folders and archives of these, or -. Files in object stores work too, such
    as s3://BUCKET/*.parquet, and tables and queries of databases, such as sqlite:///FILE?table=NAME
    (PostgreSQL likewise).

    The folder OUT holds the kept documents unchanged, decisions.parquet (every document once),
    duplicates.parquet (each with the document kept instead of it, and why), pairs.parquet,
    rejected.jsonl, report.html and run.json.
    """
    if out is None and not options["dry_run"]:
        raise click.UsageError("Missing option '-o' / '--out'. Hint: name the folder to write.")
    if out == STDOUT and options["as_json"]:
        raise click.UsageError("-o - and --json both write to stdout; give one of them.")
    to_file = out is not None and names_file(out)
    job = Job.of(inputs, out, options)
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
        job.collection.check_kept(one_file=job.one_file)
        job.into_folder(out, kept=True, overwrite=options["overwrite"], resume=options["resume"])


def _write_to_stdout(result: Result) -> None:
    stdout = sys.stdout.buffer
    result.collection().write_kept_to(result.keep_mask(), stdout)
    stdout.flush()


@click.command(
    cls=Sectioned,
    sections=EVERY_SECTION,
    short_help="List near-duplicate pairs and clusters.",
    epilog="""\b
Examples:
  neardup find news.jsonl
  neardup find articles.csv --text body --method shingles --threshold 0.7 -o out""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "-o",
    "--out",
    metavar="OUT",
    type=shared.PATH,
    help="Folder to write; without it the largest clusters are shown.",
)
@run_options
def find(inputs: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Find near-duplicates in INPUT and list them; nothing is removed.

    INPUT: JSON Lines, CSV, TSV, WARC, text (also .gz, .zst, .bz2, .xz), Parquet or Arrow files,
    mail (mbox, eml, msg, Maildir), HTML, PDF, DOCX, ODT, PPTX, RTF, EPUB, XML and feeds (RSS,
    Atom), quoted globs, folders and archives of these, or -. Files in object stores work too, such
    as s3://BUCKET/*.parquet, and tables and queries of databases, such as sqlite:///FILE?table=NAME
    (PostgreSQL likewise).

    The folder OUT holds pairs.parquet (every pair with its score), decisions.parquet (what dedup
    would decide for each document), duplicates.parquet, rejected.jsonl, report.html and run.json.
    """
    if out == STDOUT:
        raise click.UsageError("find writes a folder. Hint: leave -o out to see the clusters.")
    if options["annotate"] and not out and not options["dry_run"]:
        raise click.UsageError("--annotate writes documents. Hint: name a folder with -o.")
    if out and names_file(out):
        raise click.UsageError(
            f"find writes a folder, and {out} has the name of a file. Hint: -o FOLDER; its "
            "pairs.parquet lists the pairs."
        )
    job = Job.of(inputs, out, options, every_pair=True)
    if options["dry_run"]:
        job.dry_run(writes="annotated" if job.annotate else None)
    elif out:
        if job.annotate:
            job.collection.check_kept(one_file=job.one_file)
        target = {name: options[name] for name in ("overwrite", "resume")}
        job.into_folder(out, kept=job.annotate, **target)
    else:
        from neardup.cli.terminal import show_clusters

        job.into(lambda result: None if job.as_json else show_clusters(result))
