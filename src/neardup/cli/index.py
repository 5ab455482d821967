"""``neardup index``: build an index, check and add documents, and maintain it.

The commands open a store, follow what the library decides on each document, and report it.
``watch`` and ``serve`` open an index here too, and create it if it does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import Commands, echo, show_json
from neardup.cli.options import settings_from
from neardup.errors import UsageError
from neardup.wording import many

if TYPE_CHECKING:
    from neardup.artefacts.artefact import Artefacts
    from neardup.engines.index.arrival_rule import Match
    from neardup.engines.index.index import Index
    from neardup.integrations.bulk import Bulk
from neardup.cli.index_options import SOURCE, compared_option, opened, window_option
from neardup.cli.tally import Tally, echo_bulk, show

COMMANDS = {
    "build": "neardup.cli.index:build",
    "add": "neardup.cli.index:add",
    "check": "neardup.cli.index:check",
    "remove": "neardup.cli.index:remove",
    "expire": "neardup.cli.index:expire",
    "refresh": "neardup.cli.index:refresh",
    "stats": "neardup.cli.index:stats",
}


@click.group(
    cls=Commands, homes=COMMANDS, short_help="Maintain an index and check new documents against it."
)
def index() -> None:
    """Maintain an index of documents that arrive one by one, and check new documents against it.

    STORE is a file (SQLite) or postgresql://…. It stores the method, its parameters and the tables
    counted from the documents it was built from, so that later documents are decided alike.
    """


store_argument = click.argument("store", metavar="STORE")
inputs_argument = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
lines_option = click.option(
    "--lines",
    is_flag=True,
    help="Print one JSON line for each document: id, decision, and for a duplicate the document it "
    "matches and why.",
)

bulk_option = click.option(
    "--bulk",
    metavar="ENGINE",
    type=click.Choice(["elasticsearch", "opensearch", "solr"]),
    help="Print the bulk request that sets the fields near_dup_of and cluster of these documents "
    "in a search engine: elasticsearch, opensearch or solr.",
)


def _bulk_of(engine: str | None, *, lines: bool = False, as_json: bool = False) -> Bulk | None:
    if engine is None:
        return None
    if lines or as_json:
        other = "--lines" if lines else "--json"
        raise click.UsageError(f"--bulk and {other} both print to stdout. Hint: give one of them.")
    from neardup.integrations.bulk import ENGINES

    return ENGINES[engine]()


@click.command(short_help="Create an index from a collection.")
@store_argument
@inputs_argument
@shared.methods_option
@shared.threshold_option
@shared.set_option
@shared.recipe_option
@shared.text_option
@shared.id_option
@click.option(
    "--date",
    metavar="COL",
    help="Date column: the time of a document.  [default: its time of arrival]",
)
@shared.encoding_option
@window_option
@compared_option
@click.option("--source", metavar="COL", help=f"{SOURCE}.  [default: source]")
@shared.within_option
@click.option(
    "--texts",
    is_flag=True,
    default=None,
    help="Store the texts too; kinds and refresh need them.",
)
@click.option(
    "--passages",
    is_flag=True,
    default=None,
    help="Store the texts and a passage index, so that `neardup trace DOCUMENT --against STORE` "
    "is answered in milliseconds.",
)
@bulk_option
@shared.workers_option
@shared.accept_rejected_option
@shared.json_option
@shared.verbose_option
@shared.quiet_option
@shared.debug_option
def build(store: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Create the index STORE from INPUT, with the decisions of `dedup --keep first`.

    INPUT: as in `dedup`. The tables that the method needs are counted from INPUT and frozen:
    documents that are added later are decided with the same tables.
    """
    from neardup.documents.collection import collect_inputs
    from neardup.engines.execution import frozen
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import take_in
    from neardup.papers.recipe import read_index
    from neardup.plan import resolve
    from neardup.progress import of_command

    as_json, quiet = options.pop("as_json"), options.pop("quiet")
    accept_rejected = options.pop("accept_rejected")
    tally = Tally(lines=False, bulk=_bulk_of(options.pop("bulk"), as_json=as_json))
    own = {name: options.pop(name) for name in ("window", "against", "texts", "passages", "source")}
    recipe = options["recipe"]
    written = read_index(recipe) if recipe else {}
    own = {name: written.get(name) if value is None else value for name, value in own.items()}
    plan = resolve(settings_from(options))
    if Index.exists(store):
        raise UsageError(f"{store} already exists.", hint="add to it with `neardup index add`.")
    progress = of_command(quiet=quiet)
    collection = collect_inputs([(None, one) for one in inputs], encoding=plan.encoding)
    made = frozen(collection, plan, progress)
    own |= {"text": plan.columns.text, "id": plan.columns.id, "date": plan.written.date}
    own |= {"within": plan.within}
    method = made.method if plan.planted_cut else plan.method
    collection = tally.told_apart(collection, plan.columns)
    with Index.open(store, method=method, artefacts=made.artefacts, **own) as index:
        progress.stage("adding", unit="documents", total_bytes=collection.plain_size())
        tally.follow(take_in(index, collection), progress)
    data = {"store": store, **tally.data}
    show(data, [*tally.summary(), f"Written to {store}."], as_json=as_json, quiet=quiet)
    tally.check_rejected(accepted=accept_rejected)


