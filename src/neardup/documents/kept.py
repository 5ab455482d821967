"""Writes the kept documents in the form of the input, in order, without holding them in memory.

All outputs of a run are open at the same time, because sources of several formats may alternate. No
output gets its final name before all are complete and the mask was found to fit the documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.documents.arrow import ArrowSource, arrow_writer, unified_schema
from neardup.documents.block_source import LineWriter
from neardup.documents.columns import Mask
from neardup.documents.csv import CsvSource, check_headers
from neardup.documents.folder import FolderSource, folder_writer, list_name
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lost import LostSource, check_unchanged
from neardup.documents.memory_tables import TableSource
from neardup.documents.parquet import ParquetSource, parquet_writer
from neardup.documents.source import Source
from neardup.documents.streams import CODECS, packing_of, writing
from neardup.documents.warc import WarcSource, warc_writer
from neardup.errors import ChangedError, InputError
from neardup.files import whole_file

_SUFFIXES = {codec: suffix for suffix, codec in CODECS.items()}
# Writes the kept documents of a source and returns the number of its documents.
Write = Callable[[Any, Mask], int]


def kept_name(source: Source, name: str = "kept") -> str:
    if isinstance(source, JsonlSource | CsvSource):
        return f"{name}.{source.form}" + _SUFFIXES.get(packing_of(source.codec) or "", "")
    if isinstance(source, WarcSource):
        return f"{name}.warc" + _SUFFIXES.get(source.codec or "", "")
    if isinstance(source, ArrowSource):
        return f"{name}.{source.form}"
    if isinstance(source, FolderSource):
        return name
    ending = "parquet" if isinstance(source, ParquetSource | TableSource) else "jsonl"
    return f"{name}.{ending}"


def kept_form(source: Source) -> str:
    """The extension of the output without compression; empty for a folder."""
    _, dot, form = kept_name(source).partition(".")
    return dot + form.partition(".")[0]


def groups_of(sources: Sequence[Source], name: str = "kept") -> dict[str, list[Any]]:
    """The files that will be written, with their sources."""
    groups: dict[str, list[Any]] = {}
    for source in readable(sources):
        groups.setdefault(kept_name(source, name), []).append(source)
    return groups


def readable(sources: Sequence[Source]) -> list[Source]:
    return [source for source in sources if not isinstance(source, LostSource)]


def names_of(groups: dict[str, list[Any]]) -> list[str]:
    """The names of everything that is written for the groups."""
    folders = [name for name, some in groups.items() if isinstance(some[0], FolderSource)]
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
    if isinstance(first, FolderSource):
        return folder_writer(path)
    if isinstance(first, WarcSource):
        return warc_writer(path, first.codec)
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
