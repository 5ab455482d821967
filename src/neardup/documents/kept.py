"""Writes the kept documents in the form of the input, in order, without holding them in memory.

Several input files become as many outputs of the same names, in one folder. Sources that share an
output (lists, feeds, folders, or all files of a format on request) may alternate, so such outputs
are open at the same time.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.arrow import ArrowSource, arrow_writer, unified_schema
from neardup.documents.block_source import LineWriter
from neardup.documents.clashes import labels_of
from neardup.documents.columns import Mask
from neardup.documents.csv import CsvSource, check_headers
from neardup.documents.file_paths import is_known, named_format
from neardup.documents.folder import FolderSource
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lost import LostSource, check_unchanged
from neardup.documents.mail import MboxSource, mbox_writer
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource, parquet_writer
from neardup.documents.source import Source
from neardup.documents.streams import CODECS, packing_of, writing
from neardup.documents.warc import WarcSource, warc_writer
from neardup.errors import ChangedError, InputError
from neardup.files import whole_file

_SUFFIXES = {codec: suffix for suffix, codec in CODECS.items()}
_FILES = JsonlSource | CsvSource | WarcSource | MboxSource | ArrowSource | ParquetSource
# Writes the kept documents of a source and returns the number of its documents.
Write = Callable[[Any, Mask], int]


def kept_name(source: Source, name: str = "kept") -> str:
    if own := getattr(source, "own_output", None):
        return str(own)
    if isinstance(source, JsonlSource | CsvSource):
        return f"{name}.{source.form}" + _SUFFIXES.get(packing_of(source.codec) or "", "")
    if isinstance(source, WarcSource | MboxSource):
        form = "warc" if isinstance(source, WarcSource) else "mbox"
        return f"{name}.{form}" + _SUFFIXES.get(source.codec or "", "")
    if isinstance(source, ArrowSource):
        return f"{name}.{source.form}"
    if isinstance(source, FolderSource):
        return name
    ending = "parquet" if isinstance(source, ParquetSource | TableSource) else "jsonl"
    return f"{name}.{ending}"


def is_folder(source: Source) -> bool:
    """Whether its kept documents are files in a folder."""
    return isinstance(source, FolderSource) and not isinstance(source, MboxSource)


def kept_form(source: Source) -> str:
    """The extension of the output without compression; empty for a folder."""
    _, dot, form = kept_name(source).partition(".")
    return dot + form.partition(".")[0]


def outputs_of(
    sources: Sequence[Source], name: str = "kept", *, one_file: bool = False
) -> dict[str, str]:
    """What is written for each source, by the name of the source: if there are several files, a
    file of the same name in a folder; else one output for all sources of a format."""
    files = [] if one_file else [s for s in sources if isinstance(s, _FILES | LostSource)]
    folders = any(map(is_folder, sources))
    place = f"{name}.files" if folders else name  # kept files of a folder are in ``kept``
    labels = labels_of([source.file for source in files]) if len(files) > 1 else {}
    return {
        source.file: f"{place}/{_own_name(source, labels[source.file])}"
        if source.file in labels
        else kept_name(source, name)
        for source in readable(sources)
    }


def _own_name(source: Source, label: str) -> str:
    """The label of a file as a path below a folder; a pipe has no extension of its own."""
    web = source.file.startswith(("http://", "https://"))
    parts = (label.partition("?")[0] if web else label).split("/")
    name = "/".join(part for part in parts if part not in ("", ".", ".."))
    return name if is_known(Path(name)) else kept_name(source, name)


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
    return [source for source in sources if not isinstance(source, LostSource)]


def names_of(groups: dict[str, list[Any]]) -> list[str]:
    """The names of everything that is written for the groups."""
    folders = [name for name, some in groups.items() if is_folder(some[0])]
    return [*groups, *map(list_name, folders)]


def check_group(sources: Sequence[Any]) -> None:
    """Raises an error if the sources cannot be written into one file."""
    if isinstance(sources[0], ParquetSource | ArrowSource | TableSource) and len(sources) > 1:
        unified_schema(sources)
    if isinstance(sources[0], CsvSource):
        check_headers(sources)


def writer(sources: Sequence[Any], path: Path) -> AbstractContextManager[Write]:
    first = sources[0]
    check_group(sources)
    if isinstance(first, ParquetSource) or (isinstance(first, TableSource) and len(sources) > 1):
        return parquet_writer(sources, path)
    if isinstance(first, MboxSource):
        return mbox_writer(path, named_format(path)[1])
    if isinstance(first, FolderSource):
        return folder_writer(path)
    if isinstance(first, WarcSource):
        return warc_writer(path, named_format(path)[1])
    if isinstance(first, ArrowSource):
        return arrow_writer(sources, path)
    if isinstance(first, TableSource):
        return _table_writer(path)
    return _line_writer(path, packing_of(getattr(first, "codec", None)))


@contextmanager
def _line_writer(path: Path, codec: str | None) -> Iterator[Write]:
    with writing(path, codec) as stream:
        lines = LineWriter(stream)
        yield lambda source, keep: int(source.copy(keep, lines))


@contextmanager
def _table_writer(path: Path) -> Iterator[Write]:
    def write(source: TableSource, keep: Mask) -> int:
        kept, rows = source.kept(keep)
        pq.write_table(source.table(kept), part, compression="zstd")
        return rows

    with whole_file(path) as part:
        yield write


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
            name: stack.enter_context(writer(some, folder / name))
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
        with writer([source], path) as alone:
            return alone(source, keep)

    return write


def write_all(
    sources: Sequence[Source], keep: Mask, limit: int | None, writer_of: Callable[[Source], Write]
) -> None:
    position = 0
    for source in sources:
        if isinstance(source, LostSource):
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


def list_name(folder: str) -> str:
    """The name of the list of files that were copied into a folder."""
    return f"{folder}.txt"


@contextmanager
def folder_writer(path: Path) -> Iterator[Callable[[FolderSource, Mask], int]]:
    """A function that copies the kept files of a folder and returns its number of files."""
    if path.exists():
        raise InputError(
            f"{path} is already there.", hint="remove it, or name another folder with -o."
        )
    part = path.with_name(path.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    places: list[str] = []

    def write(source: FolderSource, keep: Mask) -> int:
        places.extend(source.copy_files(keep, part))
        return len(source.entries)

    try:
        yield write
        with whole_file(path.with_name(list_name(path.name))) as listed:
            listed.write_bytes(b"".join(os.fsencode(place) + b"\n" for place in places))
        part.replace(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
