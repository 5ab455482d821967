"""``neardup watch``: check what comes into a folder, and pass on what is new."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.index_options import hint_of, new_index_options, opened_or_new
from neardup.cli.options import EXTRACT, debug_option, verbose_option

_FOLDER = click.Path(path_type=Path)


@click.command(short_help="Check what comes into a folder, and pass on what is new.")
@click.argument("source", metavar="DIR")
@click.option(
    "--index",
    "url",
    metavar="STORE",
    required=True,
    help="The index to check with and add to; it is made if it is not there.",
)
@click.option("--forward", metavar="DIR", type=_FOLDER, help="Where originals go.")
@click.option(
    "--exec",
    "command",
    metavar="CMD",
    help="A command for each original, which gets it as JSON on stdin; no shell. With --forward it "
    "is run first.",
)
@click.option(
    "--aside",
    metavar="DIR",
    type=_FOLDER,
    help="Where duplicates go, each with a note of what it matches.  [default: WORK/aside]",
)
@click.option(
    "--unreadable",
    metavar="DIR",
    type=_FOLDER,
    help="Where items go that cannot be read, with the reason.  [default: WORK/unreadable]",
)
@click.option(
    "--work",
    metavar="DIR",
    type=_FOLDER,
    help="Where items are while they are worked on.  [default: .neardup-watch in the watched "
    "folder; for stdin, in that of --forward, else here]",
)
@new_index_options
@click.option("--extract", metavar="HOW", help=EXTRACT)
@click.option("--once", is_flag=True, help="Work off what is there, then stop.")
@click.option(
    "--poll",
    metavar="SECONDS",
    type=float,
    default=1.0,
    help="How often to look; a file is whole when two looks agree.  [default: 1]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print every event as a line of JSON on stdout."
)
@verbose_option
@click.option("--quiet", is_flag=True, help="No status and no totals; problems are shown.")
@debug_option
def watch(source: str, url: str, as_json: bool, quiet: bool, once: bool, **options: Any) -> None:
    """Check the items that come into DIR, and pass on those that are new.

    DIR: a folder, or - for JSON Lines on stdin. Items are text, HTML and PDF files, JSON (one
    object, a list, or lines) and the entries of RSS and Atom files. Originals go to --forward or
    --exec, duplicates to --aside, what cannot be read to --unreadable: every item to one place,
    once, also when the process is killed and started again. Ctrl-C finishes what is at hand.
    """
    from neardup.cli.flow_view import Watcher
    from neardup.engines.index.flow.flow_settings import FlowSettings

    names = ("forward", "command", "aside", "unreadable", "work", "poll", "extract")
    asked = FlowSettings.of(source, url, **{name: options.pop(name) for name in names})
    with opened_or_new(url, options) as index:
        watcher = Watcher(asked.flow(index), as_json=as_json, quiet=quiet)
        watcher.run(asked, once=once)
        hint_of(index, quiet=quiet)
