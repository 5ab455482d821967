"""``neardup dedup`` and ``neardup find``: their options, and one run from options to summary.

``dedup`` decides which documents to keep and writes them; ``find`` lists pairs and clusters and
removes nothing. Whatever can be refused without documents is refused before numpy is loaded.
"""

from __future__ import annotations

import functools
import gc
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.classes import dataclass
from neardup.cli import options as shared
from neardup.cli import summary
from neardup.cli.command import (
    INTERRUPTED,
    OWN_PROCESS,
    RUN,
    STDOUT,
    Sectioned,
    after_interruption,
    check_file,
    check_folder,
    echo,
    load_arrow,
    names_file,
    show_json,
)
from neardup.cli.options import settings_from
from neardup.draft import Draft, refuse_filled
from neardup.errors import SettingsError
from neardup.files import only_writer

if TYPE_CHECKING:
    from neardup.documents.collection import Collection
    from neardup.plan import Plan
    from neardup.runs.result import Result

_LIMITS = ("--max-document", "--max-file", "--max-ratio")
SHOWN = ("as_json", "quiet", "annotate", "one_file", "export", "accept_rejected")
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


@dataclass(frozen=True)
class Job:
    """One run, and what is shown and written of it."""

    collection: Collection
    plan: Plan
    as_json: bool
    quiet: bool
    annotate: bool
    one_file: bool
    export: tuple[str, ...]
    accept_rejected: bool

    @classmethod
    def of(
        cls,
        inputs: Sequence[str],
        out: Path | None,
        options: dict[str, Any],
        *,
        every_pair: bool = False,
    ) -> Job:
        """What the command line asks for. First it is checked as far as that needs neither
        documents nor numpy; settings are checked before standard input is waited for."""
        if options["resume"] and (out is None or names_file(out) or out == STDOUT):
            raise click.UsageError("--resume needs a folder. Hint: name one with -o.")
        if options["export"] and (out is None or names_file(out) or out == STDOUT):
            raise click.UsageError("--export needs a folder. Hint: name one with -o.")
        named = [(None, path) for path in inputs] + named_inputs(options.pop("sources"))
        if not named:
            raise click.UsageError("Missing argument 'INPUT...'. Hint: name files, or - for stdin.")
        if out and out.is_dir() and not options["dry_run"]:
            refuse_filled(out, RUN, overwrite=options["overwrite"])
        shown = {name: options[name] for name in SHOWN}
        settings = settings_from(options)
        if settings.engine == "local":  # Spark brings pandas along
            load_arrow()
        from neardup.documents.collection import collect_inputs
        from neardup.plan import resolve

        plan = resolve(settings, every_pair=every_pair)
        collection = collect_inputs(
            named, encoding=plan.encoding, extraction=plan.extraction, limits=plan.limits
        )
        return cls(collection, plan, **shown)

    def dry_run(self, *, writes: str | None) -> None:
        from neardup.cli.summary import estimate_lines
        from neardup.engines.estimate.estimate import estimate

        found = estimate(self.collection, self.plan, writes=writes)
        if self.as_json:
            show_json(found.data())
        else:
            echo("\n".join(estimate_lines(found)))

    def into_folder(self, folder: Path, *, kept: bool, overwrite: bool, resume: bool) -> None:
        """Writes the whole run folder, or removes the part of it that was written."""
        from neardup.runs.run_folder import write_run

        check_folder(folder, self.collection.paths, overwrite=overwrite)
        began = time.perf_counter()
        with Draft(folder, RUN) as draft:
            done = functools.partial(after_interruption, folder, draft, resume=resume)
            click.get_current_context().meta[INTERRUPTED] = done
            refuse_filled(folder, RUN, overwrite=overwrite)  # another run may have ended meanwhile
            result = self.run(draft.path, draft.journal if resume else None)
            write_run(result, draft, kept=kept)
        self.report(result, folder, began)

    def into_file(self, file: Path, *, overwrite: bool) -> None:
        """The kept documents in one file, and nothing else."""
        from neardup.documents.lost import damaged_kept

        click.get_current_context().meta[INTERRUPTED] = lambda: f"{file} was not written"
        began = time.perf_counter()
        check_file(file, self.collection.paths, overwrite=overwrite)
        with only_writer(file):
            check_file(file, self.collection.paths, overwrite=overwrite)  # as it is now
            result = self.run(None)
            collection = result.collection()
            collection.write_kept_file(result.keep_mask(), file)
        if damage := collection.damage():
            raise damaged_kept(damage, f"All other values of all kept documents are in {file}.")
        self.report(result, None, began, file)

    def into(self, write: Callable[[Result], None]) -> None:
        began = time.perf_counter()
        result = self.run(None)
        write(result)
        self.report(result, None, began)

    def run(self, folder: Path | None, resume: Path | None = None) -> Result:
        from neardup.cli.terminal import progress_for
        from neardup.engines.execution import execute

        if self.annotate:
            from neardup.runs.annotation import check_sources

            check_sources(self.collection.sources)
        progress = progress_for(quiet=self.quiet)
        if OWN_PROCESS:  # what modules hold is not searched for cycles, also at the end
            gc.freeze()
        try:
            result = execute(
                self.collection, self.plan, progress=progress, folder=folder, resume=resume
            )
        finally:
            progress.finish()
        result.info |= {"one_file": True} if self.one_file else {}
        result.info |= {"export": list(self.export)} if self.export else {}
        return self._annotated(result) if self.annotate else result

    def _annotated(self, result: Result) -> Result:
        from neardup.runs.annotation import annotating

        return annotating(result)

    def report(
        self, result: Result, out: Path | None, began: float, file: Path | None = None
    ) -> None:
        seconds = time.perf_counter() - began
        if self.as_json:
            found = summary.data(result, out or file, seconds)
            show_json(found)
        if not self.quiet:
            size = self.collection.plain_size()
            told = summary.lines(result, out, seconds, size) + summary.file_lines(result, file)
            echo("\n".join(told), err=True)
        if result.info["mostly_rejected"]:
            lines = summary.mostly_rejected(result)
            accepted = {"accepted": self.accept_rejected, "quiet": self.quiet}
            summary.refuse_rejected(lines, out or file, **accepted)


def named_inputs(assignments: tuple[str, ...]) -> list[tuple[str | None, str]]:
    """``wire=news/*.jsonl``: the name and the input."""
    pairs: list[tuple[str | None, str]] = []
    for assignment in assignments:
        name, equals, path = assignment.partition("=")
        if not (name and equals and path):
            raise SettingsError(
                f"--source got {assignment!r}; expected NAME=INPUT.",
                hint="--source wire=news.jsonl names an input. Values of a column are preferred "
                f"with --keep {name or 'COLUMN'}:a,b and compared apart with --within "
                f"{name or 'COLUMN'}.",
            )
        pairs.append((name, path))
    return pairs
