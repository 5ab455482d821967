"""Writes the kept documents in the form of the input, in order, without holding them in memory.

Several input files become as many outputs of the same names, in one folder. Sources that share an
output (lists, feeds, folders, or all files of a format on request) may alternate, so such outputs
are open at the same time.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.documents.clashes import labels_of
from neardup.documents.columns import Mask
from neardup.documents.file_formats import is_known, list_name
from neardup.documents.lost import check_unchanged
from neardup.documents.source import Source, Write
from neardup.errors import ChangedError, InputError


def outputs_of(
    sources: Sequence[Source], name: str = "kept", *, one_file: bool = False
) -> dict[str, str]:
    """What is written for each source, by the name of the source: if there are several files, a
    file of the same name in a folder; else one output for all sources of a format."""
    files = [] if one_file else [source for source in sources if source.is_file]
    folders = any(not source.form for source in sources)
    place = f"{name}.files" if folders else name  # kept files of a folder are in ``kept``
    labels = labels_of([source.file for source in files]) if len(files) > 1 else {}
    return {
        source.file: f"{place}/{_own_name(source, labels[source.file])}"
        if source.file in labels
        else source.kept_name(name)
        for source in readable(sources)
    }


def _own_name(source: Source, label: str) -> str:
    """The label of a file as a path below a folder; a pipe has no extension of its own."""
    web = source.file.startswith(("http://", "https://"))
    parts = (label.partition("?")[0] if web else label).split("/")
    name = "/".join(part for part in parts if part not in ("", ".", ".."))
    return name if is_known(Path(name)) else source.kept_name(name)


def groups_of(
    sources: Sequence[Source], name: str = "kept", *, one_file: bool = False
) -> dict[str, list[Any]]:
    """The files that will be written, with their sources."""
    groups: dict[str, list[Any]] = {}
    outputs = outputs_of(sources, name, one_file=one_file)
    for source in readable(sources):
        groups.setdefault(outputs[source.file], []).append(source)
    return groups


def readable(sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if not source.is_lost]


def names_of(groups: dict[str, list[Any]]) -> list[str]:
    """The names of everything that is written for the groups."""
    folders = [name for name, some in groups.items() if not some[0].form]
    return [*groups, *map(list_name, folders)]


def write_groups(
    sources: Sequence[Source],
    keep: Mask,
    limit: int | None,
    folder: Path,
    groups: Mapping[str, list[Any]],
) -> None:
    """Writes all outputs into the folder, or none of them."""
    output = {source.file: name for name, some in groups.items() for source in some}
    apart = {name: folder / name for name in groups if "/" in name}
    with ExitStack() as stack:
        writers = {
            name: stack.enter_context(some[0].writer(some, folder / name))
            for name, some in groups.items()
            if name not in apart
        } | {name: _alone(path) for name, path in apart.items()}
        try:
            write_all(sources, keep, limit, lambda source: writers[output[source.file]])
        except BaseException:
            for place in {PurePath(name).parts[0] for name in apart}:
                shutil.rmtree(folder / place, ignore_errors=True)
            raise


def _alone(path: Path) -> Write:
    """Opens the output for its one source only: there may be more files than can be open."""

    def write(source: Any, keep: Mask) -> int:
        path.parent.mkdir(parents=True, exist_ok=True)
        with source.writer([source], path) as alone:
            return int(alone(source, keep))

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


def as_mask(keep: Any) -> Mask:
    mask = np.asarray(keep)
    if mask.dtype != np.bool_ or mask.ndim != 1:
        raise TypeError(f"keep must be a one-dimensional array of bool, got {mask.dtype}")
    return mask


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
