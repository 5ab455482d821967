"""``neardup index add``: check new documents and store them."""

from __future__ import annotations

import click

from neardup.cli.index.parts import inputs_argument, lines_option, quiet_option, store_argument
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Check documents and store them.")
@store_argument
@inputs_argument
@click.option("--encoding", metavar="NAME", help="The encoding of text files and CSV.")
@lines_option
@json_option
@quiet_option
@debug_option
def add(
    store: str,
    inputs: tuple[str, ...],
    encoding: str | None,
    lines: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Decide the documents of INPUT in their order, and store them in the index STORE.

    INPUT: as in `dedup`. What was said of a document is durable. One whose id is in the index is
    rejected; an id that several files of INPUT have is stored as file:id. Interrupted, everything
    that was told is stored.
    """
    from neardup.cli.index.parts import Told, opened, show
    from neardup.cli.progress import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.online.tables import hint
    from neardup.online.taking import take_in

    told, progress = Told(lines=lines), progress_for(quiet=quiet)
    with opened(store) as index:
        made = index.described()
        collection = collect_inputs([(None, one) for one in inputs], encoding=encoding)
        collection = told.told_apart(collection, index.columns)
        progress.stage("adding", unit="documents", total_bytes=collection.plain_size())
        told.follow(take_in(index, collection), progress)
        said = hint(made, index.stats()["documents"])
    summary = [*told.summary(), *([said] if said else [])]
    show({"store": store, **told.data}, summary, as_json=as_json, quiet=quiet)
