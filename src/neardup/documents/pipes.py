"""Standard input and named pipes: copied to a file, their format told by content.

They have no name to go by, and come only once, but are read again for the kept output.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import IO

from neardup.documents.arrow import FILE_MAGIC, STREAM_MAGIC, ArrowSource
from neardup.documents.columns import Source
from neardup.documents.csv import CsvSource
from neardup.documents.encodings import wide_encoding
from neardup.documents.feeds import FeedSource, is_feed
from neardup.documents.jsonl import JsonlSource, refuse_whole_json
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import Place
from neardup.documents.streams import open_binary, unreadable, with_wide
from neardup.documents.xml import HEAD
from neardup.errors import InputError

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
_BLANK = b"\xef\xbb\xbf \t\r\n"


def spooled(stream: IO[bytes], file: str, encoding: str | None = None) -> Source:
    """The source goes by the name ``file``; its copy goes away with it."""
    handle, name = tempfile.mkstemp(prefix="neardup-input-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
        source = _by_content(path, file, encoding)
    except BaseException:  # an interrupt too: nobody else knows of this file
        path.unlink(missing_ok=True)
        raise
    weakref.finalize(source, path.unlink, missing_ok=True)
    return source


def _by_content(path: Path, file: str, encoding: str | None) -> Source:
    with path.open("rb") as stream:
        start = stream.read(HEAD)
    if start.startswith(b"PAR1"):
        return ParquetSource(path, file)
    if start.startswith((FILE_MAGIC, STREAM_MAGIC)):
        return ArrowSource(path, file)
    if is_feed(start):
        return FeedSource(path, file, encoding)
    begin = start.lstrip(_BLANK)
    refuse_whole_json(begin, file, named=begin.startswith(b"{"))
    if begin.startswith((b"<!", b"<?", b"<html", b"<HTML")):
        raise InputError(
            f"{file} is HTML or XML that is no feed.",
            hint="give pages as files or folders: only lines, tables and feeds come by a pipe.",
        )
    codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    # What is not JSON is taken for CSV and not the other way round: a column that its header lacks
    # stops the run, while a table read as JSON would be rejected line by line.
    lines = reading_of(path, codec, file=file)[0]
    if _first_sign(path, lines, file) in (b"{", b""):
        return JsonlSource(path, file, lines)
    return _csv_source(path, codec, file, encoding)


def reading_of(
    path: Place, codec: str | None, encoding: str | None = None, file: str | None = None
) -> tuple[str | None, str | None]:
    """The codec of lines or records, and the encoding of what it gives: UTF-16 and UTF-32 are read
    as UTF-8, whether they were stated or the first bytes say so."""
    if encoding is not None and not encoding.startswith(("utf-16", "utf-32")):
        return codec, encoding
    try:
        with open_binary(path, codec) as stream:
            wide = wide_encoding(stream.read(8))
    except (OSError, EOFError) as error:
        raise unreadable(file or path, error) from error
    if encoding in ("utf-16", "utf-32") and not (wide or "").startswith(encoding):
        raise InputError(
            f"{file or path} cannot be read as {encoding}: its first bytes are no mark of that.",
            hint=f"state {encoding}-le or {encoding}-be, or leave --encoding out.",
        )
    return with_wide(codec, encoding if wide is None else wide), None


def _first_sign(path: Path, codec: str | None, file: str) -> bytes:
    """The first byte that is not blank; empty where there is none."""
    try:
        with open_binary(path, codec) as stream:
            while block := stream.read(1 << 16):
                if content := block.lstrip(_BLANK):
                    return content[:1]
    except OSError as error:
        raise unreadable(file, error) from error
    return b""


def _csv_source(path: Path, codec: str | None, file: str, encoding: str | None) -> CsvSource:
    codec, encoding = reading_of(path, codec, encoding, file)
    source = CsvSource(path, file, codec, encoding=encoding)
    if source.header.delimiter == "\t":
        return CsvSource(path, file, codec, "\t", encoding=encoding)  # written as .tsv
    return source
