"""``neardup index check``: what documents would be duplicates of."""

from __future__ import annotations

import click

from neardup.cli.index.parts import inputs_argument, lines_option, quiet_option, store_argument
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Say what documents would be duplicates of.")
@store_argument
@inputs_argument
@click.option("--encoding", metavar="NAME", help="The encoding of text files and CSV.")
@click.option(
    "--max-age",
    metavar="SPAN",
    help="Only documents that are at most so much older count: 30m, 6h, 7d.",
)
@lines_option
@json_option
@quiet_option
@debug_option
def check(
    store: str,
    inputs: tuple[str, ...],
    encoding: str | None,
    max_age: str | None,
    lines: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Ask the index STORE about the documents of INPUT, each for itself; nothing is stored."""
    from neardup.cli.index.parts import Told, opened, show
    from neardup.cli.progress import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.online.taking import ask

    told, progress = Told(lines=lines), progress_for(quiet=quiet)
    with opened(store, kinds=None if lines else False) as index:  # counts need none
        collection = collect_inputs([(None, one) for one in inputs], encoding=encoding)
        collection = told.told_apart(collection, index.columns)
        progress.stage("checking", unit="documents", total_bytes=collection.plain_size())
        told.follow(ask(index, collection, max_age), progress)
    show({"store": store, **told.data}, told.summary(), as_json=as_json, quiet=quiet)
