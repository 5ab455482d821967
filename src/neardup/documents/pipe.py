"""Standard input and named pipes, which have no file extension and can be read only once.

They are copied to a file, their format is detected from the content, and the copy is read again for
the kept output.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import IO

from neardup.documents.jsonl import JsonlSource, is_whole_json
from neardup.documents.open_files import OpenFiles
from neardup.documents.remote import Place
from neardup.documents.source import Reading, Source
from neardup.documents.streams import WHOLE_JSON, open_binary, reading_of, unreadable
from neardup.errors import InputError

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
HEAD = 1 << 16  # bytes that show the format
_BLANK = b"\xef\xbb\xbf \t\r\n"


def piped_source(path: Place, reading: Reading) -> Source:
    """The source of a pipe, or of standard input if the path is ``-``."""
    if str(path) == "-":
        return _spooled(sys.stdin.buffer, "stdin", reading)
    with path.open("rb") as stream:
        return _spooled(stream, path.as_posix(), reading)


def _spooled(stream: IO[bytes], file: str, reading: Reading) -> Source:
    """The source is named ``file``; its copy is deleted with it."""
    handle, name = tempfile.mkstemp(prefix="neardup-input-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
        source = _by_content(path, file, reading.encoding, OpenFiles(reading.files.limits))
    except BaseException:  # an interrupt too, because no other code deletes this file
        path.unlink(missing_ok=True)
        raise
    weakref.finalize(source, path.unlink, missing_ok=True)
    return source


def _by_content(path: Path, file: str, encoding: str | None, files: OpenFiles) -> Source:
    with files.stream(path) as stream:
        start = stream.read(HEAD)
    begin = start.lstrip(_BLANK)
    if is_whole_json(begin, named=begin.startswith(b"{")):
        return JsonlSource(path, file, f"+{WHOLE_JSON}", files=files)
    if not begin.startswith(b"{") and (source := _by_magic(start, path, file, encoding, files)):
        return source
    if begin.startswith((b"<!", b"<?", b"<html", b"<HTML")):
        raise InputError(
            f"{file} is HTML or XML that is no feed.",
            hint="give pages as files or folders: only lines, tables and feeds come by a pipe.",
        )
    codec = next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)
    # The default is CSV and not JSON: a column that is missing in the header stops the run, while a
    # table that is read as JSON would be rejected line by line.
    lines = reading_of(path, codec, files, file=file)[0]
    if _first_sign(path, lines, files, file) in (b"{", b""):
        return JsonlSource(path, file, lines, files=files)
    return _piped_csv(path, codec, files, file, encoding)


def _by_magic(
    start: bytes, path: Path, file: str, encoding: str | None, files: OpenFiles
) -> Source | None:
    from neardup.documents.arrow import FILE_MAGIC, STREAM_MAGIC, ArrowSource
    from neardup.documents.feeds import FeedSource
    from neardup.documents.mail import MboxSource
    from neardup.documents.message import is_mbox
    from neardup.documents.news_items import is_feed
    from neardup.documents.parquet import ParquetSource

    if start.startswith(b"PAR1"):
        return ParquetSource(path, file, files=files)
    if start.startswith((FILE_MAGIC, STREAM_MAGIC)):
        return ArrowSource(path, file, files=files)
    if is_feed(start):
        return FeedSource(path, file, encoding, files=files)
    return MboxSource(path, file, files=files) if is_mbox(start) else None


def _first_sign(path: Path, codec: str | None, files: OpenFiles, file: str) -> bytes:
    """The first byte that is not blank; empty if there is none."""
    try:
        with open_binary(path, codec, files) as stream:
            while block := stream.read(1 << 16):
                if content := block.lstrip(_BLANK):
                    return content[:1]
    except OSError as error:
        raise unreadable(file, error) from error
    return b""


def _piped_csv(
    path: Path, codec: str | None, files: OpenFiles, file: str, encoding: str | None
) -> Source:
    from neardup.documents.csv import CsvSource

    codec, encoding = reading_of(path, codec, files, encoding, file)
    source = CsvSource(path, file, codec, encoding=encoding, files=files)
    if source.header.delimiter == "\t":  # written as .tsv
        return replace(source, delimiters="\t")
    return source
