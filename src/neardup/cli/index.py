"""``neardup index``: documents that come one by one, asked of and kept in a store.

``neardup index build``: an index from a collection, with everything frozen.

``neardup index add``: check new documents and store them.

``neardup index check``: what documents would be duplicates of.

``neardup index remove``: take documents out of an index.

``neardup index expire``: forget old documents.

``neardup index refresh``: a new index with new tables beside the old one.

``neardup index stats``: what is in an index, and what it costs.

What the commands of ``neardup index`` share: opening a store, and telling what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import Commands
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
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.artefacts.artefact import Artefacts
    from neardup.documents import Collection, Columns, Rejected
    from neardup.documents.clashes import Shared
    from neardup.engines.index.arrival_rule import Match
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import Taken
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


@click.group(cls=Commands, homes=COMMANDS, short_help="Keep an index that new documents are asked.")
def index() -> None:
    """An index of documents that come one by one.

    STORE is a file (SQLite) or postgresql://…. It remembers method, parameters and what was counted
    from the documents it was built from, so that later documents are decided alike.
    """


SHOWN_REJECTED = 3

store_argument = click.argument("store", metavar="STORE")
inputs_argument = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
lines_option = click.option(
    "--lines",
    is_flag=True,
    help="Print one JSON line a document: id, decision, and of a duplicate what it is of and why.",
)
quiet_option = click.option(
    "--quiet", is_flag=True, help="No progress and no summary; errors are shown."
)


@contextmanager
def opened(store: str, **settings: Any) -> Iterator[Index]:
    """An index that is there: a wrong name must not make a new one."""
    from neardup.engines.index.index import Index

    with Index.open(store, create=False, **settings) as index:
        yield index


@dataclass
class Told:
    """Counts what came of documents, and says it."""

    lines: bool
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    shown: list[Rejected] = field(default_factory=list)
    shared: Shared | None = None

    def told_apart(self, collection: Collection, columns: Columns) -> Collection:
        """The documents with the names under which they are stored: an id that several of the files
        have is told apart by the file. Remembers what was renamed."""
        collection, self.shared = collection.told_apart(columns)
        return collection

    def follow(self, parts: Iterable[Taken], progress: Progress) -> None:
        for part in parts:
            aside = sum(match is not None for match in part.matches)
            self.kept += len(part.ids) - aside
            self.duplicates += aside
            self.rejected += len(part.rejected)
            self.shown += part.rejected[: SHOWN_REJECTED - len(self.shown)]
            if self.lines:
                self._print(part)
            progress.advance(len(part.ids) + len(part.rejected), part.size)
        progress.finish()

    def _print(self, part: Taken) -> None:
        for id_, match in zip(part.ids, part.matches, strict=True):
            click.echo(line(id_, match))
        for lost in part.rejected:
            said = {"id": lost.id, "decision": "rejected", "reason": lost.reason}
            click.echo(json.dumps({**said, "file": lost.file, "row": lost.row}, ensure_ascii=False))

    @property
    def counts(self) -> dict[str, int]:
        total = self.kept + self.duplicates + self.rejected
        counted = {"kept": self.kept, "duplicates": self.duplicates, "rejected": self.rejected}
        return {"documents": total, **counted}

    @property
    def data(self) -> dict[str, Any]:
        shared = {} if self.shared is None else {"shared_ids": self.shared._asdict()}
        return {**self.counts, **shared}

    def summary(self) -> list[str]:
        lost = [f"  rejected: {r.where}: {shortened(r.reason, 300)}" for r in self.shown]
        more = self.rejected - len(self.shown)
        shared = [self.shared.sentence()] if self.shared else []
        lost += [f"  … and {more:,} more rejected"] if more else []
        return [*shared, *lost, self._sentence()]

    def _sentence(self) -> str:
        total = self.kept + self.duplicates + self.rejected
        return (
            f"{many(total, 'document')} = {self.kept:,} kept + "
            f"{many(self.duplicates, 'duplicate')} + {self.rejected:,} rejected"
        )


def line(id_: str, match: Match | None) -> str:
    said: dict[str, Any] = {"id": id_, "decision": "kept" if match is None else "duplicate"}
    if match is not None:
        said |= {"kept_id": match.of, "score": match.score, "reason": match.reason}
        said |= {"kind": match.kind}
        said |= {"by": match.by} if match.by else {}
    return json.dumps(said, ensure_ascii=False)


def show(data: dict[str, Any], lines: list[str], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))
    elif not quiet:
        click.echo("\n".join(lines), err=True)


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
    from neardup.cli.options import settings_from
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.execution import frozen
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import take_in
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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.general_tables import hint
    from neardup.engines.index.refresh import take_in

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
    from neardup.cli.terminal import progress_for
    from neardup.documents.collection import collect_inputs
    from neardup.engines.index.refresh import ask

    told, progress = Told(lines=lines), progress_for(quiet=quiet)
    with opened(store, kinds=None if lines else False) as index:  # counts need none
        collection = collect_inputs([(None, one) for one in inputs], encoding=encoding)
        collection = told.told_apart(collection, index.columns)
        progress.stage("checking", unit="documents", total_bytes=collection.plain_size())
        told.follow(ask(index, collection, max_age), progress)
    show({"store": store, **told.data}, told.summary(), as_json=as_json, quiet=quiet)


@click.command(short_help="Take documents out.")
@store_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@quiet_option
@debug_option
def remove(store: str, ids: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Take the documents ID out of the index STORE.

    Documents that were set aside for one of them are decided again, as if they arrived now in their
    old order.
    """

    with opened(store) as index:
        again = {id_: index.remove(id_) for id_ in ids}
    lines = [f"{id_} is removed." for id_ in ids]
    for found in again.values():
        lines += [
            f"  {other} is {'kept now' if match is None else f'a duplicate of {match.of} now'}."
            for other, match in found.items()
        ]
    data = {
        id_: {other: match and match._asdict() for other, match in found.items()}
        for id_, found in again.items()
    }
    show({"removed": data}, lines, as_json=as_json, quiet=quiet)


