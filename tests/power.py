"""A disk that loses power: what a folder has after a cut at any moment of a piece of work.

``Disk`` records every call that syncs, renames, makes or removes something below a folder. After
each of them it keeps three states that a cut at this moment may leave: everything (a killed
process), only what was synced, and all names with the contents of synced files only. The last one
is what a journal of metadata alone leaves: files of 0 bytes under their final names.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from neardup import draft

# The path of every file with its content, of every folder with None.
State = dict[str, bytes | None]
_CHANGES = ("rename", "replace", "unlink", "remove", "rmdir", "mkdir", "link", "symlink")


def tree(folder: Path) -> State:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def put(state: State, folder: Path) -> None:
    folder.mkdir()
    for name, content in state.items():
        if content is None:
            (folder / name).mkdir(exist_ok=True)
        else:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)


class Disk:
    """What is below ``root`` now is synced."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.states: list[State] = []
        self.syncs = 0
        self._lock = threading.RLock()
        self._open: dict[int, int] = {}  # keeps a number from being used for a second file
        self._names: dict[int, dict[str, int]] = {}  # of synced folders
        self._contents: dict[int, bytes] = {}  # of synced files
        for path in [root, *root.rglob("*")]:
            self._synced(self._number(path))

    @contextmanager
    def recording(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", self._sync(os.fsync))
            for name in _CHANGES:
                patch.setattr(os, name, self._change(getattr(os, name)))
            patch.setattr(draft, "_exchange", self._change(draft._exchange))
            yield
        self.moment()

    def moment(self) -> list[State]:
        with self._lock:
            states = [tree(self.root), self._kept(names=False), self._kept(names=True)]
            self.states += [state for state in states if state not in self.states]
            return states

    def _sync(self, function: Callable[[int], None]) -> Callable[[int], None]:
        def sync(file: int) -> None:
            with self._lock:
                function(file)
                self.syncs += 1
                number = os.fstat(file).st_ino
                self._open.setdefault(number, os.dup(file))
                self._synced(number)
                self.moment()

        return sync

    def _change(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def change(*arguments: Any, **options: Any) -> Any:
            with self._lock:
                done = function(*arguments, **options)
                self.moment()
                return done

        return change

    def _number(self, path: Path) -> int:
        number = path.lstat().st_ino
        if number not in self._open:
            self._open[number] = os.open(path, os.O_RDONLY)
        return number

    def _synced(self, number: int) -> None:
        file = self._open[number]
        try:
            names = os.listdir(file)
        except NotADirectoryError:
            self._contents[number] = self._content(number)
            return
        self._names[number] = {
            name: os.stat(name, dir_fd=file).st_ino for name in names if self._here(file, name)
        }

    def _here(self, folder: int, name: str) -> bool:
        """Opens an entry, so that its number stays its own; a lock may vanish meanwhile."""
        try:
            number = os.stat(name, dir_fd=folder).st_ino
            if number not in self._open:
                self._open[number] = os.open(name, os.O_RDONLY, dir_fd=folder)
        except FileNotFoundError:
            return False
        return True

    def _content(self, number: int) -> bytes:
        return os.pread(self._open[number], os.fstat(self._open[number]).st_size, 0)

    def _kept(self, *, names: bool) -> State:
        """The contents of synced files; the names of synced folders, or all names of today."""
        state: State = {}

        def walk(number: int, place: str) -> None:
            if names:
                self._walk_now(self.root / place, place, state)
                return
            for name, entry in self._names.get(number, {}).items():
                at = f"{place}{name}"
                if os.path.isdir(f"/proc/self/fd/{self._open[entry]}"):
                    state[at] = None
                    walk(entry, f"{at}/")
                else:
                    state[at] = self._durable(entry)

        walk(self._number(self.root), "")
        return dict(sorted(state.items()))

    def _walk_now(self, folder: Path, place: str, state: State) -> None:
        for path in folder.iterdir():
            at = f"{place}{path.name}"
            if path.is_dir():
                state[at] = None
                self._walk_now(path, f"{at}/", state)
            else:
                state[at] = self._durable(self._number(path))

    def _durable(self, number: int) -> bytes:
        """Empty, if anything was written since the file was synced."""
        stored = self._contents.get(number, b"")
        return stored if stored == self._content(number) else b""

    def close(self) -> None:
        for file in self._open.values():
            os.close(file)
