"""``neardup dedup``: decide which documents to keep, and write them.

``neardup find``: list near-duplicate pairs and clusters; nothing is removed.

What ``find`` and ``dedup`` have in common: read, run, report. The work is the library's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import summary
from neardup.cli.command import INTERRUPTED, Failure
from neardup.cli.options import run_options, settings_from
from neardup.cli.target import STDOUT, Target, check_file, names_file
from neardup.errors import DataError, SettingsError

if TYPE_CHECKING:
    from neardup.documents import Collection
    from neardup.plan import Plan
    from neardup.runs.result import Result


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
    from neardup.cli.terminal import show_clusters

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


@dataclass(frozen=True)
class Job:
    """One run as the command line asked for it."""

    collection: Collection
    plan: Plan
    as_json: bool
    quiet: bool
    annotate: bool
    accept_rejected: bool

    @classmethod
    def of(cls, inputs: Sequence[str], options: dict[str, Any], *, every_pair: bool = False) -> Job:
        """Settings are checked before standard input is waited for."""
        from neardup.documents.collection import collect_inputs
        from neardup.plan import resolve

        named = [(None, one) for one in inputs] + named_inputs(options.pop("sources"))
        if not named:
            raise click.UsageError("Missing argument 'INPUT...'. Hint: name files, or - for stdin.")
        plan = resolve(settings_from(options), every_pair=every_pair)
        named_so = ("as_json", "quiet", "annotate", "accept_rejected")
        given = {name: options[name] for name in named_so}
        return cls(
            collect_inputs(named, encoding=plan.encoding, extraction=plan.extraction), plan, **given
        )

    def dry_run(self, *, writes: str | None) -> None:
        from neardup.cli.summary import estimate_lines
        from neardup.engines.estimate.estimate import estimate

        found = estimate(self.collection, self.plan, writes=writes)
        if self.as_json:
            import json

            click.echo(json.dumps(found.data(), indent=2))
        else:
            click.echo("\n".join(estimate_lines(found)))

    def into_folder(self, target: Target, *, kept: bool) -> None:
        """The run folder is written whole, or what was made of it goes away again."""
        target.check(self.collection.paths)
        click.get_current_context().meta[INTERRUPTED] = target.after_interruption
        began = time.perf_counter()
        try:
            target.make()
            result = self.run(target.folder)
            target.save(result, kept=kept)
        except BaseException:
            target.abandon()
            raise
        self.report(result, target.folder, began)

    def into_file(self, file: Path, *, overwrite: bool) -> None:
        """The kept documents in one file, and nothing else."""
        check_file(file, self.collection.paths, overwrite=overwrite)
        click.get_current_context().meta[INTERRUPTED] = lambda: f"{file} was not written"
        began = time.perf_counter()
        result = self.run(None)
        result.collection().write_kept_file(result.keep_mask(), file)
        self.report(result, None, began, file)

    def into(self, write: Callable[[Result], None]) -> None:
        began = time.perf_counter()
        result = self.run(None)
        write(result)
        self.report(result, None, began)

    def run(self, folder: Path | None) -> Result:
        from neardup.cli.terminal import progress_for
        from neardup.engines.execution import execute

        if self.annotate:
            from neardup.runs.annotation import check_sources

            check_sources(self.collection.sources)
        progress = progress_for(quiet=self.quiet)
        try:
            result = execute(self.collection, self.plan, progress=progress, folder=folder)
        finally:
            progress.finish()
        return self._annotated(result) if self.annotate else result

    def _annotated(self, result: Result) -> Result:
        from neardup.runs.annotation import annotating

        return annotating(result)

    def report(
        self, result: Result, out: Path | None, began: float, file: Path | None = None
    ) -> None:
        seconds = time.perf_counter() - began
        if self.as_json:
            import json

            found = summary.data(result, out or file, seconds)
            click.echo(json.dumps(found, indent=2, ensure_ascii=False))
        if not self.quiet:
            size = self.collection.plain_size()
            told = summary.lines(result, out, seconds, size) + summary.file_lines(result, file)
            click.echo("\n".join(told), err=True)
        self._check_rejected(result, out or file)

    def _check_rejected(self, result: Result, out: Path | None) -> None:
        """Most of a file rejected is no success, though all else is done."""
        lines = summary.mostly_rejected(result)
        if not lines:
            return
        if self.accept_rejected:
            if not self.quiet:
                click.echo("\n".join(lines), err=True)
            return
        written = f"The output is in {out} all the same; " if out else ""
        last = f"{written}--accept-rejected makes the exit code 0."
        raise Failure("\n".join([*lines, last]), DataError.exit_code)


def named_inputs(written: tuple[str, ...]) -> list[tuple[str | None, str]]:
    """``wire=news/*.jsonl`` → its name and the input."""
    pairs: list[tuple[str | None, str]] = []
    for one in written:
        name, equals, given = one.partition("=")
        if not (name and equals and given):
            raise SettingsError(
                f"--source got {one!r}; expected NAME=INPUT.", hint="--source wire=news.jsonl"
            )
        pairs.append((name, given))
    return pairs
