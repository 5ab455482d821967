"""``neardup watch``: check what comes into a folder, and pass on what is new."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import (
    EXTRACT,
    WHOSE,
    debug_option,
    methods,
    threshold_option,
    verbose_option,
)

if TYPE_CHECKING:
    from neardup.online.index import Index

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
@click.option(
    "--method",
    metavar="NAME",
    multiple=True,
    callback=methods,
    help="Of a new index: how to compare. May be repeated: then one is enough.",
)
@threshold_option
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Of a new index: a parameter of the method; may be repeated.",
)
@click.option(
    "--window", metavar="SPAN", help="Of a new index: how long it remembers, such as 24h or 7d."
)
@click.option(
    "--against",
    metavar="kept|seen",
    help="Of a new index: whether duplicates are matched against, too (seen).  [default: kept]",
)
@click.option("--text", metavar="COL", help="The field of the text in JSON.  [default: text]")
@click.option("--id", metavar="COL", help="The field of the id in JSON.  [default: id]")
@click.option(
    "--date",
    metavar="COL",
    help="The field of the time in JSON; feeds have date.  [default: the time of arrival counts]",
)
@click.option("--source", "whose", metavar="COL", help=WHOSE)
@click.option(
    "--within", metavar="COL", help="Of a new index: compare only items with the same value in COL."
)
@click.option(
    "--texts",
    is_flag=True,
    default=None,
    help="Of a new index: store the texts too, so that notes tell the kind of duplicate.",
)
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
    from neardup.cli.watching import Watcher
    from neardup.online.flow.asked import Asked

    names = ("forward", "command", "aside", "unreadable", "work", "poll", "extract")
    asked = Asked.of(source, url, **{name: options.pop(name) for name in names})
    with _opened(url, options) as index:
        watcher = Watcher(asked.flow(index), as_json=as_json, quiet=quiet)
        watcher.run(asked, once=once)


def _opened(url: str, options: dict[str, Any]) -> Index:
    from neardup.methods.written import parse_assignments
    from neardup.online.index import Index

    options["source"] = options.pop("whose")
    options["set"] = parse_assignments(options.pop("assignments"))
    return Index.open(url, **{name: value for name, value in options.items() if value is not None})
