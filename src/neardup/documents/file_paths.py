"""The files of an input: paths, globs and addresses of stores, with their formats by name.

The files of one glob are sorted. Standard input and named pipes have no file extension and can be
read only once. They are copied to a file, their format is detected from the content, and the copy
is read again for the kept output.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

from neardup.documents.archive import archive_source, is_archive
from neardup.documents.arrow import FILE_MAGIC, STREAM_MAGIC, ArrowSource
from neardup.documents.csv import DELIMITERS, CsvSource
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.extraction.page import KINDS
from neardup.documents.feeds import FeedSource
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import MBOX, is_mailbox
from neardup.documents.jsonl import JsonlSource, is_whole_json
from neardup.documents.lost import LostSource, locked_folders
from neardup.documents.mail import Maildir, MailFolder, MboxSource, is_maildir, is_mbox, with_mail
from neardup.documents.message import EML, MSG
from neardup.documents.news_items import is_feed
from neardup.documents.open_files import Limits, OpenFiles
from neardup.documents.parquet import ParquetSource
from neardup.documents.remote import LOCK, Place, Remote, address_of, local_path, remote_files
from neardup.documents.single_file import FileSource
from neardup.documents.source import Source
from neardup.documents.streams import CODECS, WHOLE_JSON, open_binary, unreadable, wide_encoding
from neardup.documents.warc import WarcSource
from neardup.documents.xml import HEAD
from neardup.documents.xml import SUFFIXES as XML
from neardup.errors import InputError, UnreadableError, UsageError

_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2", b"\xfd7zXZ": "xz"}
_BLANK = b"\xef\xbb\xbf \t\r\n"


def spooled(
    stream: IO[bytes], file: str, encoding: str | None = None, limits: Limits | None = None
) -> Source:
    """The source is named ``file``; its copy is deleted with it."""
    handle, name = tempfile.mkstemp(prefix="neardup-input-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
        source = _by_content(path, file, encoding, OpenFiles(limits))
    except BaseException:  # an interrupt too, because no other code deletes this file
        path.unlink(missing_ok=True)
        raise
    weakref.finalize(source, path.unlink, missing_ok=True)
    return source


def _by_content(path: Path, file: str, encoding: str | None, files: OpenFiles) -> Source:
    with files.stream(path) as stream:
        start = stream.read(HEAD)
    if start.startswith(b"PAR1"):
        return ParquetSource(path, file, files=files)
    if start.startswith((FILE_MAGIC, STREAM_MAGIC)):
        return ArrowSource(path, file, files=files)
    if is_feed(start):
        return FeedSource(path, file, encoding, files=files)
    if is_mbox(start):
        return MboxSource(path, file, files=files)
    begin = start.lstrip(_BLANK)
    if is_whole_json(begin, named=begin.startswith(b"{")):
        return JsonlSource(path, file, f"+{WHOLE_JSON}", files=files)
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


def reading_of(
    path: Place,
    codec: str | None,
    files: OpenFiles,
    encoding: str | None = None,
    file: str | None = None,
) -> tuple[str | None, str | None]:
    """The codec of lines or records, and the encoding of its output: UTF-16 and UTF-32 are read as
    UTF-8, whether they are stated or shown by the first bytes."""
    if encoding is not None and not encoding.startswith(("utf-16", "utf-32")):
        return codec, encoding
    try:
        with open_binary(path, codec, files) as stream:
            wide = wide_encoding(stream.read(8))
    except (OSError, EOFError) as error:
        raise unreadable(file or path, error) from error
    if encoding in ("utf-16", "utf-32") and not (wide or "").startswith(encoding):
        raise InputError(
            f"{file or path} cannot be read as {encoding}: its first bytes are no mark of that.",
            hint=f"state {encoding}-le or {encoding}-be, or leave --encoding out.",
        )
    wide = wide or encoding
    return (f"{codec or ''}+{wide}" if wide else codec), None


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
) -> CsvSource:
    codec, encoding = reading_of(path, codec, files, encoding, file)
    source = CsvSource(path, file, codec, encoding=encoding, files=files)
    if source.header.delimiter == "\t":  # written as .tsv
        return replace(source, delimiters="\t")
    return source


JSONL = (".jsonl", ".ndjson", ".json")
CSV = (".csv", ".tsv")
ARROW = (".arrow", ".feather")
PARQUET = (".parquet", ".pq")
WARC = (".warc", ".wet")
SQLITE = (".db", ".sqlite", ".sqlite3")
TEXTS = (".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org", ".tex")
FORMATS = (*JSONL, *CSV, *ARROW, *PARQUET, *WARC, MBOX)
_KNOWN = (
    "expected .jsonl, .ndjson, .json, .csv, .tsv or .warc (also with .gz, .zst, .bz2 or .xz), "
    ".parquet, .arrow or .feather, .txt, .md or .rst, .html, .pdf, .docx, .odt, .pptx, .odp, .rtf, "
    ".epub or .xml (feeds: .rss and .atom too), .mbox, .eml or .msg, or a folder, .zip or .tar of "
    "such pages, messages and text files"
)


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


@dataclass(frozen=True)
class Reading:
    """Settings of reading: the encoding of text files and CSV if it is stated, the extraction of
    pages, and the open files."""

    encoding: str | None = None
    extractor: Extractor = field(default_factory=Extractor)
    files: OpenFiles = field(default_factory=OpenFiles)


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


def apart(key: str, source: Source) -> list[tuple[str, Source]]:
    """A folder and the feeds and mailboxes in it, which are separate sources; each with its
    key."""
    if type(source) not in (FolderSource, MailFolder) or not source.feeds:  # type: ignore[attr-defined]
        return [(key, source)]
    folder = cast(FolderSource, source)
    reading = Reading(folder.encoding, folder.extractor, folder.files)
    feeds: list[tuple[str, Source]] = [
        (key_of(place), source_of((place, None), reading)) for place in folder.feed_places()
    ]
    return [*([(key, source)] if folder.entries else []), *feeds]


def _feed(path: Place, reading: Reading) -> FeedSource:
    return FeedSource(
        path, path.as_posix(), reading.encoding, reading.extractor, files=reading.files
    )


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
    encoding, files = reading.encoding, reading.files
    if str(path) == "-":
        return spooled(sys.stdin.buffer, "stdin", encoding, files.limits)
    if isinstance(path, Path) and (path.is_fifo() or path.is_char_device()):
        with path.open("rb") as stream:
            return spooled(stream, path.as_posix(), encoding, files.limits)
    if path.is_dir():
        _refuse_run(path)
        return _folder_source(path, reading)
    if is_archive(path):
        return _checked_pages(with_mail(archive_source(path, **_folder_options(reading))))
    if is_mailbox(path.name) or _is_unnamed_mbox(path, reading):
        return _checked_pages(MboxSource(path, path.as_posix(), **_folder_options(reading)))
    format_, codec = named_format(path)
    if format_ in PARQUET and codec is None:
        return _checked(ParquetSource(path, path.as_posix(), files=files))
    if format_ in ARROW and codec is None:
        return _checked(ArrowSource(path, path.as_posix(), format_[1:], files=files))
    if format_ in CSV:
        return _csv_source(path, codec, reading, tabs=format_ == ".tsv")
    if format_ in WARC:
        crawl = WarcSource(path, path.as_posix(), codec, reading.extractor, files=files)
        crawl.check()
        return crawl
    if (format_ in KINDS and codec is None) or format_ in (EML, MSG):
        return _checked_pages(with_mail(_file_source(path, reading)))
    if format_ in XML and codec is None:
        return _xml_source(path, reading)
    if format_ in TEXTS:
        return _file_source(path, reading)
    if format_ not in JSONL:
        hint = "rename the file if it is one of these, else convert it."
        if format_ in SQLITE:
            hint = f"name a table of the database: 'sqlite:///{path}?table=NAME'."
        raise InputError(f"{path} has an unknown format; {_KNOWN}.", hint=hint)
    codec, _ = reading_of(path, codec, files)
    return _checked_jsonl(JsonlSource(path, path.as_posix(), codec, files=files))


def _xml_source(path: Place, reading: Reading) -> Source:
    with open_binary(path, None, reading.files) as stream:
        head = stream.read(HEAD)
    if reading.extractor.extraction.pages and is_feed(head):
        return _feed(path, reading)
    return _file_source(path, reading)


def _is_unnamed_mbox(path: Place, reading: Reading) -> bool:
    """Whether it is a mailbox as mail programs store it: a file without an extension."""
    if isinstance(path, Remote) or path.suffix:
        return False
    with reading.files.stream(path) as stream:
        return is_mbox(stream.read(HEAD))


def _file_source(path: Place, reading: Reading) -> FileSource:
    return FileSource(path, path.as_posix(), **_folder_options(reading))


def _folder_options(reading: Reading) -> dict[str, Any]:
    return {
        "encoding": reading.encoding,
        "extractor": reading.extractor,
        "files": reading.files,
    }


def _refuse_run(folder: Place) -> None:
    names = ("run.json", "decisions.parquet")
    if isinstance(folder, Path) and all((folder / name).exists() for name in names):
        raise UsageError(
            f"{folder} is the folder of a run, not of documents.",
            hint=f"its kept documents are in {folder / 'kept.*'}; `neardup report {folder}` and "
            "`neardup compare --run` look at a run.",
        )


def is_known(path: Place) -> bool:
    """Whether the name of the file determines how it is read."""
    return named_format(path)[0] in (*FORMATS, *KINDS, *XML, EML, MSG)


def named_format(path: Place) -> tuple[str, str | None]:
    """The file extension of the format, and the compression after it."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    format_ = suffixes[-2] if codec and len(suffixes) > 1 else suffixes[-1] if suffixes else ""
    return format_, codec


