"""The files of a folder: as they are listed, read in chunks, drawn for a sample, and copied.

An entry has a name, size and time of change, or the reason why the file cannot be read.
"""

from __future__ import annotations

import itertools
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from neardup.documents.columns import Columns, DocumentBatch, Mask
from neardup.documents.extraction.page import Extracted
from neardup.documents.file_formats import list_name
from neardup.documents.memory_tables import TableChunk
from neardup.documents.pieces import places
from neardup.documents.remote import HIDDEN, Remote
from neardup.documents.source import Write
from neardup.documents.streams import unreadable
from neardup.errors import InputError
from neardup.files import whole_file

CHUNK_FILES = 1000
RUN = 20  # files in a piece of a sample
FILE_BYTES = 4096  # opening a file costs about as much as reading so many bytes


class Entry(NamedTuple):
    """A file of a folder, or a sub-folder that cannot be read."""

    name: str
    size: int
    problem: str | None = None
    modified: int = 0


def local_entries(top: Path) -> Iterator[Entry]:
    problems: list[OSError] = []
    real = top.resolve()
    for folder, below, files in os.walk(top, onerror=problems.append):
        below[:] = [name for name in below if not name.startswith(HIDDEN)]
        for name in (name for name in files if not name.startswith(HIDDEN)):
            path = Path(folder, name)
            if entry := entry_of(path, path.relative_to(top).as_posix(), real):
                yield entry
    for error in problems:
        if Path(error.filename) == top:
            raise unreadable(top, error) from error
        name = Path(error.filename).relative_to(top).as_posix()
        yield Entry(name, 0, f"folder cannot be read: {error.strerror or error}")


def entry_of(path: Path, name: str, top: Path | None = None) -> Entry | None:
    """None for sockets and pipes, which are no documents. A link that leads out of the folder
    ``top`` is not followed: who sends a folder must not choose what else is read."""
    try:
        status = path.stat()
        leaves = top is not None and path.is_symlink() and not path.resolve().is_relative_to(top)
    except OSError as error:
        return Entry(name, 0, f"file cannot be read: {error.strerror}")
    if leaves:
        reason = f"link leads out of the folder, to {path.resolve()}; give that as input"
        return Entry(name, 0, reason)
    if not stat.S_ISREG(status.st_mode):
        return None
    return Entry(name, status.st_size, None, status.st_mtime_ns)


def entry_now(path: Path, name: str) -> Entry | None:
    return entry_of(path, name) if os.path.exists(path) else None


def remote_entries(top: Remote) -> Iterator[Entry]:
    for name, file in top.files():
        status = file.stat()
        yield Entry(name, status.st_size, None, status.st_mtime_ns)


@dataclass(frozen=True)
class FolderChunk:
    """Some files of a folder, beginning with number ``first_row``."""

    source: Any
    entries: Sequence[Entry]
    first_row: int
    columns: Columns

    def read(self) -> DocumentBatch:
        pages = self.source.read(self.entries)
        names = self.source.ids(self.entries, pages, self.columns.id_name)
        texts = pa.array([page.text for page in pages], pa.large_string())
        extra = meta_columns(pages, self.columns.found(self.source.names))
        of = (self.source.file, self.first_row, self.columns)
        batch = TableChunk(*of, texts, names, extra).read()
        reasons = [page.reason for page in pages]
        rejected = [
            replace(
                lost,
                reason=reasons[lost.row - self.first_row] or lost.reason,
                path=self.source.path_of(lost.row),
            )
            for lost in batch.rejected
        ]
        return replace(batch, rejected=rejected)


def meta_columns(pages: Sequence[Extracted], names: Sequence[str]) -> dict[str, pa.Array]:
    """The metadata of pages and messages; text files have none. Counts end with ``_words``."""
    return {
        name: pa.array(
            [getattr(page.meta, name, None) or page.more.get(name) for page in pages],
            pa.int64() if name.endswith("_words") else pa.large_string(),
        )
        for name in names
    }


def weight(entry: Entry) -> int:
    return entry.size + FILE_BYTES


def runs_of(entries: Sequence[Entry], wanted: float) -> Iterator[Sequence[Entry]]:
    """Runs of adjacent files: about ``wanted`` files at random places, or all of them."""
    if wanted >= len(entries):
        starts: Sequence[int] = range(0, len(entries), RUN)
    else:
        starts = places(len(entries), RUN, wanted)
    end = 0
    for start in starts:
        if start >= end:
            end = start + RUN
            yield entries[start:end]


def chunkfuls(runs: Iterator[Sequence[Entry]], most: int) -> Iterator[list[Sequence[Entry]]]:
    """Runs of files, gathered to the number of files and bytes of a chunk."""
    some: list[Sequence[Entry]] = []
    for run in runs:
        some.append(run)
        held = sum(entry.size for gathered in some for entry in gathered)
        if held >= most or len(some) * RUN >= CHUNK_FILES:
            yield some
            some = []
    if some:
        yield some


def free_place(folder: Path, place: str) -> str:
    """A path with a number before its name if a copy of a different file has the name, which can
    happen for paths that lead out of their folder."""
    parent, _, name = place.rpartition("/")
    numbered = (f"{parent}/{n}-{name}".lstrip("/") for n in itertools.count(2))
    return next(p for p in itertools.chain([place], numbered) if not (folder / p).exists())


@contextmanager
def folder_writer(path: Path) -> Iterator[Write]:
    """A function that copies the kept files of a folder and returns its number of files."""
    if path.exists():
        raise InputError(
            f"{path} is already there.", hint="remove it, or name another folder with -o."
        )
    part = path.with_name(path.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir()
    places: list[str] = []

    def write(source: Any, keep: Mask) -> int:
        places.extend(source.copy_files(keep, part))
        return len(source.entries)

    try:
        yield write
        with whole_file(path.with_name(list_name(path.name))) as listed:
            listed.write_bytes(b"".join(os.fsencode(place) + b"\n" for place in places))
        part.replace(path)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
