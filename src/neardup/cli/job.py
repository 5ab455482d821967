"""One run of `find` or `dedup`: what the command line asks for, and what is shown and written."""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.classes import dataclass
from neardup.cli import summary
from neardup.cli.command import (
    INTERRUPTED,
    OWN_PROCESS,
    RUN,
    STDOUT,
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
from neardup.settings import USUAL_MEMORY

if TYPE_CHECKING:
    from neardup.artefacts.artefact import Artefacts
    from neardup.documents.collection import Collection
    from neardup.plan import Plan
    from neardup.runs.result import Result
    from neardup.schema import Array


SHOWN = ("as_json", "quiet", "annotate", "one_file", "export", "accept_rejected")


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
        from neardup.runs.run_folder import EarlyFiles, write_run

        check_folder(folder, self.collection.paths, overwrite=overwrite)
        began = time.perf_counter()
        with Draft(folder, RUN) as draft:
            done = functools.partial(after_interruption, folder, draft, resume=resume)
            click.get_current_context().meta[INTERRUPTED] = done
            refuse_filled(folder, RUN, overwrite=overwrite)  # another run may have ended meanwhile
            journal = draft.journal if resume else None
            roomy = self.plan.workers > 1 and self.plan.memory >= USUAL_MEMORY
            if kept and roomy and not self.annotate:
                with EarlyFiles(draft.path, one_file=self.one_file) as early:
                    result = self.run(draft.path, journal, early.begin)
                    write_run(result, draft, kept=kept, early=early)
            else:
                result = self.run(draft.path, journal)
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

    def run(
        self,
        folder: Path | None,
        resume: Path | None = None,
        decided: Callable[[Collection, Array, Artefacts], None] | None = None,
    ) -> Result:
        from neardup.engines.execution import execute
        from neardup.progress import of_command

        if self.annotate:
            from neardup.runs.annotation import check_sources

            check_sources(self.collection.sources)
        progress = of_command(quiet=self.quiet)
        if OWN_PROCESS:  # what modules hold is not searched for cycles, also at the end
            gc.freeze()
        try:
            result = execute(
                self.collection,
                self.plan,
                progress=progress,
                folder=folder,
                resume=resume,
                decided=decided,
            )
        finally:
            progress.finish()
        result.info |= {"one_file": True} if self.one_file else {}
        result.info |= {"export": list(self.export)} if self.export else {}
        if self.annotate:
            from neardup.runs.annotation import annotating

            return annotating(result)
        return result

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
