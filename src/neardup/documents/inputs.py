"""The inputs of a run, their names, and the source of each: files, globs, addresses and objects.

Each input has a name: the one that the user wrote, else that of its file. Policies can read it as
the column ``source`` if a run has several inputs or a named one; a file with values in its own
column of this name keeps them. The files of one glob are sorted. The name of a file determines its
format, and the reader of the format is imported when the first such file is opened.
"""

from __future__ import annotations

import functools
import glob
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.classes import dataclass
from neardup.documents.columns import Chunk, Columns, DocumentBatch
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.file_formats import (
    ARROW,
    CODECS,
    CSV,
    EXPECTED,
    FORMATS,
    JSONL,
    KINDS,
    PARQUET,
    SQLITE,
    WARC,
    XML,
    address_of,
    local_path,
    named_format,
)
from neardup.documents.lost import LostSource, locked_folders
from neardup.documents.open_files import Limits, OpenFiles
from neardup.documents.remote import LOCK, WILDCARDS, Place, remote_files
from neardup.documents.source import Reading, Source
from neardup.documents.streams import WHOLE_JSON, reading_of, unreadable
from neardup.errors import InputError, UnreadableError


def mapping_class(data: Any) -> type[dict[str, Any]] | None:
    """The class of a mapping of inputs by name, which the kept ones come back in. A streaming
    dataset comes back as a list, so those of several splits are in a dict."""
    if type(data) is dict or class_of(data) == ("datasets", "IterableDatasetDict"):
        return dict
    return type(data) if class_of(data) == ("datasets", "DatasetDict") else None


def class_of(data: Any) -> tuple[str, str]:
    """The library and the class of an object, found without importing the library."""
    return type(data).__module__.partition(".")[0], type(data).__name__


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
    address = address_of(item) if isinstance(item, str | Path) else None
    if address and address.is_database:
        from neardup.documents.database import database_source

        yield address.shown, functools.partial(database_source, address, reading.files.limits)
    elif isinstance(item, str | Path):
        local = local_path(address) if address else item
        if address and local is None:
            places: Iterable[Found] = ((place, None) for place in remote_files(address))
        else:
            places = _expanded(Path(str(local)))
        for place in places:
            yield key_of(place[0]), functools.partial(source_of, place, reading)
    elif isinstance(item, list | tuple) and item and all(isinstance(i, Path) for i in item):
        for path in item:
            yield from _parts(path, name, reading, named=named)
    else:
        from neardup.documents.lists import object_source

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
    forms = [(own, own) if own is not None else _forms(item) for own, item in given]
    often = Counter(short for short, _ in dict.fromkeys(forms))
    return [short if often[short] == 1 else written for short, written in forms]


def _forms(item: Any) -> tuple[str, str]:
    """The name of a file without its format, for a glob the whole of it; and the input as
    written."""
    if not isinstance(item, str | Path):
        return "input", "input"
    address = address_of(item)
    written = address.shown if address else str(item)
    if written == "-":
        return "stdin", written
    if address and address.is_database:
        return address.option("table") or PurePath(address.key).stem or written, written
    if any(sign in written for sign in WILDCARDS):
        return written, written
    name = PurePath(written).name or written
    for known in (CODECS, (*FORMATS, *KINDS, *XML)):
        stem, dot, suffix = name.rpartition(".")
        if stem and f"{dot}{suffix}".lower() in known:
            name = stem
    return name, written


Found: TypeAlias = tuple[Place, UnreadableError | None]


def key_of(place: Place) -> str:
    """A key that is the same for all names of one file."""
    if isinstance(place, Path) and str(place) != "-":
        return os.path.realpath(place)
    return str(place)


def source_of(found: Found, reading: Reading) -> Source:
    """The source of a file. An unreadable file becomes a ``LostSource``; an error of a store stays
    one."""
    place, error = found
    try:
        if error is None:
            return _source(place, reading)
    except UnreadableError as unread:
        error = unread
    except OSError as failed:
        error = unreadable(place, failed)
    return LostSource(place, "stdin" if str(place) == "-" else place.as_posix(), error)


def apart(key: str, source: Source, reading: Reading) -> list[tuple[str, Source]]:
    """A folder and the feeds and mailboxes in it, which are separate sources; each with its
    key."""
    feeds = source.feed_places() if not source.form else ()
    if not feeds:
        return [(key, source)]
    own = [(key, source)] if source.entries else []  # type: ignore[attr-defined]  # of a folder
    return [*own, *((key_of(feed), source_of((feed, None), reading)) for feed in feeds)]