@click.command(short_help="Check documents and store them.")
@store_argument
@inputs_argument
@shared.encoding_option
@lines_option
@bulk_option
@shared.accept_rejected_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def add(
    store: str,
    inputs: tuple[str, ...],
    encoding: str | None,
    lines: bool,
    bulk: str | None,
    accept_rejected: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Decide the documents of INPUT in their order, and store them in the index STORE.

    INPUT: as in `dedup`. A document whose id is already in the index is rejected; an id that
    occurs in several files of INPUT is stored as file:id. A reported decision is durable: after an
    interruption, every document that was reported is stored.
    """
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.index_artefacts import hint
    from neardup.engines.index.refresh import take_in
    from neardup.progress import of_command

    tally = Tally(lines=lines, bulk=_bulk_of(bulk, lines=lines, as_json=as_json))
    progress = of_command(quiet=quiet)
    with opened(store) as index:
        made = index.described()
        collection = collect_inputs([(None, path) for path in inputs], encoding=encoding)
        collection = tally.told_apart(collection, index.columns)
        progress.stage("adding", unit="documents", total_bytes=collection.plain_size())
        tally.follow(take_in(index, collection), progress)
        advice = hint(made, index.stats()["documents"])
    summary = [*tally.summary(), *([advice] if advice else [])]
    show({"store": store, **tally.data}, summary, as_json=as_json, quiet=quiet)
    tally.check_rejected(accepted=accept_rejected)


@click.command(short_help="Check documents without storing them.")
@store_argument
@inputs_argument
@shared.encoding_option
@click.option(
    "--max-age",
    metavar="SPAN",
    help="Compare only with documents that are at most this much older: 30m, 6h, 7d.",
)
@lines_option
@shared.accept_rejected_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def check(
    store: str,
    inputs: tuple[str, ...],
    encoding: str | None,
    max_age: str | None,
    lines: bool,
    accept_rejected: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Check each document of INPUT against the index STORE; nothing is stored."""
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.refresh import ask
    from neardup.progress import of_command

    tally, progress = Tally(lines=lines), of_command(quiet=quiet)
    with opened(store, kinds=None if lines else False) as index:  # counts need none
        collection = collect_inputs([(None, path) for path in inputs], encoding=encoding)
        collection = tally.told_apart(collection, index.columns)
        progress.stage("checking", unit="documents", total_bytes=collection.plain_size())
        tally.follow(ask(index, collection, max_age), progress)
    show({"store": store, **tally.data}, tally.summary(), as_json=as_json, quiet=quiet)
    tally.check_rejected(accepted=accept_rejected, others="checked")


@click.command(short_help="Remove documents.")
@store_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@bulk_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def remove(store: str, ids: tuple[str, ...], bulk: str | None, as_json: bool, quiet: bool) -> None:
    """Remove the documents ID from the index STORE.

    Duplicates of a removed document are decided again, as if they arrived now in their old order.
    """
    request = _bulk_of(bulk, as_json=as_json)
    with opened(store) as index:
        again = {id_: index.remove(id_) for id_ in ids}
    if request:
        echo_bulk(_removals(request, again))
    lines = [f"{id_} was removed." for id_ in ids]
    for decided in again.values():
        lines += [
            f"  {other} is {'kept now' if match is None else f'a duplicate of {match.of} now'}."
            for other, match in decided.items()
        ]
    data = {
        id_: {other: match and match._asdict() for other, match in decided.items()}
        for id_, decided in again.items()
    }
    show({"removed": data}, lines, as_json=as_json, quiet=quiet)


def _removals(bulk: Bulk, again: dict[str, dict[str, Match | None]]) -> Iterator[str]:
    """The removed documents, and those whose decision they may have changed."""
    from neardup.integrations.bulk import updates

    yield from bulk.begin()
    for id_ in again:
        yield from bulk.delete(id_)
    now = {other: match for decided in again.values() for other, match in decided.items()}
    left = {
        other: match.of if match else None for other, match in now.items() if other not in again
    }
    yield from updates(bulk, list(left), list(left.values()))
    yield from bulk.end()


@click.command(short_help="Forget old documents.")
@store_argument
@click.option(
    "--before",
    metavar="TIME",
    required=True,
    help="Remove documents older than this ISO 8601 time, such as 2026-01-31T12:00.",
)
@shared.json_option
@shared.quiet_option
@shared.debug_option
def expire(store: str, before: str, as_json: bool, quiet: bool) -> None:
    """Forget the documents of the index STORE that are older than TIME.

    The effect is that of a window: the duplicates of a forgotten document remain duplicates.
    """
    with opened(store) as index:
        count = index.expire(before)
    show(
        {"store": store, "expired": count},
        [f"{many(count, 'document')} {'was' if count == 1 else 'were'} forgotten."],
        as_json=as_json,
        quiet=quiet,
    )


@click.command(short_help="Create the index again with new tables.")
@store_argument
@click.argument("new", metavar="NEW")
@click.option(
    "--run",
    metavar="FOLDER",
    type=shared.PATH,
    help="Take the tables of this run.  [default: count the texts of STORE]",
)
@shared.json_option
@shared.quiet_option
@shared.debug_option
def refresh(store: str, new: str, run: Path | None, as_json: bool, quiet: bool) -> None:
    """Create the index NEW from the texts of STORE, with new tables.

    STORE is only read and stays in use; NEW includes what is added to it meanwhile. The command
    reports how many decisions differ in NEW. STORE must have been built with --texts.
    """
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import refresh as made_again

    if Index.exists(new):
        raise UsageError(f"{new} already exists.", hint="name another place.")
    with opened(store) as old:
        found = made_again(old, new, run if run is not None else _counted(old))
    changed = found.documents - found.same
    lines = [
        f"{many(found.documents, 'document')}, {changed:,} decided differently: "
        f"{found.now_kept:,} now kept, {found.now_duplicate:,} now duplicates, "
        f"{found.of_another:,} now duplicates of another document.",
        f"Written to {new}.",
    ]
    show({"store": store, "new": new, **found._asdict()}, lines, as_json=as_json, quiet=quiet)


def _counted(old: Index) -> Artefacts:
    from neardup.documents.collection import collect
    from neardup.engines.execution import frozen
    from neardup.plan import resolve
    from neardup.settings import Settings

    made = old.described()
    texts = [{"id": one.id, "text": one.text or "", "within": one.within} for one in old]
    within = "within" if made["within"] else None
    plan = resolve(Settings(method=made["method"], set=made["asked"], within=within))
    return frozen(collect(texts), plan).artefacts


@click.command(short_help="Show what an index contains.")
@store_argument
@shared.json_option
@shared.debug_option
def stats(store: str, as_json: bool) -> None:
    """Show the settings of the index STORE, what it contains and how much space it needs."""
    from neardup.cli.terminal import show_table
    from neardup.engines.index.index_artefacts import Tables, hint
    from neardup.methods.registry import write_method

    with opened(store) as index:
        made, found = index.described(), index.stats()
        method = {"method": write_method(index.method)}
    if as_json:
        show_json({**made, **found}, default=str)
        return
    named = {name: made[name] for name in ("window", "against", "date", "within")}
    shown = {**method, "tables": Tables.in_use(made), **named, **found}
    rows = [(name, _shown(value)) for name, value in shown.items() if value is not None]
    show_table(("what", "value"), rows)
    if advice := hint(made, found["documents"]):
        echo(advice, err=True)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