@click.command(short_help="Forget old documents.")
@store_argument
@click.option(
    "--before",
    metavar="TIME",
    required=True,
    help="Documents of an earlier time go: ISO 8601 such as 2026-01-31T12:00.",
)
@json_option
@quiet_option
@debug_option
def expire(store: str, before: str, as_json: bool, quiet: bool) -> None:
    """Forget the documents of the index STORE that are older than TIME.

    As if they had fallen out of a window: those that were set aside for them stay as they are.
    """

    with opened(store) as index:
        count = index.expire(before)
    show(
        {"store": store, "expired": count},
        [f"{count:,} documents are forgotten."],
        as_json=as_json,
        quiet=quiet,
    )


@click.command(short_help="Sign the documents again with new tables.")
@store_argument
@click.argument("new", metavar="NEW")
@click.option(
    "--run",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Take the tables of this run.  [default: count the texts of STORE]",
)
@json_option
@quiet_option
@debug_option
def refresh(store: str, new: str, run: Path | None, as_json: bool, quiet: bool) -> None:
    """Make the index NEW from the texts of STORE, with new tables.

    STORE is only read and may go on working; what happens to it meanwhile is taken along. Says how
    many decisions are others in NEW. STORE must have been built with --texts.
    """
    from neardup.engines.index.index import Index
    from neardup.engines.index.refresh import refresh as made_again

    if Index.exists(new):
        raise UsageError(f"{new} is already there.", hint="name another place.")
    with opened(store) as old:
        found = made_again(old, new, run if run is not None else _counted(old))
    changed = found.documents - found.same
    lines = [
        f"{found.documents:,} documents, {changed:,} decided otherwise: {found.now_kept:,} kept "
        f"now, {found.now_duplicate:,} duplicates now, {found.of_another:,} of another document.",
        f"Written to {new}.",
    ]
    show({"store": store, "new": new, **found._asdict()}, lines, as_json=as_json, quiet=quiet)


def _counted(old: Index) -> Artefacts:
    from neardup.documents import collect
    from neardup.engines.execution import frozen
    from neardup.plan import resolve
    from neardup.settings import Settings

    made = old.described()
    texts = [{"id": one.id, "text": one.text or "", "within": one.within} for one in old]
    within = "within" if made["within"] else None
    plan = resolve(Settings(method=made["method"], set=made["asked"], within=within))
    return frozen(collect(texts), plan).artefacts


@click.command(short_help="Say what is in an index.")
@store_argument
@json_option
@debug_option
def stats(store: str, as_json: bool) -> None:
    """Say what the index STORE was made with, what is in it and what it takes."""
    from neardup.cli.terminal import show_table
    from neardup.engines.index.general_tables import Tables, hint
    from neardup.methods.registry import write_method

    with opened(store) as index:
        made, found = index.described(), index.stats()
        method = {"method": write_method(index.method)}
    if as_json:
        click.echo(json.dumps({**made, **found}, indent=2, default=str))
        return
    named = {name: made[name] for name in ("window", "against", "date", "within")}
    shown = {**method, "tables": Tables.in_use(made), **named, **found}
    rows = [(name, _shown(value)) for name, value in shown.items() if value is not None]
    show_table(("what", "value"), rows)
    if said := hint(made, found["documents"]):
        click.echo(said, err=True)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
