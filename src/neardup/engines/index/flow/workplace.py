"""The folder in which a flow works: what was claimed from the source and is not in its place yet.

``batches/N/`` has a list of items (``items.json``, written first and never changed) and a staged
file for each; a file that is gone is done. ``taken/N/`` has a file of several items on its way to
batches, with how many of them are staged. All steps are renames within one file system, so the
folder should be on that of the source.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from neardup import files
from neardup.engines.index.flow.items import Item
from neardup.engines.index.flow.watched_folder import Found
from neardup.errors import UsageError

NAME = ".neardup-watch"
TOLD = ".told"  # of a staged file: the command has had it
_LIST, _TAKEN, _FILE = "items.json", "taken.json", "file"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a batch. ``id`` is what the index calls it; ``name``, its file below a place."""

    file: str
    id: str
    name: str
    form: str
    since: float
    problem: str | None = None


class Piece(NamedTuple):
    """Which items of a taken file a batch holds."""

    taken: int
    begin: int
    end: int


@dataclass(frozen=True)
class Batch:
    folder: Path
    entries: tuple[Entry, ...]
    piece: Piece | None = None

    @property
    def number(self) -> int:
        return int(self.folder.name)

    def staged(self, entry: Entry, state: str = "") -> Path:
        return self.folder / f"{entry.file}{state}"

    def left(self) -> int:
        """How many files are still there."""
        return sum(not one.name.endswith((_LIST, ".part")) for one in self.folder.iterdir())


@dataclass
class Taken:
    folder: Path
    name: str
    since: float
    done: int = 0  # items that are staged

    @property
    def number(self) -> int:
        return int(self.folder.name)

    @property
    def file(self) -> Path:
        return self.folder / _FILE

    def save(self) -> None:
        found = {"name": self.name, "since": self.since, "done": self.done}
        files.write(self.folder / _TAKEN, files.as_json(found))


class Work:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._batches, self._taken = folder / "batches", folder / "taken"
        self._last = 0
        self._lock: int | None = None

    def open(self) -> None:
        """Refuses a folder in which another process works."""
        self._make()
        self._lock = _locked(self.folder / "lock")
        for half in (*self._batches.glob(".*"), *self._taken.glob(".*")):
            shutil.rmtree(half)
        numbers = [int(one.name) for one in (*self._folders(), *_numbered(self._taken))]
        self._last = max(numbers, default=0)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _make(self) -> None:
        """One level at a time: a watched folder that is gone is not made again."""
        for folder in (self.folder, self._batches, self._taken):
            folder.mkdir(exist_ok=True)

    def _folders(self) -> list[Path]:
        return _numbered(self._batches)

    def batches(self) -> Iterator[Batch]:
        """All that are not done, in order."""
        for folder in self._folders():
            found = json.loads((folder / _LIST).read_bytes())
            piece = Piece(*found["piece"]) if found["piece"] else None
            yield Batch(folder, tuple(Entry(**one) for one in found["entries"]), piece)

    def stage(
        self, entries: Sequence[Entry], data: Sequence[bytes] = (), piece: Piece | None = None
    ) -> Batch:
        """A new batch; without ``data`` the files are still to be moved in (``claim``)."""
        with self._new(self._batches) as (half, whole):
            staged = [half / entry.file for entry in entries[: len(data)]]
            for file, content in zip(staged, data, strict=True):
                file.write_bytes(content)
            listed = {"piece": piece, "entries": [asdict(entry) for entry in entries]}
            (half / _LIST).write_bytes(files.as_json(listed))
            files.sync([*staged, half / _LIST])
            half.rename(whole)
        files.sync([self._batches])
        return Batch(whole, tuple(entries), piece)

    def claim(self, batch: Batch, found: Sequence[Found]) -> None:
        """Moves files of the source in. One that is gone by now was taken by someone else."""
        for entry, one in zip(batch.entries, found, strict=True):
            with suppress(FileNotFoundError):
                os.rename(one.path, batch.staged(entry))

    def take(self, found: Found) -> Taken | None:
        with self._new(self._taken) as (half, whole):
            Taken(half, found.name, found.since).save()
            half.rename(whole)
        taken = Taken(whole, found.name, found.since)
        try:
            os.rename(found.path, taken.file)
        except FileNotFoundError:
            self.drop(taken)
            return None
        return taken

    def taken(self) -> Iterator[Taken]:
        """Files that are not all staged. One whose folder has no file was never moved in, or is
        done."""
        for folder in _numbered(self._taken):
            taken = Taken(folder, **json.loads((folder / _TAKEN).read_bytes()))
            if taken.file.exists():
                yield taken
            else:
                self.drop(taken)

    def reconcile(self) -> None:
        """A batch that was staged when its file did not know yet is not staged twice. To be done
        before any batch is finished."""
        pieces = [batch.piece for batch in self.batches() if batch.piece]
        for taken in self.taken():
            for piece in pieces:
                if (piece.taken, piece.begin) == (taken.number, taken.done):
                    self.advance(taken, piece.end)

    def advance(self, taken: Taken, done: int) -> None:
        taken.done = done
        taken.save()

    def drop(self, done: Batch | Taken) -> None:
        """The folder goes with a rename: half of one would be a riddle."""
        gone = done.folder.with_name(f".{done.folder.name}")
        done.folder.rename(gone)
        shutil.rmtree(gone)

    @contextmanager
    def _new(self, parent: Path) -> Iterator[tuple[Path, Path]]:
        """A folder to fill, and what to call it when it is whole. Half of one does not stay."""
        self._make()
        self._last += 1
        half = parent / f".{self._last}"
        half.mkdir()
        try:
            yield half, parent / str(self._last)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise


def entry_of(item: Item, number: int, id: str, name: str) -> Entry:
    return Entry(str(number), id, name, item.form, item.since, item.problem)


def _numbered(parent: Path) -> list[Path]:
    try:
        found = [one for one in parent.iterdir() if one.name.isdecimal()]
    except FileNotFoundError:
        return []
    return sorted(found, key=lambda one: int(one.name))


def _locked(path: Path) -> int | None:
    """Goes with the process, however that ends."""
    try:
        import fcntl
    except ImportError:  # Windows: nothing of that kind
        return None
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise UsageError(
            f"Another process works in {path.parent}.",
            hint="one `neardup watch` a folder; stop the other, or name another --work.",
        ) from None
    return handle
