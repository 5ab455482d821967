"""Writes the kept documents in the form of the input, in order, without holding them in memory.

Several input files become as many outputs of the same names, in one folder. Sources that share an
output (lists, feeds, folders, or all files of a format on request) may alternate, so such outputs
are open at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.documents.clashes import labels_of
from neardup.documents.columns import Mask
from neardup.documents.file_formats import is_known, list_name
from neardup.documents.lost import check_unchanged
from neardup.documents.source import Source, Write
from neardup.errors import ChangedError, InputError


def groups_of(
    sources: Sequence[Source], name: str = "kept", *, one_file: bool = False
) -> dict[str, list[Any]]:
    """The outputs that will be written, with their sources: if there are several files, a file of
    the same name in a folder for each; else one output for all sources of a format."""
    files = [] if one_file else [source for source in sources if source.is_file]
    folders = any(not source.form for source in sources)
    place = f"{name}.files" if folders else name  # kept files of a folder are in ``kept``
    labels = labels_of([source.file for source in files]) if len(files) > 1 else {}
    groups: dict[str, list[Any]] = {}
    for source in readable(sources):
        label = labels.get(source.file)
        own = source.kept_name(name) if label is None else f"{place}/{_own_name(source, label)}"
        groups.setdefault(own, []).append(source)
    return groups


def _own_name(source: Source, label: str) -> str:
    """The label of a file as a path below a folder; a pipe has no extension of its own."""
    web = source.file.startswith(("http://", "https://"))
    parts = (label.partition("?")[0] if web else label).split("/")
    name = "/".join(part for part in parts if part not in ("", ".", ".."))
    return name if is_known(Path(name)) else source.kept_name(name)


def readable(sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if not source.is_lost]


def names_of(groups: dict[str, list[Any]]) -> list[str]:
    """The names of everything that is written for the groups."""
    folders = [name for name, some in groups.items() if not some[0].form]
    return [*groups, *map(list_name, folders)]


def alone(path: Path) -> Write:
    """Opens the output for its one source only: there may be more files than can be open."""

    def write(source: Any, keep: Mask) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        with source.writer([source], path) as own:
            return int(own(source, keep))

    return write


def write_all(
    sources: Sequence[Source], keep: Mask, limit: int | None, writer_of: Callable[[Source], Write]
) -> None:
    position = 0
    for source in sources:
        if source.is_lost:
            position += 1
            continue
        position += writer_of(source)(source, keep[position:])
        check_unchanged(source)  # last, so that no change is missed
    check_length(keep, position, limit)


def check_length(keep: Mask, documents: int, limit: int | None) -> None:
    if len(keep) != (documents if limit is None else min(documents, limit)):
        raise ChangedError(
            f"Decisions were made for {len(keep)} documents, but the input now has {documents}.",
            hint="the input changed during the run; run again.",
        )


def joined(parts: list[pa.Table]) -> pa.Table:
    if not parts:  # nothing of the input could be read
        return pa.table({})
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(
            f"The files cannot be one table: {error}.", hint="read them apart, or write the kept."
        ) from error
