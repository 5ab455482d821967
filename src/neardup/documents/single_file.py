"""A single file that is one document, such as ``page.html`` or ``a.txt``: a folder of one file.

Its id is the path as it was written; the kept copy is under ``kept/``, without the parts that lead
out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from neardup.documents.bibliography import Reference
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import Entry, entry_of
from neardup.documents.remote import Place, Remote
from neardup.documents.streams import unreadable


@dataclass
class FileSource(FolderSource):
    """A single file as a source; ``path`` is the file."""

    what, name_group = "one document", None

    @cached_property
    def entries(self) -> list[Entry]:
        entry = self._entry()
        if entry is None:
            raise unreadable(self.path, OSError("it is no file"))
        return [entry]

    @property
    def feeds(self) -> list[Entry]:  # those are read otherwise
        return []

    @property
    def _references(self) -> dict[str, list[Reference]]:
        return {}

    def _entry(self) -> Entry | None:
        if not isinstance(self.path, Remote):
            return entry_of(self.path, self.file)
        status = self.path.stat()
        return Entry(self.file, status.st_size, None, status.st_mtime_ns)

    def locate(self, entry: Entry) -> Place:  # noqa: ARG002 (as of a folder)
        return self.path

    def path_of(self, row: int) -> str | None:  # noqa: ARG002 (as of a folder)
        return self.file.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def id_of(self, entry: Entry) -> str:
        return entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")

    def place(self, entry: Entry) -> str:
        _, _, name = entry.name.rpartition("://")
        parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
        return "/".join(part.replace(":", "") for part in parts)  # of a drive

    def _now(self, entries: Sequence[Entry]) -> list[Entry | None]:
        if isinstance(self.path, Remote):
            same = self.path.now() == self.path.found
            return [entry if same else None for entry in entries]
        return [self._entry() if self.path.exists() else None for _ in entries]
