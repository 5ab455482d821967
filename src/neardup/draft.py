"""Folders that appear whole and survive a power cut, such as those of runs.

A draft is written under a temporary name beside the folder that it becomes. Everything in it is on
the disk (fsync) before it takes its place. A crash at any moment leaves the old folder or the new
one.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path

from neardup.errors import UsageError
from neardup.files import DRAFT, LOCK, only_writer, remove, sync, sync_tree

_WHOLE, _REPLACED, _JOURNAL = ".neardup-whole", ".replaced", ".neardup-resume"


class Draft:
    """A folder that is written under a temporary name (``path``) and takes its place when it is
    whole. It is open for one process at a time, and leaves no trace when it is closed. A folder
    ``journal``, where somebody has made it, stays until the draft is published.

    A folder that is missing, empty or contains only what is replaced gets its new content by one
    rename. If the folder cannot be renamed (other files, a mount point, the working directory, a
    file system that cannot exchange two folders), the whole draft is first put into it by one
    rename; its entries are then moved one by one, ``mark`` last, and ``settle`` finishes that after
    a crash. So a folder that has the mark is always whole."""

    def __init__(self, folder: Path, mark: str) -> None:
        self.folder, self.mark = folder.resolve(), mark
        fixed = os.path.ismount(self.folder) or not os.access(self.folder.parent, os.W_OK)
        inside = fixed and self.folder.exists()
        home = self.folder if inside else self.folder.parent
        name = "" if inside else f".{self.folder.name}"
        self.path = home / f"{name}{DRAFT}"
        self.journal = home / f"{name}{_JOURNAL}"
        self.published = False
        self._lock = home / f"{name}{LOCK}"
        self._stack = ExitStack()

    def __enter__(self) -> Draft:
        """Makes an empty draft; what a killed process left of its own is removed."""
        try:
            self._stack.enter_context(only_writer(self.folder, self._lock))
            self._stack.callback(shutil.rmtree, self.path, ignore_errors=True)
            if (self.folder / _WHOLE).exists():
                _move_in(self.folder, self.mark)
            shutil.rmtree(self.path, ignore_errors=True)
            self.path.mkdir()
            if self.folder.exists():
                shutil.copymode(self.folder, self.path)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the draft, or what it replaced, and lets others write the folder."""
        self._stack.close()

    def publish(self, replaced: Collection[str] = ()) -> None:
        """Puts the draft in its place. ``replaced`` are entries of the folder that go; others
        stay."""
        sync_tree(self.path)
        folder = self.folder
        entries = [*folder.iterdir()] if folder.exists() else []
        others = [path.name for path in entries if not _is_ours(path)]
        movable = self.path.parent != folder and not _is_working_directory(folder)
        if not (movable and set(others) <= {*replaced} and _exchange(self.path, folder)):
            new = {path.name for path in self.path.iterdir()}
            gone = [name for name in others if name in replaced and name not in new]
            (self.path / _REPLACED).write_text(json.dumps(gone), "utf-8")
            sync([self.path / _REPLACED, self.path])
            os.rename(self.path, folder / _WHOLE)
            _sync_moved(self.path.parent, folder)
            _move_in(folder, self.mark)
        self.published = True
        shutil.rmtree(self.journal, ignore_errors=True)
        sync([folder.parent])


def refuse_filled(folder: Path, mark: str, *, overwrite: bool) -> None:
    """Refuses a folder that is a file or, without ``overwrite``, holds anything."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            f"{folder} is a file; the output is a folder.", hint="name another folder."
        )
    if not overwrite and folder.is_dir() and any(not _is_ours(path) for path in folder.iterdir()):
        what = "a finished run" if (folder / mark).exists() else "files"
        raise UsageError(
            f"The output folder {folder} already holds {what}.",
            hint="name another folder, or give --overwrite (in Python overwrite=True).",
        )


def _is_ours(path: Path) -> bool:
    """The draft and the lock of a folder that cannot be renamed are inside it."""
    return path.name.endswith((DRAFT, LOCK, _JOURNAL))


def settle(folder: Path, mark: str) -> None:
    """Finishes what a killed process began, if the new content of the folder was whole by then."""
    if (folder / _WHOLE).exists():
        # A folder that cannot be written, or is being written, stays as it is.
        with suppress(OSError, UsageError), Draft(folder, mark):
            pass


def _move_in(folder: Path, mark: str) -> None:
    whole = folder / _WHOLE
    if (whole / mark).exists():
        (folder / mark).unlink(missing_ok=True)
        sync([folder])
        gone = json.loads((whole / _REPLACED).read_text("utf-8"))
        new = [path.name for path in whole.iterdir() if path.name not in (mark, _REPLACED)]
        # The folder may come from anywhere, so only what is in it is removed.
        for name in {*map(str, gone), *new}.intersection(os.listdir(folder)):
            remove(folder / name)
        for name in new:
            os.rename(whole / name, folder / name)
        _sync_moved(whole, folder)
        os.rename(whole / mark, folder / mark)
        _sync_moved(whole, folder)
    shutil.rmtree(whole)
    sync([folder])


def _sync_moved(from_: Path, to: Path) -> None:
    """Syncs the folder with the new names first: if it came last, a power cut between the two could
    lose what was moved from both."""
    sync([to])
    sync([from_])


def _exchange(new: Path, old: Path) -> bool:
    """Renames ``new`` to ``old`` in one step, whatever is there; False if the system cannot."""
    if not old.exists() or not any(old.iterdir()):
        if os.name == "nt" and old.exists():
            old.rmdir()
        os.rename(new, old)
        return True
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):  # not Linux
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(rename(here, os.fsencode(new), here, os.fsencode(old), exchange) == 0)


def _is_working_directory(folder: Path) -> bool:
    """Whether the process is in the folder, or below it: renaming would leave it nowhere."""
    try:
        here = Path.cwd()
    except OSError:
        return False
    return folder in (here, *here.parents)
