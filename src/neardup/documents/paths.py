"""Which files are meant: paths and globs, their formats by name, standard input.

Files come in the order given, those of one glob sorted; a file that is named twice is read once.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from neardup.documents.arrow import FILE_MAGIC, STREAM_MAGIC, ArrowSource
from neardup.documents.columns import Source
from neardup.documents.csv import CsvSource
from neardup.documents.folder import FolderSource, with_prefixes
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lost import LostSource, locked_folders
from neardup.documents.parquet import ParquetSource
from neardup.documents.records import DELIMITERS
from neardup.documents.streams import CODECS, open_binary, unreadable
from neardup.errors import InputError, UnreadableError

JSONL = (".jsonl", ".ndjson", ".json")
CSV = (".csv", ".tsv")
ARROW = (".arrow", ".feather")
PARQUET = (".parquet", ".pq")
_KNOWN = (
    "expected .jsonl, .ndjson, .json, .csv or .tsv (also with .gz, .zst, .bz2 or .xz), .parquet, "
    ".arrow or .feather, or a folder of text files"
)
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ": "xz"}


def sources_of(paths: Sequence[Path], encoding: str | None = None) -> list[Source]:
    """One that cannot be read becomes a ``LostSource``; if none can, that is an error."""
    found: dict[str, Source] = {}
    for given in paths:
        for path, error in _expanded(given):
            place = os.path.realpath(path) if str(path) != "-" else "-"
            if place not in found:
                found[place] = _lost(path, error) if error else _source_or_lost(path, encoding)
    lost = [source for source in found.values() if isinstance(source, LostSource)]
    if lost and len(lost) == len(found):
        raise lost[0].error
    folders = [source for source in found.values() if isinstance(source, FolderSource)]
    if len(folders) > 1:
        with_prefixes(folders)
    return list(found.values())


def _lost(path: Path, error: UnreadableError) -> LostSource:
    return LostSource(path, path.as_posix(), error)


def _source_or_lost(path: Path, encoding: str | None) -> Source:
    try:
        return _source(path, encoding)
    except UnreadableError as error:
        return _lost(path, error)
    except OSError as error:
        return _lost(path, unreadable(path, error))


def _there(path: Path) -> bool:
    try:
        os.stat(path)
    except PermissionError:  # in a folder that is locked: it may be there, and opening it fails
        return True
    except (OSError, ValueError):
        return False
    return True


def _expanded(path: Path) -> Iterator[tuple[Path, UnreadableError | None]]:
    """Paths, each with why it cannot be read where that is known already."""
    name = str(path)
    if name == "-" or _there(path):
        yield path, None
        return
    if not any(sign in name for sign in "*?["):
        raise InputError(
            f"{name} does not exist.", hint=f"check the path; the current folder is {os.getcwd()}."
        )
    matches = sorted(match for match in glob.glob(name, recursive=True) if os.path.isfile(match))
    locked = locked_folders(name)
    if not matches and not locked:
        raise InputError(
            f"No file matches {name}.", hint="check the pattern; ** goes into sub-folders."
        )
    yield from ((Path(match), None) for match in matches)
    yield from locked


def _source(path: Path, encoding: str | None) -> Source:
    if str(path) == "-":
        return _spooled(sys.stdin.buffer, "stdin")
    if path.is_fifo() or path.is_char_device():
        with path.open("rb") as stream:
            return _spooled(stream, path.as_posix())
    if path.is_dir():
        return _folder_source(path, encoding)
    format_, codec = _named_format(path)
    if format_ in PARQUET and codec is None:
        return _checked(ParquetSource(path, path.as_posix()))
    if format_ in ARROW and codec is None:
        return _checked(ArrowSource(path, path.as_posix(), format_[1:]))
    if format_ in CSV:
        return _csv_source(path, codec, encoding, tabs=format_ == ".tsv")
    if format_ not in JSONL:
        raise InputError(
            f"{path} has an unknown format; {_KNOWN}.",
            hint="rename the file if it is one of these, else convert it.",
        )
    source = JsonlSource(path, path.as_posix(), codec)
    _check_jsonl(source)
    return source


def _named_format(path: Path) -> tuple[str, str | None]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    format_ = suffixes[-2] if codec and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    return format_, codec


def _folder_source(path: Path, encoding: str | None) -> FolderSource:
    source = FolderSource(path, path.as_posix(), encoding=encoding)
    formats = {_named_format(Path(entry.name))[0] for entry in source.entries}
    if not formats:
        raise InputError(f"{path} holds no files.", hint="hidden files are not read.")
    if formats <= {*JSONL, *CSV, *ARROW, *PARQUET}:
        example = f"{path}/**/*{min(formats)}*"
        raise InputError(
            f"{path} holds only files of many documents; in a folder each file is one document.",
            hint=f"use a glob such as '{example}'.",
        )
    return source


def _csv_source(path: Path, codec: str | None, encoding: str | None, *, tabs: bool) -> CsvSource:
    if encoding and encoding.startswith(("utf-16", "utf-32")):
        raise InputError(
            f"{path} cannot be read as {encoding}: records are cut where bytes are delimiters.",
            hint=f"convert it: iconv -f {encoding} -t utf-8 {path} > documents.csv",
        )
    delimiters = "\t" if tabs else DELIMITERS
    source = CsvSource(path, path.as_posix(), codec, delimiters, encoding=encoding)
    _ = source.header  # one that cannot be read stops the run before it begins
    return source


def _checked(source: ParquetSource | ArrowSource) -> Source:
    source.schema()
    return source


def _check_jsonl(source: JsonlSource) -> None:
    """Opens the file once, so that one that cannot be read stops the run before it begins."""
    try:
        with open_binary(source.path, source.codec) as stream:
            start = stream.read(256)
    except (OSError, EOFError) as error:
        raise unreadable(source.path, error) from error
    if ".json" in source.path.suffixes and start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"[":
        raise InputError(
            f"{source.file} is one JSON array; expected one object a line.",
            hint=f"convert it: jq -c '.[]' {source.file} > documents.jsonl",
        )


def _spooled(stream: IO[bytes], file: str) -> Source:
    """Copies standard input or a pipe to a file, because it is read again for the kept output."""
    handle, name = tempfile.mkstemp(prefix="neardup-input-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
    except BaseException:  # an interrupt too: nobody else knows of this file
        path.unlink(missing_ok=True)
        raise
    with path.open("rb") as spooled:
        source = _by_content(spooled.read(8), path, file)
    weakref.finalize(source, path.unlink, missing_ok=True)
    return source


def _by_content(start: bytes, path: Path, file: str) -> Source:
    """What has no name is told by its first bytes."""
    if start.startswith(b"PAR1"):
        return ParquetSource(path, file)
    if start.startswith((FILE_MAGIC, STREAM_MAGIC)):
        return ArrowSource(path, file)
    codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    return JsonlSource(path, file, codec)
