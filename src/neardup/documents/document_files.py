"""Files that are one document each: alone, in a folder, in an archive or in a mailbox.

Feeds, which have many documents, are recognised here too, because other XML files are documents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neardup.documents.archive import archive_source
from neardup.documents.file_formats import (
    EML,
    FORMATS,
    KINDS,
    MSG,
    TEXTS,
    XML,
    is_archive,
    is_mailbox,
    named_format,
)
from neardup.documents.folder import FolderSource
from neardup.documents.mail import Maildir, MboxSource, is_maildir, with_mail
from neardup.documents.message import is_mbox
from neardup.documents.remote import Place, Remote
from neardup.documents.single_file import FileSource
from neardup.documents.source import Reading, Source
from neardup.documents.streams import open_binary
from neardup.documents.xml import HEAD
from neardup.errors import InputError, UsageError


def document_source(path: Place, reading: Reading) -> Source | None:
    """The source of a folder, or of a file by its name; None for a file of an unknown format."""
    options = reading._asdict()
    if path.is_dir():
        _refuse_run(path)
        return _folder_source(path, options)
    if is_archive(path):
        return _checked(with_mail(archive_source(path, **options)))
    if is_mailbox(path.name) or _is_unnamed_mbox(path, reading):
        return _checked(MboxSource(path, path.as_posix(), **options))
    format_, codec = named_format(path)
    if (format_ in KINDS and codec is None) or format_ in (EML, MSG):
        return _checked(with_mail(FileSource(path, path.as_posix(), **options)))
    if format_ in XML and codec is None:
        return _xml_source(path, reading)
    return FileSource(path, path.as_posix(), **options) if format_ in TEXTS else None


def _xml_source(path: Place, reading: Reading) -> Source:
    from neardup.documents.feeds import FeedSource
    from neardup.documents.news_items import is_feed

    with open_binary(path, None, reading.files) as stream:
        head = stream.read(HEAD)
    if reading.extractor.extraction.pages and is_feed(head):
        return FeedSource(path, path.as_posix(), **reading._asdict())
    return FileSource(path, path.as_posix(), **reading._asdict())


def _is_unnamed_mbox(path: Place, reading: Reading) -> bool:
    """Whether it is a mailbox as mail programs store it: a file without an extension."""
    if isinstance(path, Remote) or path.suffix:
        return False
    with reading.files.stream(path) as stream:
        return is_mbox(stream.read(HEAD))


def _refuse_run(folder: Place) -> None:
    names = ("run.json", "decisions.parquet")
    if isinstance(folder, Path) and all((folder / name).exists() for name in names):
        raise UsageError(
            f"{folder} is the folder of a run, not of documents.",
            hint=f"its kept documents are in {folder / 'kept.*'}; `neardup report {folder}` and "
            "`neardup compare --run` look at a run.",
        )


def _folder_source(path: Place, options: dict[str, Any]) -> FolderSource:
    if is_maildir(path):
        return _checked(Maildir(path, path.as_posix(), **options))
    source = FolderSource(path, path.as_posix(), **options)
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
    return _checked(with_mail(source))


def _checked(source: FolderSource) -> FolderSource:
    source.extractor.extraction.check(sorted(source.kinds), source.file)
    return source
