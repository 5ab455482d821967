"""Which files a folder holds, here or in a store; hidden ones (a dot first) are left out."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from neardup.documents.remote import Remote
from neardup.documents.streams import unreadable


class Entry(NamedTuple):
    """A file of a folder, or a sub-folder that cannot be looked into."""

    name: str
    size: int
    problem: str | None = None
    modified: int = 0


def local_entries(top: Path) -> Iterator[Entry]:
    problems: list[OSError] = []
    for folder, below, files in os.walk(top, onerror=problems.append):
        below[:] = [name for name in below if not name.startswith(".")]
        for name in (name for name in files if not name.startswith(".")):
            path = Path(folder, name)
            if entry := entry_of(path, path.relative_to(top).as_posix()):
                yield entry
    for error in problems:
        if Path(error.filename) == top:
            raise unreadable(top, error) from error
        name = Path(error.filename).relative_to(top).as_posix()
        yield Entry(name, 0, f"folder cannot be read: {error.strerror or error}")


def entry_of(path: Path, name: str) -> Entry | None:
    """None for sockets and pipes, which are no documents."""
    try:
        found = path.stat()
    except OSError as error:
        return Entry(name, 0, f"file cannot be read: {error.strerror}")
    if not stat.S_ISREG(found.st_mode):
        return None
    return Entry(name, found.st_size, None, found.st_mtime_ns)


def entry_now(path: Path, name: str) -> Entry | None:
    return entry_of(path, name) if os.path.exists(path) else None


def remote_entries(top: Remote) -> Iterator[Entry]:
    for name, file in top.files():
        found = file.stat()
        yield Entry(name, found.st_size, None, found.st_mtime_ns)
