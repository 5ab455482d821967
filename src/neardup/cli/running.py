"""What ``find`` and ``dedup`` have in common: read, run, report. The work is the library's."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import summary
from neardup.cli.failures import INTERRUPTED, Failure
from neardup.cli.options import settings_from
from neardup.cli.target import Target, check_file
from neardup.errors import DataError, SettingsError

if TYPE_CHECKING:
    from neardup.documents import Collection
    from neardup.outputs.result import Result
    from neardup.plan import Plan


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
        from neardup.dryrun.estimate import estimate

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
        from neardup.api import execute
        from neardup.cli.progress import progress_for

        if self.annotate:
            from neardup.outputs.annotate import check_sources

            check_sources(self.collection.sources)
        progress = progress_for(quiet=self.quiet)
        try:
            result = execute(self.collection, self.plan, progress=progress, folder=folder)
        finally:
            progress.finish()
        return self._annotated(result) if self.annotate else result

    def _annotated(self, result: Result) -> Result:
        from neardup.outputs.annotate import annotating

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
