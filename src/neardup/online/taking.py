"""Whole collections into an index, or asked of it; and the kept documents of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from neardup.documents import Collection, Columns, Rejected
from neardup.documents.collection import collect_inputs
from neardup.errors import InputError
from neardup.online.arrivals import Known
from neardup.online.frozen import run_info
from neardup.online.index import Index
from neardup.online.rule import Match
from neardup.outputs.kept_names import named_as_in_run


class Taken(NamedTuple):
    """What became of the documents of a chunk; ``ids`` and ``matches`` of those that could be
    used."""

    ids: list[str]
    matches: list[Match | None]
    rejected: list[Rejected]
    size: int


def take_in(index: Index, collection: Collection) -> Iterator[Taken]:
    """Adds all documents; a chunk is durable when it is given."""
    for chunk in collection.chunks(index.columns):
        batch = chunk.read()
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


def ask(index: Index, collection: Collection, max_age: str | None) -> Iterator[Taken]:
    """Checks all documents; nothing is stored."""
    for chunk in collection.chunks(index.columns):
        batch = chunk.read()
        matches = index.check_records(batch.records, max_age=max_age)
        yield Taken(batch.records.column("id").to_pylist(), matches, batch.rejected, batch.size)


def kept_of_run(folder: Path, columns: Columns) -> Collection:
    """From the kept files: a run does not always store keys that serve an index."""
    info = run_info(folder)
    names = [name for name in info.get("kept_files", []) if str(name).startswith("kept")]
    if not names:
        raise InputError(
            f"The run {folder} has no kept documents to begin with.",
            hint="make the run with `neardup dedup … -o FOLDER`, without --annotate.",
        )
    given = [(None, folder / name) for name in names]
    collection = collect_inputs(given, encoding=info["settings"].get("encoding"))
    return named_as_in_run(collection, folder, info, columns)