def _folder_source(path: Place, reading: Reading) -> FolderSource:
    if is_maildir(path):
        return _checked_pages(Maildir(path, path.as_posix(), **_folder_options(reading)))
    source = FolderSource(path, path.as_posix(), **_folder_options(reading))
    formats = {named_format(Path(entry.name))[0] for entry in source.entries}
    if not formats and source.feeds:
        return source
    if not formats:
        raise InputError(f"{path} holds no files.", hint="hidden files are not read.")
    if formats <= set(FORMATS):
        example = f"{path}/**/*{min(formats)}*"
        raise InputError(
            f"{path} holds only files of many documents; in a folder each file is one document.",
            hint=f"use a glob such as '{example}'.",
        )
    return _checked_pages(with_mail(source))


def _checked_pages(source: FolderSource) -> FolderSource:
    source.extractor.extraction.check(sorted(source.kinds), source.file)
    return source


def _csv_source(path: Place, codec: str | None, reading: Reading, *, tabs: bool) -> CsvSource:
    codec, encoding = reading_of(path, codec, reading.files, reading.encoding)
    options: dict[str, Any] = {"encoding": encoding, "files": reading.files}
    delimiters = "\t" if tabs else DELIMITERS
    source = CsvSource(path, path.as_posix(), codec, delimiters=delimiters, **options)
    _ = source.header  # an unreadable header stops the run before it begins
    return source


def _checked(source: ParquetSource | ArrowSource) -> Source:
    source.schema()
    return source


def _checked_jsonl(source: JsonlSource) -> JsonlSource:
    """Reads the first bytes, so that an unreadable file stops the run before it begins, and one
    JSON value is read as its elements."""
    try:
        with source.stream() as stream:
            start = stream.read(256)
        named = ".json" in source.path.suffixes
        if not is_whole_json(start, named=named) or "+" in (source.codec or ""):
            return source
        whole = replace(source, codec=f"{source.codec or ''}+{WHOLE_JSON}")
        whole.stream().close()
    except (OSError, EOFError) as error:
        raise unreadable(source.path, error) from error
    return whole
