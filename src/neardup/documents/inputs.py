"""The inputs of a run and their names: files, addresses and objects, several of them in one run.

Each input has a name: the one that the user wrote, else that of its file. Policies can read it as
the column ``source`` if a run has several inputs or a named one; a file with values in its own
column of this name keeps them. Objects in memory (lists, frames, tables, datasets) are recognised
without importing their libraries.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.classes import dataclass
from neardup.documents.columns import Chunk, Columns, DocumentBatch
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.file_formats import CODECS, FORMATS, KINDS, XML
from neardup.documents.file_paths import apart, key_of, places_of, source_of
from neardup.documents.open_files import Limits, OpenFiles
from neardup.documents.remote import WILDCARDS, address_of
from neardup.documents.source import Reading, Source
from neardup.errors import InputError

if TYPE_CHECKING:
    from neardup.documents.lists import ListSource
    from neardup.documents.memory_tables import TableSource

_ACCEPTED = (
    "expected paths, a list or an iterator of texts or dicts, rows of a database, a pandas or "
    "polars frame or series, an Arrow table, a Hugging Face dataset, or anything with "
    "__arrow_c_stream__"
)
_HINTS = {
    "LazyFrame": "call .collect() first.",
}


def object_source(data: Any) -> ListSource | TableSource:
    from neardup.documents.lists import ListSource, SpooledRows

    if isinstance(data, list | tuple):
        return _list_source(data)
    if _class_of(data) == ("datasets", "IterableDataset"):
        return ListSource(SpooledRows(data))  # it may be iterable only once
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        return ListSource(SpooledRows(_rows(data)))
    return _table_source(data)


def mapping_class(data: Any) -> type[dict[str, Any]] | None:
    """The class of a mapping of inputs by name, which the kept ones come back in. A streaming
    dataset comes back as a list, so those of several splits are in a dict."""
    if type(data) is dict or _class_of(data) == ("datasets", "IterableDatasetDict"):
        return dict
    return type(data) if _class_of(data) == ("datasets", "DatasetDict") else None


def _class_of(data: Any) -> tuple[str, str]:
    """The library and the class of an object, found without importing the library."""
    return type(data).__module__.partition(".")[0], type(data).__name__


def _list_source(items: list[Any] | tuple[Any, ...]) -> ListSource:
    if any(isinstance(item, Path) for item in items):
        raise InputError(
            "The list mixes Path objects with other things.",
            hint="give only Path objects to read files, or only texts.",
        )
    from neardup.documents.lists import ListSource

    return ListSource([*_rows(items)] if any(map(_is_row, items)) else items)


def _is_row(item: Any) -> bool:
    return _class_of(item) == ("sqlite3", "Row")


def _rows(items: Iterable[Any]) -> Iterator[Any]:
    """Rows of a database as dicts. A cursor gives tuples, and has their names apart."""
    described = getattr(items, "description", None) or ()
    names = [column[0] for column in described]
    for item in items:
        if names and type(item) is tuple:
            yield dict(zip(names, item, strict=True))
        else:
            yield dict(item) if _is_row(item) else item


def _table_source(data: Any) -> TableSource:
    from neardup.documents.memory_tables import (
        arrow_source,
        dataset_source,
        pandas_source,
        polars_source,
    )

    library, shape = _class_of(data)
    if (library, shape) == ("pandas", "Series"):
        table = pandas_source(data.to_frame("text"))
        return replace(table, pick=lambda keep: data.iloc[np.flatnonzero(keep)], table=_of_series)
    if (library, shape) == ("polars", "Series"):
        table = polars_source(data.to_frame("text"))
        return replace(table, pick=lambda keep: data.filter(keep), table=_of_series)
    if library == "pandas" and shape == "DataFrame":
        return pandas_source(data)
    if library == "polars" and shape == "DataFrame":
        return polars_source(data)
    if library == "datasets" and shape == "Dataset":
        return dataset_source(data)
    if isinstance(data, pa.RecordBatch):
        return arrow_source(pa.Table.from_batches([data]), lambda keep: data.filter(pa.array(keep)))
    if isinstance(data, pa.Table):
        return arrow_source(data)
    if hasattr(data, "__arrow_c_stream__") and shape != "Series":
        return arrow_source(pa.table(data))
    hint = _HINTS.get(shape, "make it a list or a table.")
    raise InputError(f"Cannot read a {shape}; {_ACCEPTED}.", hint=hint)


def _of_series(kept: Any) -> pa.Table:
    return pa.table({"text": pa.array(kept.to_list())})


SOURCE = "source"


@dataclass(frozen=True)
class Inputs:
    """The name of the input of each source. ``offered``: names are the column ``source``;
    ``mapped``: the kept documents are returned by name, in a mapping of this class."""

    names: tuple[str, ...]
    offered: bool = False
    mapped: type[dict[str, Any]] | None = None


@dataclass
class _Entry:
    source: Source
    name: str
    given: bool


def gather(
    given: Sequence[tuple[str | None, Any]],
    encoding: str | None = None,
    extractor: Extractor | None = None,
    limits: Limits | None = None,
) -> tuple[list[Source], list[str]]:
    """The sources of all inputs in order, each file once, and the name of the input of each. It is
    an error if none of them can be read."""
    entries: dict[str, _Entry] = {}
    brought: dict[str, list[_Entry]] = {}  # the sources of each file or folder
    reading = Reading(encoding, extractor or Extractor(), OpenFiles(limits))
    for (own, item), name in zip(given, _names(given), strict=True):
        for key, make in _parts(item, name, reading, named=own is not None):
            if key not in brought:
                found = apart(key, make(), reading)
                parts = {k: _Entry(s, name, own is not None) for k, s in found}
                brought[key] = [entries.setdefault(k, entry) for k, entry in parts.items()]
                brought |= {k: [entries[k]] for k in parts if k not in brought}
            elif own is not None:
                for entry in brought[key]:
                    _rename(entry, own)
    sources = [entry.source for entry in entries.values()]
    lost: list[Any] = [source for source in sources if source.is_lost]
    if lost and len(lost) == len(sources):
        raise lost[0].error
    groups: dict[str, list[Source]] = {}
    for source in sources:
        if source.name_group:
            groups.setdefault(source.name_group, []).append(source)
    for several in (some for some in groups.values() if len(some) > 1):
        several[0].name_apart(several)
    for file, count in Counter(source.file for source in sources).items():
        if count > 1:  # decisions could not distinguish them
            raise InputError(f"Two inputs are called {file!r}.", hint="give them other names.")
    return sources, [entry.name for entry in entries.values()]


def _parts(
    item: Any, name: str, reading: Reading, *, named: bool
) -> Iterator[tuple[str, Callable[[], Source]]]:
    """A key that is the same for the same file, and a function that opens it."""
    if isinstance(item, str | Path) and (address := address_of(item)) and address.is_database:
        from neardup.documents.database import database_source

        yield address.shown, functools.partial(database_source, address, reading.files.limits)
    elif isinstance(item, str | Path):
        for place in places_of(item):
            yield key_of(place[0]), functools.partial(source_of, place, reading)
    elif isinstance(item, list | tuple) and item and all(isinstance(i, Path) for i in item):
        for path in item:
            yield from _parts(path, name, reading, named=named)
    else:
        source = object_source(item)
        yield f"object {id(source)}", lambda: replace(source, file=name) if named else source


def _rename(entry: _Entry, name: str) -> None:
    """A name that the user wrote has precedence over a derived one."""
    if entry.given and entry.name != name:
        raise InputError(
            f"{entry.source.file} is given twice, as {entry.name!r} and as {name!r}.",
            hint="give it one name.",
        )
    entry.name, entry.given = name, True


def _names(given: Sequence[tuple[str | None, Any]]) -> list[str]:
    """The names that the user wrote; else short names if they are unambiguous, or paths as
    written."""
    short = [own if own is not None else _short(item) for own, item in given]
    count = Counter(dict.fromkeys(zip(short, map(_written, given), strict=True)))
    often = Counter(name for name, _ in count)
    return [
        name if own is not None or often[name] == 1 else str(_written((own, item)))
        for name, (own, item) in zip(short, given, strict=True)
    ]


def _written(named_item: tuple[str | None, Any]) -> str:
    own, item = named_item
    if own is not None:
        return own
    if not isinstance(item, str | Path):
        return "input"
    address = address_of(item)
    return address.shown if address else str(item)


def _short(item: Any) -> str:
    """The name of the file without its format; for a glob, the whole of it."""
    written = _written((None, item))
    if written == "-":
        return "stdin"
    if isinstance(item, str | Path) and (address := address_of(item)) and address.is_database:
        return address.option("table") or PurePath(address.key).stem or written
    if any(sign in written for sign in WILDCARDS):
        return written
    name = PurePath(written).name or written
    for known in (CODECS, (*FORMATS, *KINDS, *XML)):
        stem, dot, suffix = name.rpartition(".")
        if stem and f"{dot}{suffix}".lower() in known:
            name = stem
    return name


@dataclass(frozen=True)
class _NamedChunk:
    """A chunk with a column ``source`` of strings, whether or not the file has one."""

    chunk: Chunk

    def read(self) -> DocumentBatch:
        batch = self.chunk.read()
        records = batch.records
        values = pa.nulls(records.num_rows, pa.large_string())
        if SOURCE in records.schema.names:
            values = _strings(records.column(SOURCE))
            records = records.drop_columns([SOURCE])
        return replace(batch, records=records.append_column(SOURCE, values))


def _strings(values: pa.Array) -> pa.Array:
    try:
        return values.cast(pa.large_string())
    except pa.ArrowException:  # a type that no policy can read, which policies report
        return values


def named_chunks(source: Source, columns: Columns) -> Iterator[Chunk]:
    """The chunks of a source, which need not have the column ``source``; see ``with_names``."""
    if SOURCE not in columns.delivered:
        yield from source.chunks(columns)
        return
    for chunk in source.chunks(replace(columns, optional=(*columns.optional, SOURCE))):
        yield _NamedChunk(chunk)


def with_names(
    values: pa.ChunkedArray, file: npt.NDArray[np.int32], names: Sequence[str]
) -> pa.ChunkedArray:
    """The column ``source`` of documents in numbered files. If no document of a file has a value of
    its own, all have the name of their input. This is decided after all were read, so that the size
    of chunks does not matter."""
    import pyarrow.compute as pc

    if values.type != pa.large_string():
        return values
    own = np.zeros(len(names), np.bool_)
    own[file[np.asarray(values.is_valid())]] = True
    named = pa.array(names, pa.large_string()).take(pa.array(file))
    return pc.if_else(pa.array(own[file]), values, named)
