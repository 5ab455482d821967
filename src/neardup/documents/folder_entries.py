"""The files of a folder, as they are listed: by name, with size and time of change, or with the
reason why one cannot be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from neardup.documents.remote import HIDDEN, Remote
from neardup.documents.streams import CODECS, unreadable

MBOX = ".mbox"


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


def unpacked_name(name: str) -> str:
    """The name in lower case, without the extension of a compression."""
    stem, ending = os.path.splitext(name.lower())
    return stem if ending in CODECS else name.lower()


def is_mailbox(name: str) -> bool:
    """Whether a file is an mbox by its name; Apple Mail has folders with a file ``mbox``."""
    return unpacked_name(name).endswith(MBOX) or name.rpartition("/")[2] == MBOX[1:]
