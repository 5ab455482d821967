"""The command line: one file a group of commands, thin over the library, loaded when called.

Neither this module nor those of the commands import numpy, pyarrow or rich before a command runs,
so that ``neardup --help`` and refusals answer at once.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence
from typing import Any

import click

from neardup.cli.command import OWN_PROCESS, Commands, end_on_sigterm, guarded

GC_OBJECTS = 100_000  # new objects between two collections of garbage
# name → module:command, in the order of ``neardup --help``
COMMANDS = {
    "dedup": "neardup.cli.dedup:dedup",
    "find": "neardup.cli.dedup:find",
    "apply": "neardup.cli.apply:apply",
    "undo": "neardup.cli.apply:undo",
    "passages": "neardup.cli.passages:passages",
    "clean": "neardup.cli.clean:clean",
    "trace": "neardup.cli.passages:trace",
    "compare": "neardup.cli.compare:compare",
    "check": "neardup.cli.check:check",
    "group": "neardup.cli.group:group",
    "report": "neardup.cli.review:report",
    "review": "neardup.cli.review:review",
    "evaluate": "neardup.cli.evaluate:evaluate",
    "index": "neardup.cli.index:index",
    "watch": "neardup.cli.watch:watch",
    "serve": "neardup.cli.serve:serve",
    "token": "neardup.cli.serve:token",
    "mcp": "neardup.cli.serve:mcp",
    "methods": "neardup.cli.methods:methods",
    "papers": "neardup.cli.methods:papers",
    "label": "neardup.cli.label:label",
    "train": "neardup.cli.train:train",
    "idf": "neardup.cli.idf:idf",
    "demo": "neardup.cli.doctor:demo",
    "verify": "neardup.cli.doctor:verify",
    "doctor": "neardup.cli.doctor:doctor",
}


class Main(Commands):
    def main(self, args: Sequence[str] | None = None, *arguments: Any, **options: Any) -> Any:
        OWN_PROCESS[:] = [True] if args is None else []
        if OWN_PROCESS:  # imports fill memory with what stays; collecting there costs 7 % of a run
            gc.set_threshold(GC_OBJECTS)
            # Evidence is read in order, so large pages save nothing, and a virtual machine may
            # have to ask its host for them: 2 s for 400 MB. NumPy reads this when it is imported.
            os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
            end_on_sigterm()
        if "_NEARDUP_COMPLETE" in os.environ:
            import neardup.cli.completion  # noqa: F401
        return super().main(args, *arguments, **options)

    def invoke(self, ctx: click.Context) -> object:
        with guarded(ctx):
            return super().invoke(ctx)


@click.group(cls=Main, homes=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="neardup", message="neardup %(version)s")
def main() -> None:
    """Find near-duplicate documents, explain each decision, and never lose a document."""
