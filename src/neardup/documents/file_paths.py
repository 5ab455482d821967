"""The files of an input: paths, globs and addresses of stores, and the source of each file.

The files of one glob are sorted. The name of a file determines its format, and the reader of the
format is imported when the first such file is opened.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from neardup.documents.file_formats import (
    ARROW,
    CSV,
    EXPECTED,
    JSONL,
    PARQUET,
    SQLITE,
    WARC,
    named_format,
)
from neardup.documents.lost import LostSource, locked_folders
from neardup.documents.remote import LOCK, Place, address_of, local_path, remote_files
from neardup.documents.source import Reading, Source
from neardup.documents.streams import WHOLE_JSON, reading_of, unreadable
from neardup.errors import InputError, UnreadableError

Found: TypeAlias = tuple[Place, UnreadableError | None]


def places_of(given: Path | str) -> list[Found]:
    """The files of a path, a glob or the address of a store, with the reason if one is known to be
    unreadable."""
    address = address_of(given)
    if address is None:
        return list(_expanded(Path(given)))
    local = local_path(address)
    if local is not None:
        return list(_expanded(Path(local)))
    return [(place, None) for place in remote_files(address)]


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


def _there(path: Path) -> bool:
    try:
        os.stat(path)
    except PermissionError:  # in a locked folder: it may exist, and opening it reports the error
        return True
    except (OSError, ValueError):
        return False
    return True


def _expanded(path: Path) -> Iterator[Found]:
    name = str(path)
    if name == "-" or _there(path):
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
