"""A ZIP or TAR archive: every file in it is a document, as in a folder.

Nothing is unpacked to the places that an archive names. A member is read into memory, at most as
long as a document may be; all members together may not unpack to more than the limits of a file.
Rejected with a reason are encrypted members, links and devices, names that lead out of the archive,
and names that occur twice. An archive that is cut off gives the members before, and one rejected
document that stands for the rest. A compressed TAR archive is first unpacked to a temporary file,
because its members are read more than once and in any order.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any

from neardup.documents.file_formats import CODECS, SHORT, ZIP
from neardup.documents.folder import FolderSource
from neardup.documents.folder_entries import Entry
from neardup.documents.open_files import shown
from neardup.documents.remote import HIDDEN, Place
from neardup.documents.streams import fault_of, open_binary, unreadable
from neardup.documents.xml import HEAD

MOST_MEMBERS = 1_000_000
_BROKEN = (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error, RuntimeError)
_ENCRYPTED = 0x1  # the flag of a ZIP member


@dataclass
class ArchiveSource(FolderSource):
    """``path`` is the archive."""

    _fault: str | None = field(default=None, init=False)  # why unpacking ended before the end
    name_group = None

    @property
    def feeds(self) -> list[Entry]:  # a feed in an archive is one document
        return []

    @cached_property
    def _listed(self) -> list[Entry]:
        members = list(self._members)
        if len(members) > MOST_MEMBERS:
            reason = f"it has more than {MOST_MEMBERS:,} files"
            raise unreadable(self.path, OSError(reason))
        return members

    @property
    def _is_zip(self) -> bool:
        return self.path.name.lower().endswith(ZIP)

    @cached_property
    def _packed(self) -> os.stat_result | Any:
        return self.path.stat()

    @cached_property
    def _zip(self) -> zipfile.ZipFile:
        return zipfile.ZipFile(self.files.stream(self.path))

    @cached_property
    def _plain(self) -> Path | Place:
        """The plain archive; a temporary file that is deleted with this source if it was
        compressed."""
        ending = os.path.splitext(self.path.name.lower())[1]
        packing = SHORT.get(ending) or CODECS.get(ending)
        if packing is None:
            return self.path
        handle, name = tempfile.mkstemp(prefix="neardup-archive-")
        weakref.finalize(self, Path(name).unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as out, open_binary(self.path, packing, self.files) as stream:
            shutil.copyfileobj(stream, out, 1 << 20)
            self._fault = fault_of(stream)
        return Path(name)

    @cached_property
    def _places(self) -> dict[str, Any]:
        """Where the content of each member is: its number in a ZIP archive, or offset and size."""
        return {}

    @property
    def _members(self) -> Iterator[Entry]:
        total, seen = 0, set[str]()
        try:
            for entry, place in self._zip_members() if self._is_zip else self._tar_members():
                total += entry.size
                fault = self.files.limits.unpacking_fault(total, self._packed.st_size)
                problem = entry.problem or _name_problem(entry.name) or fault
                if entry.name in seen:
                    yield entry._replace(name=f"{entry.name}#{len(seen)}", problem="name is twice")
                    continue
                seen.add(entry.name)
                self._places[entry.name] = place
                yield entry._replace(problem=problem)
        except _BROKEN as error:
            if not seen:
                raise unreadable(self.path, OSError(str(error))) from error
            yield Entry("(the rest of the archive)", 0, f"archive cannot be read on: {error}")

    def _zip_members(self) -> Iterator[tuple[Entry, Any]]:
        for info in self._zip.infolist():
            if not info.is_dir() and not _hidden(info.filename):
                problem = "member is encrypted" if info.flag_bits & _ENCRYPTED else None
                yield Entry(info.filename, info.file_size, problem), info

    def _tar_members(self) -> Iterator[tuple[Entry, Any]]:
        with (
            self.files.stream(self._plain) as stream,
            tarfile.open(fileobj=stream, mode="r:") as tar,
        ):
            for info in tar:
                tar.members = []  # type: ignore[attr-defined]  # else all headers stay in memory
                if info.isdir() or _hidden(info.name):
                    continue
                plain = info.isreg() and not info.issparse()
                problem = None if plain else "member is a link, a device or a sparse file"
                yield Entry(info.name, info.size, problem), (info.offset_data, info.size)
            stream.seek(tar.offset)  # tarfile does not tell the end of an archive from a cut
            if stream.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
                raise tarfile.ReadError("it is cut off")

    def _head(self, entry: Entry) -> bytes:
        return self.content(entry)[:HEAD]

    def content(self, entry: Entry) -> bytes:
        try:
            return self._read_zip(entry) if self._is_zip else self._read_tar(entry)
        except _BROKEN as error:
            raise OSError(0, str(error) or type(error).__name__) from error

    def _read_zip(self, entry: Entry) -> bytes:
        """A header may state a smaller size than the content has."""
        with self._zip.open(self._places[entry.name]) as member:
            return _bounded(member, entry.size)

    def _read_tar(self, entry: Entry) -> bytes:
        offset, size = self._places[entry.name]
        with self.files.stream(self._plain) as stream:
            stream.seek(offset)
            data = stream.read(size)
        if len(data) < size:
            raise OSError("archive is cut off")
        return data

    def _copy(self, entry: Entry, to: Path) -> None:
        data = self.content(entry)
        self._check_content(entry, zlib.crc32(data))
        to.write_bytes(data)

    def _may_be_read(self, entry: Entry) -> bool:
        return entry.problem is None

    def _now(self, entries: Sequence[Entry]) -> list[Entry | None]:
        """Members change only with their archive."""
        try:
            now, before = self.path.stat(), self._packed
        except OSError:
            return [None for _ in entries]
        same = (now.st_size, now.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
        return [entry if same else None for entry in entries]


def archive_source(path: Place, **options: Any) -> ArchiveSource:
    source = ArchiveSource(path, path.as_posix(), **options)
    if not source.entries:
        raise unreadable(path, OSError("it holds no files"))
    return source


def _bounded(member: IO[bytes], size: int) -> bytes:
    data = member.read(size + 1)
    if len(data) > size:
        raise OSError(f"member has more than the {shown(size)} that the archive states")
    return data


def _hidden(name: str) -> bool:
    """Hidden files, and what macOS adds to its archives."""
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith(HIDDEN) and part not in (".", "..") for part in parts)
    return hidden or parts[:1] == ("__MACOSX",)


def _name_problem(name: str) -> str | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in path.parts[0] or "\0" in name:
        return f"name leads out of the archive: {name}"
    return None
