"""``neardup index build``: an index from a collection, with everything frozen."""

from __future__ import annotations

from typing import Any

import click

from neardup.cli.index.parts import inputs_argument, quiet_option, store_argument
from neardup.cli.options import (
    WHOSE,
    WITHIN,
    debug_option,
    json_option,
    methods_option,
    threshold_option,
    verbose_option,
)
from neardup.errors import UsageError


@click.command(short_help="Make an index from a collection.")
@store_argument
@inputs_argument
@methods_option
@threshold_option
@click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="A parameter of the method, such as words=3; may be repeated.",
)
@click.option(
    "--recipe",
    metavar="FILE|NAME",
    help="Method and parameters from a TOML file, or those of a paper by name.",
)
@click.option("--text", metavar="COL", help="The column of the text.  [default: text]")
@click.option(
    "--id", metavar="COL", help="The column of the id.  [default: id if there, else file:row]"
)
@click.option(
    "--date",
    metavar="COL",
    help="The column of the date: the time of a document.  [default: its arrival]",
)
@click.option("--encoding", metavar="NAME", help="The encoding of text files and CSV.")
@click.option(
    "--window",
    metavar="SPAN",
    help="How long documents are remembered: 30m, 24h, 7d.  [default: always]",
)
@click.option(
    "--against",
    metavar="kept|seen",
    help="What new documents are compared with: kept ones, or duplicates too.  [default: kept]",
)
@click.option("--source", metavar="COL", help=WHOSE)
@click.option("--within", metavar="COL", help=WITHIN)
@click.option(
    "--texts", is_flag=True, default=None, help="Store the texts too: for kinds, and to refresh it."
)
@click.option("--workers", metavar="N", type=int, help="Threads.  [default: all cores]")
@json_option
@verbose_option
@quiet_option
@debug_option
def build(store: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Make the index STORE from INPUT, as `dedup --keep first` would decide it.

    INPUT: as in `dedup`. What the method has to know of a collection is counted from INPUT and
    frozen: documents that are added later are decided with the same tables.
    """
    from neardup.api import frozen
    from neardup.cli.index.parts import Told, show
    from neardup.cli.options import settings_from
    from neardup.cli.progress import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.online.index import Index
    from neardup.online.taking import take_in
    from neardup.plan import resolve

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    own = {name: options.pop(name) for name in ("window", "against", "texts", "source")}
    plan = resolve(settings_from(options))
    if Index.exists(store):
        raise UsageError(f"{store} is already there.", hint="add to it with `neardup index add`.")
    progress = progress_for(quiet=quiet)
    collection = collect_inputs([(None, one) for one in inputs], encoding=plan.encoding)
    made = frozen(collection, plan, progress)
    own |= {"text": plan.columns.text, "id": plan.columns.id, "date": plan.written.date}
    own |= {"within": plan.within}
    told = Told(lines=False)
    method = made.method if plan.planted_cut else plan.method
    collection = told.told_apart(collection, plan.columns)
    with Index.open(store, method=method, artefacts=made.artefacts, **own) as index:
        progress.stage("adding", unit="documents", total_bytes=collection.plain_size())
        told.follow(take_in(index, collection), progress)
    data = {"store": store, **told.data}
    show(data, [*told.summary(), f"Written to {store}."], as_json=as_json, quiet=quiet)