def _expanded(path: Path) -> Iterator[Found]:
    name = str(path)
    try:
        there = name == "-" or bool(os.stat(path))
    except PermissionError:  # in a locked folder: it may exist, and opening it reports the error
        there = True
    except (OSError, ValueError):
        there = False
    if there:
        yield path, None
        return
    if not any(sign in name for sign in "*?["):
        raise InputError(
            f"{name} does not exist.", hint=f"check the path; the current folder is {os.getcwd()}."
        )
    named = (match for match in glob.glob(name, recursive=True) if os.path.isfile(match))
    matches = sorted(match for match in named if not os.path.basename(match).startswith(LOCK))
    locked = locked_folders(name)
    if not matches and not locked:
        raise InputError(
            f"No file matches {name}.", hint="check the pattern; ** goes into sub-folders."
        )
    yield from ((Path(match), None) for match in matches)
    yield from locked


def _source(path: Place, reading: Reading) -> Source:
    if str(path) == "-" or (isinstance(path, Path) and (path.is_fifo() or path.is_char_device())):
        from neardup.documents.pipe import piped_source

        return piped_source(path, reading)
    format_, codec = named_format(path)
    opened = None if path.is_dir() else _READERS.get(format_)
    if opened and (codec is None or format_ not in (*ARROW, *PARQUET)):
        return opened(path, codec, reading)
    from neardup.documents.document_files import document_source

    if source := document_source(path, reading):
        return source
    hint = "rename the file if it is one of these, else convert it."
    if format_ in SQLITE:
        hint = f"name a table of the database: 'sqlite:///{path}?table=NAME'."
    raise InputError(f"{path} has an unknown format; {EXPECTED}.", hint=hint)


def _jsonl(path: Place, codec: str | None, reading: Reading) -> Source:
    """Reads the first bytes, so that an unreadable file stops the run before it begins, and one
    JSON value is read as its elements."""
    from neardup.documents.jsonl import JsonlSource, is_whole_json

    codec, _ = reading_of(path, codec, reading.files)
    source = JsonlSource(path, path.as_posix(), codec, files=reading.files)
    try:
        with source.stream() as stream:
            start = stream.read(256)
        named = ".json" in path.suffixes
        if not is_whole_json(start, named=named) or "+" in (codec or ""):
            return source
        whole = replace(source, codec=f"{codec or ''}+{WHOLE_JSON}")
        whole.stream().close()
    except (OSError, EOFError) as error:
        raise unreadable(path, error) from error
    return whole


def _csv(path: Place, codec: str | None, reading: Reading) -> Source:
    from neardup.documents.csv import DELIMITERS, CsvSource

    tabs = named_format(path)[0] == ".tsv"
    codec, encoding = reading_of(path, codec, reading.files, reading.encoding)
    source = CsvSource(
        path,
        path.as_posix(),
        codec,
        delimiters="\t" if tabs else DELIMITERS,
        encoding=encoding,
        files=reading.files,
    )
    _ = source.header  # an unreadable header stops the run before it begins
    return source


def _parquet(path: Place, _codec: str | None, reading: Reading) -> Source:
    from neardup.documents.parquet import ParquetSource

    source = ParquetSource(path, path.as_posix(), files=reading.files)
    source.schema()
    return source


def _arrow(path: Place, _codec: str | None, reading: Reading) -> Source:
    from neardup.documents.arrow import ArrowSource

    form = named_format(path)[0].removeprefix(".")
    source = ArrowSource(path, path.as_posix(), form, files=reading.files)
    source.schema()
    return source


def _warc(path: Place, codec: str | None, reading: Reading) -> Source:
    from neardup.documents.warc import WarcSource

    source = WarcSource(path, path.as_posix(), codec, reading.extractor, files=reading.files)
    source.check()
    return source


# How a file of many documents is opened; other files and folders are in ``document_files.py``.
_READERS: dict[str, Callable[[Place, str | None, Reading], Source]] = {
    **dict.fromkeys(JSONL, _jsonl),
    **dict.fromkeys(CSV, _csv),
    **dict.fromkeys(PARQUET, _parquet),
    **dict.fromkeys(ARROW, _arrow),
    **dict.fromkeys(WARC, _warc),
}


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
