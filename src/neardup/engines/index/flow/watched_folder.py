"""A watched folder: which files are whole.

Polled, which works on any file system. A file is taken when two looks show the same size and
modification, or when it has not been modified for two polls, as one that was renamed into the
folder. Hidden files and links are left alone, and what looks unfinished (``.part``, ``.tmp``).
Sub-folders are watched too; places that are inside are not.

Staged bytes → documents as the index wants them, or why there is none.

Pages (HTML, PDF) become texts as in a run, those of a batch at once, with what they say about
themselves: title, author, date, url, lang.
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
from neardup.engines.index.flow.items import FEED, JSON, PAGES, Fields, object_of, unreadable
from neardup.errors import MissingExtraError, UnreadableError

UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", "~")


class Found(NamedTuple):
    """A whole file. ``name`` is its path in the folder, with slashes."""

    path: Path
    name: str
    size: int
    since: float  # its modification


class Look(NamedTuple):
    size: int
    modified: int
    inode: int


@dataclass
class FolderSource:
    folder: Path
    poll: float
    clock: Callable[[], float]
    spare: Sequence[Path] = ()  # folders inside that are not watched
    pending: int = 0  # files that may not be whole
    ended: bool = False  # files can always come
    _before: dict[str, Look] = field(default_factory=dict)

    def look(self) -> list[Found]:
        """Whole files in the order of their modification."""
        now, before = self.clock(), self._before
        self._before, found = {}, []
        for name, look in self._looks():
            if look == before.get(name) or now - look.modified / 1e9 >= 2 * self.poll:
                since = look.modified / 1e9
                found.append(Found(self.folder / name, name, look.size, since))
            else:
                self._before[name] = look
        self.pending = len(self._before)
        return sorted(found, key=lambda one: (one.since, one.name))

    def _looks(self) -> Iterator[tuple[str, Look]]:
        spare = {path.resolve() for path in self.spare}
        waiting = [self.folder]
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if _passed_over(entry.name):
                        continue
                    path = Path(entry.path)
                    if entry.is_dir(follow_symlinks=False):
                        if path.resolve() not in spare:
                            waiting.append(path)
                    elif entry.is_file(follow_symlinks=False) and (look := _look(path)):
                        yield path.relative_to(self.folder).as_posix(), look


def _passed_over(name: str) -> bool:
    return name.startswith(".") or name.endswith(UNFINISHED)


def _look(path: Path) -> Look | None:
    try:
        seen = path.stat()
    except FileNotFoundError:  # gone since the folder was read
        return None
    return Look(seen.st_size, seen.st_mtime_ns, seen.st_ino)


Document = dict[str, Any]
EMPTY = "it is empty"


class Staged(NamedTuple):
    data: bytes
    form: str
    id: str
    folder: str = ""  # that it came in, below the watched one: the source of a file that names none


class Opened(NamedTuple):
    """A document, a page that it still has to be made of, or a problem."""

    document: Document
    page: Page | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Opener:
    fields: Fields
    extractor: Extractor = field(default_factory=Extractor)

    def documents(self, staged: Sequence[Staged]) -> list[Opened]:
        """In the same order, without pages."""
        opened = [self._opened(one) for one in staged]
        texts = iter(self.extractor.texts_once([one.page for one in opened if one.page]))
        found = [self._with_text(one, next(texts)) if one.page else one for one in opened]
        return [Opened({}, problem=EMPTY) if self._is_empty(one) else one for one in found]

    def _is_empty(self, opened: Opened) -> bool:
        """An empty item says nothing: it is no original, and all of them would be copies of one."""
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
        whose = {self.fields.source: staged.folder} if staged.folder else {}
        return Opened(whose | document | {self.fields.id: staged.id}, page)

    def _read(self, staged: Staged) -> tuple[Document, Page | None]:
        extraction = self.extractor.extraction
        if staged.form in (JSON, FEED):
            found = _checked(object_of(staged.data), self.fields)
            is_page = extraction.columns and staged.form == JSON
            return found, page_of(found[self.fields.text]) if is_page else None
        if staged.form in PAGES and extraction.pages:
            return {}, Page(staged.form, staged.data)
        text, reason, _ = decoded(staged.data)
        if text is None:
            raise unreadable(str(reason))
        return {self.fields.text: text}, None

    def _with_text(self, opened: Opened, found: Extracted) -> Opened:
        if found.text is None:
            return Opened({}, problem=found.reason)
        said = {name: value for name, value in found.meta._asdict().items() if value is not None}
        if "date" in said:
            said[self.fields.date] = said["date"]
        return Opened({**said, **opened.document, self.fields.text: found.text})


def _checked(found: Document, fields: Fields) -> Document:
    if found.get(fields.text) is None:
        raise unreadable(f"it has no {fields.text!r}")
    if not isinstance(found[fields.text], str):
        raise unreadable(f"{fields.text!r} is {type(found[fields.text]).__name__}, not a text")
    return found
