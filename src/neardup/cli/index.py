"""``neardup index``: build an index, check and add documents, and maintain it.

The commands open a store, follow what the library decides on each document, and report it.
``watch`` and ``serve`` open an index here too, and create it if it does not exist.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import Commands, Failure, echo, echo_json, show_json
from neardup.cli.options import settings_from
from neardup.errors import DataError, UsageError
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.artefacts.artefact import Artefacts
    from neardup.documents.clashes import Shared
    from neardup.documents.collection import Collection
    from neardup.documents.columns import Columns, Rejected
    from neardup.engines.index.arrival_rule import Match
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import Taken
    from neardup.integrations.bulk import Bulk
    from neardup.progress import Progress

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


SHOWN_REJECTED = 3

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


def _echo_bulk(lines: Iterable[str]) -> None:
    for bulk_line in lines:
        echo_json(bulk_line)


@contextmanager
def opened(store: str, **settings: Any) -> Iterator[Index]:
    """An index that exists: a wrong name must not create a new one."""
    from neardup.engines.index.index import Index

    with Index.open(store, create=False, **settings) as index:
        yield index


def opened_or_new(url: str, options: dict[str, Any], *, create: bool = True) -> Index:
    """The index at ``url``; a new one has the settings of ``new_index_options``."""
    from neardup.engines.index.index import Index
    from neardup.methods.registry import parse_assignments

    settings = {name: value for name, value in options.items() if name != "whose"}
    settings |= {"source": options["whose"], "set": parse_assignments(settings.pop("assignments"))}
    written = {name: value for name, value in settings.items() if value is not None}
    return Index.open(url, create=create, **written)


def hint_of(index: Index, *, quiet: bool) -> None:
    """Shows what to do about general tables, if there is something to do."""
    from neardup.engines.index.general_tables import hint

    if not quiet and (advice := hint(index.described(), index.stats()["documents"])):
        echo(advice, err=True)


@dataclass
class Tally:
    """Counts the decisions on documents, and reports them."""

    lines: bool
    bulk: Bulk | None = None
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    shown: list[Rejected] = field(default_factory=list)
    shared: Shared | None = None
    unreadable: Counter[str] = field(default_factory=Counter)

    def told_apart(self, collection: Collection, columns: Columns) -> Collection:
        """The documents under the names they are stored with: an id that several files have gets
        the file in front. Remembers what was renamed."""
        collection, self.shared = collection.told_apart(columns)
        return collection

    def follow(self, parts: Iterable[Taken], progress: Progress) -> None:
        from neardup.engines.index.arrivals import Known

        _echo_bulk(self.bulk.begin() if self.bulk else ())
        for part in parts:
            self.unreadable.update(r.file for r in part.rejected if r.reason != Known.ID.value)
            aside = sum(match is not None for match in part.matches)
            self.kept += len(part.ids) - aside
            self.duplicates += aside
            self.rejected += len(part.rejected)
            self.shown += part.rejected[: SHOWN_REJECTED - len(self.shown)]
            if self.lines:
                self._print(part)
            if self.bulk:
                self._print_bulk(self.bulk, part)
            progress.advance(len(part.ids) + len(part.rejected), part.size)
        _echo_bulk(self.bulk.end() if self.bulk else ())
        progress.finish()

    def _print_bulk(self, bulk: Bulk, part: Taken) -> None:
        from neardup.integrations.bulk import updates

        kept_ids = [match.of if match else None for match in part.matches]
        _echo_bulk(updates(bulk, part.ids, kept_ids))

    def _print(self, part: Taken) -> None:
        for id_, match in zip(part.ids, part.matches, strict=True):
            echo_json(line(id_, match))
        for lost in part.rejected:
            row = {"id": lost.id, "decision": "rejected", "reason": lost.reason}
            echo_json(json.dumps({**row, "file": lost.file, "row": lost.row}, ensure_ascii=False))

    def check_rejected(self, *, accepted: bool, others: str = "stored") -> None:
        """Fails if most documents were unreadable, although the others were stored or checked. An
        id that is in the index already is no failure: an interrupted command is repeated."""
        from neardup.runs.rejections import is_most

        unreadable, total = self.unreadable.total(), self.counts["documents"]
        if accepted or not is_most(unreadable, total):
            return
        names = ", ".join(list(self.unreadable)[:SHOWN_REJECTED])
        raise Failure(
            f"{unreadable:,} of {many(total, 'document')} could not be read, in {names}; the "
            f"others were {others}.\nHint: check --text, --id and --encoding. With "
            "--accept-rejected the exit code is 0.",
            DataError.exit_code,
        )

    @property
    def counts(self) -> dict[str, int]:
        total = self.kept + self.duplicates + self.rejected
        counted = {"kept": self.kept, "duplicates": self.duplicates, "rejected": self.rejected}
        return {"documents": total, **counted}

    @property
    def data(self) -> dict[str, Any]:
        renamed = {} if self.shared is None else {"shared_ids": self.shared._asdict()}
        return {**self.counts, **renamed}

    def summary(self) -> list[str]:
        lost = [f"  rejected: {r.where}: {shortened(r.reason, 300)}" for r in self.shown]
        more = self.rejected - len(self.shown)
        renamed = [self.shared.sentence()] if self.shared else []
        lost += [f"  … and {more:,} more rejected"] if more else []
        return [*renamed, *lost, self._sentence()]

    def _sentence(self) -> str:
        total = self.kept + self.duplicates + self.rejected
        return (
            f"{many(total, 'document')} = {self.kept:,} kept + "
            f"{many(self.duplicates, 'duplicate')} + {self.rejected:,} rejected"
        )


def line(id_: str, match: Match | None) -> str:
    row: dict[str, Any] = {"id": id_, "decision": "kept" if match is None else "duplicate"}
    if match is not None:
        row |= {"kept_id": match.of, "score": match.score, "reason": match.reason}
        row |= {"kind": match.kind}
        row |= {"direction": match.direction} if match.direction else {}
        row |= {"by": match.by} if match.by else {}
    return json.dumps(row, ensure_ascii=False)


def show(data: dict[str, Any], lines: list[str], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        show_json(data, default=str)
    elif not quiet:
        echo("\n".join(lines), err=True)


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
@shared.window_option
@shared.compared_option
@click.option("--source", metavar="COL", help=f"{shared.SOURCE}.  [default: source]")
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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.execution import frozen
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import take_in
    from neardup.papers.recipe import read_index
    from neardup.plan import resolve

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
    progress = progress_for(quiet=quiet)
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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.general_tables import hint
    from neardup.engines.index.refresh import take_in

    tally = Tally(lines=lines, bulk=_bulk_of(bulk, lines=lines, as_json=as_json))
    progress = progress_for(quiet=quiet)
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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.refresh import ask

    tally, progress = Tally(lines=lines), progress_for(quiet=quiet)
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
        _echo_bulk(_removals(request, again))
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
    from neardup.engines.index.general_tables import Tables, hint
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
