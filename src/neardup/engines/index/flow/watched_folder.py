"""A watched folder, and how its files become documents.

The folder is polled, which works on every file system. A file is complete if two looks show the
same size and modification time, or if it was last modified at least two polls ago, as a file that
was renamed into the folder. Hidden files, links and names that look unfinished (``.part``,
``.tmp``) are ignored. Sub-folders are watched too, except places inside the folder.

``Opener`` turns staged bytes into documents for the index, or reports why it cannot. Pages (HTML,
PDF) become texts as in a run, all of a batch at once, with their metadata: title, author, date,
url, lang. The text of a message is its body without quoted history; its attachments are not read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from neardup.documents.encodings import decoded
from neardup.documents.extraction.extractor import Extractor, page_of
from neardup.documents.extraction.page import Extracted, Page
from neardup.documents.file_formats import MSG
from neardup.documents.mail import message_text
from neardup.documents.message import MESSAGE, parsed_message
from neardup.documents.outlook import outlook_message
from neardup.documents.remote import HIDDEN
from neardup.engines.index.flow.items import FEED, JSON, PAGES, Fields, object_of, unreadable
from neardup.errors import MissingExtraError, UnreadableError
from neardup.wording import shortened

UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", "~")


class WholeFile(NamedTuple):
    """A complete file. ``name`` is its path in the folder, with slashes."""

    path: Path
    name: str
    size: int
    since: float  # time of its last modification


class Look(NamedTuple):
    """What one look at a file shows."""

    size: int
    modified: int
    inode: int


@dataclass
class FolderSource:
    """Complete files of a folder and its sub-folders."""

    folder: Path
    poll: float
    clock: Callable[[], float]
    spare: Sequence[Path] = ()  # sub-folders that are not watched
    pending: int = 0  # files that may be incomplete
    ended: bool = False  # a folder never ends
    _before: dict[str, Look] = field(default_factory=dict)

    def look(self) -> list[WholeFile]:
        """Complete files in the order of their modification."""
        now, before = self.clock(), self._before
        self._before, complete = {}, list[WholeFile]()
        for name, look in self._looks():
            if look == before.get(name) or now - look.modified / 1e9 >= 2 * self.poll:
                since = look.modified / 1e9
                complete.append(WholeFile(self.folder / name, name, look.size, since))
            else:
                self._before[name] = look
        self.pending = len(self._before)
        return sorted(complete, key=lambda file: (file.since, file.name))

    def settle(self) -> None:
        """A file that was claimed is gone from the folder."""

    def _looks(self) -> Iterator[tuple[str, Look]]:
        spare = {path.resolve() for path in self.spare}
        waiting = [self.folder]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name.startswith(HIDDEN) or entry.name.endswith(UNFINISHED):
                        continue
                    path = Path(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        if path.resolve() not in spare:
                            waiting.append(path)
                    elif entry.is_file(follow_symlinks=False) and (look := _look(path)):
                        yield path.relative_to(self.folder).as_posix(), look


def _look(path: Path) -> Look | None:
    try:
        status = path.stat()
    except FileNotFoundError:  # removed since the folder was read
        return None
    return Look(status.st_size, status.st_mtime_ns, status.st_ino)


Document = dict[str, Any]
EMPTY = "it is empty"


class Staged(NamedTuple):
    """The bytes of a staged item; ``folder`` is its sub-folder of the watched folder, which is its
    source if it names none."""

    data: bytes
    form: str
    id: str
    folder: str = ""


class Opened(NamedTuple):
    """A document, a page from which its text must still be extracted, or a problem."""

    document: Document
    page: Page | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Opener:
    fields: Fields
    extractor: Extractor = field(default_factory=Extractor)

    def documents(self, staged: Sequence[Staged]) -> list[Opened]:
        """The documents of staged items in the same order, with texts extracted from pages."""
        opened = [self._opened(item) for item in staged]
        texts = iter(self.extractor.texts_once([item.page for item in opened if item.page]))
        whole = [self._with_text(item, next(texts)) if item.page else item for item in opened]
        return [Opened({}, problem=EMPTY) if self._is_empty(item) else item for item in whole]

    def _is_empty(self, opened: Opened) -> bool:
        """Whether the text is empty. It is no original: all empty items would be its copies."""
        return opened.problem is None and not opened.document[self.fields.text].strip()

    def _opened(self, staged: Staged) -> Opened:
        try:
            document, page = self._read(staged)
            if page is not None:
                self.extractor.extraction.check((page.kind,), staged.id)
        except UnreadableError as error:
            return Opened({}, problem=error.reason)
        except MissingExtraError as error:
            return Opened({}, problem=str(error))
        source = {self.fields.source: staged.folder} if staged.folder else {}
        return Opened(source | document | {self.fields.id: staged.id}, page)

    def _read(self, staged: Staged) -> tuple[Document, Page | None]:
        extraction = self.extractor.extraction
        if staged.form in (JSON, FEED):
            document = _checked(object_of(staged.data), self.fields)
            is_page = extraction.columns and staged.form == JSON
            return document, page_of(document[self.fields.text]) if is_page else None
        if staged.form in PAGES and extraction.pages:
            return {}, Page(staged.form, staged.data)
        if staged.form in (MESSAGE, MSG):
            return self._message(staged), None
        text, reason, _ = decoded(staged.data)
        if text is None:
            raise unreadable(str(reason))
        return {self.fields.text: text}, None

    def _message(self, staged: Staged) -> Document:
        read = outlook_message if staged.form == MSG else parsed_message
        message = read(staged.data)
        body = message_text(message)
        if body.text is None:
            raise unreadable(str(body.reason))
        head = {"title": message.header("Subject"), "author": message.header("From")}
        head |= {self.fields.date: message.date, self.fields.text: body.text}
        return {name: value for name, value in head.items() if value is not None}

    def _with_text(self, opened: Opened, extracted: Extracted) -> Opened:
        if extracted.text is None:
            return Opened({}, problem=extracted.reason)
        metadata = {
            name: value for name, value in extracted.meta._asdict().items() if value is not None
        }
        if "date" in metadata:
            metadata[self.fields.date] = metadata["date"]
        return Opened({**metadata, **opened.document, self.fields.text: extracted.text})


def _checked(document: Document, fields: Fields) -> Document:
    if document.get(fields.text) is None:
        has = ", ".join(repr(shortened(name)) for name in list(document)[:10])
        raise unreadable(
            f"it has no {fields.text!r}, only {has}; make a new index with --text COLUMN"
            if has
            else f"it has no {fields.text!r}"
        )
    if not isinstance(document[fields.text], str):
        raise unreadable(f"{fields.text!r} is {type(document[fields.text]).__name__}, not a text")
    return document
