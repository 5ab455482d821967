"""A watched folder: which files are whole.

Polled, which works on any file system. A file is taken when two looks show the same size and
modification, or when it has not been modified for two polls, as one that was renamed into the
folder. Hidden files and links are left alone, and what looks unfinished (``.part``, ``.tmp``).
Sub-folders are watched too; places that are inside are not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

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
