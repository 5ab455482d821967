"""Builds a new index with new tables from an old one, and adds or checks whole collections.

The rarest terms change as a collection grows, so tables age (Conrad et al. 2003). The texts of the
old index arrive in the new one in their old order and with their old times, signed with the new
tables; later events follow, until none is left. The old index stays in use and is only read. At the
end the decisions of both are compared, and users switch to the new index.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from neardup.documents.collection import Collection, collect_inputs
from neardup.documents.columns import Columns, Rejected
from neardup.documents.source import chunk_results, read_chunk
from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.arrivals import Known
from neardup.engines.index.index import Index
from neardup.engines.index.index_artefacts import run_info
from neardup.engines.index.store import LOG, Gone, Row, Store
from neardup.errors import IndexStoreError, InputError, SettingsError
from neardup.runs.run_folder import named_as_in_run

BATCH = 1000
READERS = 2  # threads that read the next chunks while documents are added


class Refreshed(NamedTuple):
    """The number of decisions that the new tables change."""

    documents: int
    same: int
    now_kept: int
    now_duplicate: int
    of_another: int


def refresh(old: Index, url: str | Path, artefacts: Any) -> Refreshed:
    """Builds the index ``url`` from ``old`` with different artefacts (as in ``Index.open``)."""
    description = old.described()
    if not description["texts"]:
        raise SettingsError(
            "The index has no texts, so they cannot be signed again.",
            hint="make it with texts=True (--texts), or build a new one from the documents.",
        )
    may_be_missing = (description["within"], *old.columns.optional)
    if others := [name for name in old.columns.extra if name not in may_be_missing]:
        raise SettingsError(
            f"The method also reads {', '.join(map(repr, others))}, which the index does not have.",
            hint="build a new one from the documents.",
        )
    names = ("text", "id", "date", "window", "against", "texts", "within", "source")
    settings = {name: description[name] for name in names}
    settings["passages"] = description.get("passages")
    asked = {"method": description["method"], "set": description["asked"]}
    with Index.open(url, artefacts=artefacts, **asked, **settings) as new:
        _follow(old.store, new)
        new.keep_passages()
        return _compared(old, new)


def _follow(store: Store, new: Index) -> None:
    """Copies all documents and then all later events, until there are no new ones."""
    ids: dict[int, str] = {}
    seen = 0
    while (now := store.counters().last) > seen:
        if seen and now - seen > LOG // 2:
            raise _too_fast(store.url)
        # Later events are read in the next round, only once.
        changes = takewhile(lambda one: one.seq <= now, store.changes(seen, duplicates=True))
        for _, run in groupby(changes, key=type):
            for some in _batches(run):
                _take(new, some, ids)
        seen = now


def _too_fast(url: str) -> IndexStoreError:
    return IndexStoreError(
        f"More happened to {url} than its log remembers while it was read.",
        hint="refresh it when less is written; the new index is not whole, so delete it.",
    )


def _batches(run: Iterator[Row | Gone]) -> Iterator[list[Any]]:
    some: list[Any] = []
    for one in run:
        some.append(one)
        if len(some) == BATCH:
            yield some
            some = []
    if some:
        yield some


def _take(new: Index, some: list[Any], ids: dict[int, str]) -> None:
    if isinstance(some[0], Row):
        fresh = [row for row in some if row.seq not in ids]
        ids.update((row.seq, row.id) for row in fresh)
        new.take_rows(fresh)
        return
    for gone in some:
        if gone.before is not None:
            new.expire(gone.before / 1000)
        elif (id_ := ids.get(gone.removed)) is not None and id_ in new:
            new.remove(id_)


def _compared(old: Index, new: Index) -> Refreshed:
    before = {entry.id: entry.kept_id for entry in old}
    after = {entry.id: entry.kept_id for entry in new}
    both = [(before[id_], after[id_]) for id_ in before if id_ in after]
    return Refreshed(
        len(both),
        sum(was == is_ for was, is_ in both),
        sum(was is not None and is_ is None for was, is_ in both),
        sum(was is None and is_ is not None for was, is_ in both),
        sum(None not in (was, is_) and was != is_ for was, is_ in both),
    )


class Taken(NamedTuple):
    """The results for the documents of a chunk; ``ids`` and ``matches`` are those of usable
    documents."""

    ids: list[str]
    matches: list[Match | None]
    rejected: list[Rejected]
    size: int


def take_in(index: Index, collection: Collection) -> Iterator[Taken]:
    """Adds all documents; a chunk is durable when it is yielded."""
    for batch in chunk_results(collection.chunks(index.columns), read_chunk, READERS):
        ids, rows = (batch.records.column(name).to_pylist() for name in ("id", "row"))
        answers = list(zip(ids, rows, index.add_records(batch.records), strict=True))
        known = [
            Rejected(batch.file, row, answer.value, id_, collection.path_of(batch.file, row))
            for id_, row, answer in answers
            if isinstance(answer, Known)
        ]
        taken = [(id_, match) for id_, _, match in answers if not isinstance(match, Known)]
        yield Taken(
            [id_ for id_, _ in taken],
            [match for _, match in taken],
            [*batch.rejected, *known],
            batch.size,
        )
    index.keep_passages()


def ask(index: Index, collection: Collection, max_age: str | None) -> Iterator[Taken]:
    """Checks all documents; nothing is stored."""
    for batch in chunk_results(collection.chunks(index.columns), read_chunk, READERS):
        matches = index.check_records(batch.records, max_age=max_age)
        yield Taken(batch.records.column("id").to_pylist(), matches, batch.rejected, batch.size)


def kept_of_run(folder: Path, columns: Columns) -> Collection:
    """The kept files of a run as a collection, because a run may have stored no keys for an
    index."""
    info = run_info(folder)
    names = [name for name in info.get("kept_files", []) if str(name).startswith("kept")]
    if not names:
        raise InputError(
            f"The run {folder} has no kept documents to begin with.",
            hint="make the run with `neardup dedup … -o FOLDER`, without --annotate.",
        )
    inputs = [(None, folder / name) for name in names]
    collection = collect_inputs(inputs, encoding=info["settings"].get("encoding"))
    return named_as_in_run(collection, folder, info, columns)
