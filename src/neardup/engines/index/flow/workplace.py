"""The working folder of a flow: items that were claimed from the source and are not in their place
yet.

``batches/N/`` has a list of items (``items.json``, written first and never changed) and a staged
file for each; an item whose file is gone is done. ``taken/N/`` has a file of several items that is
being split into batches, with the number of items that are staged. All steps are renames within one
file system, so the folder should be on the file system of the source.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple, cast

from neardup import files
from neardup.engines.index.flow.items import Item
from neardup.engines.index.flow.watched_folder import WholeFile
from neardup.errors import UsageError

NAME = ".neardup-watch"
COMMAND_DONE = ".told"  # the suffix of a staged file whose command has succeeded
_LIST, _TAKEN, _FILE = "items.json", "taken.json", "file"


@dataclass(frozen=True, slots=True)
class Entry:
    """An item of a batch: its ``id`` in the index, and its file ``name`` below a place."""

    file: str
    id: str
    name: str
    form: str
    since: float
    problem: str | None = None


class Piece(NamedTuple):
    """The items of a taken file that a batch holds."""

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

    def current(self, entry: Entry) -> Path:
        """The staged file, whether or not its command has run."""
        done = self.staged(entry, COMMAND_DONE)
        return done if done.exists() else self.staged(entry)

    def left(self) -> int:
        """The number of files that are still staged."""
        return sum(not file.name.endswith((_LIST, ".part")) for file in self.folder.iterdir())


@dataclass
class Taken:
    """A file of several items that was claimed; ``done`` of them are staged."""

    folder: Path
    name: str
    since: float
    done: int = 0

    @property
    def number(self) -> int:
        return int(self.folder.name)

    @property
    def file(self) -> Path:
        return self.folder / _FILE

    def save(self) -> None:
        state = {"name": self.name, "since": self.since, "done": self.done}
        files.write(self.folder / _TAKEN, files.as_json(state))


class Work:
    """The working folder, used by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._batches, self._taken = folder / "batches", folder / "taken"
        self._last = 0
        self._lock: int | None = None

    def open(self) -> None:
        """Lock the folder; it is an error if another process works in it."""
        self._make()
        self._lock = _locked(self.folder / "lock")
        for incomplete in (*self._batches.glob(".*"), *self._taken.glob(".*")):
            shutil.rmtree(incomplete)
        folders = (*_numbered(self._batches), *_numbered(self._taken))
        numbers = [int(folder.name) for folder in folders]
        self._last = max(numbers, default=0)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _make(self) -> None:
        """Make one level at a time, so that a watched folder which is gone is not made again."""
        for folder in (self.folder, self._batches, self._taken):
            if not folder.is_dir():
                folder.mkdir(exist_ok=True)
                files.sync([folder.parent])

    def batches(self) -> Iterator[Batch]:
        """All unfinished batches, in order."""
        for folder in _numbered(self._batches):
            listed = json.loads((folder / _LIST).read_bytes())
            piece = Piece(*listed["piece"]) if listed["piece"] else None
            yield Batch(folder, tuple(Entry(**entry) for entry in listed["entries"]), piece)

    def stage(
        self, entries: Sequence[Entry], data: Sequence[bytes] = (), piece: Piece | None = None
    ) -> Batch:
        """A new batch; without ``data`` its files are still to be moved in (``claim``)."""
        with self._new(self._batches) as (unfinished, whole):
            staged = [unfinished / entry.file for entry in entries[: len(data)]]
            for file, content in zip(staged, data, strict=True):
                file.write_bytes(content)
            listed = {"piece": piece, "entries": [asdict(entry) for entry in entries]}
            (unfinished / _LIST).write_bytes(files.as_json(listed))
            files.sync([*staged, unfinished / _LIST])
            unfinished.rename(whole)
        files.sync([self._batches])
        return Batch(whole, tuple(entries), piece)

    def claim(self, batch: Batch, arrived: Sequence[WholeFile]) -> None:
        """Move files of the source into the batch; files that are gone are skipped. They are on
        the disk before the index has them: after a power cut, a file that was back in its folder
        would be a copy of itself."""
        moved: dict[Path, Path] = {}
        for entry, file in zip(batch.entries, arrived, strict=True):
            with suppress(FileNotFoundError):
                os.rename(file.path, batch.staged(entry))
                moved[batch.staged(entry)] = file.path.parent
        _settle(moved)

    def take(self, file: WholeFile) -> Taken | None:
        """Claim a file of several items; None if it is gone."""
        with self._new(self._taken) as (unfinished, whole):
            Taken(unfinished, file.name, file.since).save()
            unfinished.rename(whole)
        taken = Taken(whole, file.name, file.since)
        try:
            os.rename(file.path, taken.file)
        except FileNotFoundError:
            self.drop(taken)
            return None
        files.sync([self._taken])
        _settle({taken.file: file.path.parent})
        return taken

    def taken(self) -> Iterator[Taken]:
        """Files that are not completely staged. A folder without its file is empty or done."""
        for folder in _numbered(self._taken):
            taken = Taken(folder, **json.loads((folder / _TAKEN).read_bytes()))
            if taken.file.exists():
                yield taken
            else:
                self.drop(taken)

    def reconcile(self) -> None:
        """Advance taken files past batches that were staged before the file recorded it, so that
        nothing is staged twice. This must come before any batch is finished."""
        pieces = [batch.piece for batch in self.batches() if batch.piece]
        for taken in self.taken():
            for piece in pieces:
                if (piece.taken, piece.begin) == (taken.number, taken.done):
                    self.advance(taken, piece.end)

    def advance(self, taken: Taken, done: int) -> None:
        taken.done = done
        taken.save()

    def drop(self, done: Batch | Taken) -> None:
        """Remove the folder, renamed first: an incomplete folder must not look like a batch."""
        hidden = done.folder.with_name(f".{done.folder.name}")
        done.folder.rename(hidden)
        shutil.rmtree(hidden)

    @contextmanager
    def _new(self, parent: Path) -> Iterator[tuple[Path, Path]]:
        """A hidden folder to fill, and its final name; it is removed if filling it fails."""
        self._make()
        self._last += 1
        unfinished = parent / f".{self._last}"
        unfinished.mkdir()
        try:
            yield unfinished, parent / str(self._last)
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise


class Originals:
    """Title, source, url and path of originals by id, for the notes of their duplicates. It is an
    aid to people: if it is lost or damaged, notes have less, and it begins anew."""

    MOST = 1_000_000  # of the latest

    def __init__(self, path: Path) -> None:
        self._path, self._db = path, cast("sqlite3.Connection | None", None)

    def put(self, id: str, about: Mapping[str, str]) -> None:
        row = (id, json.dumps(about))
        self._run("INSERT OR REPLACE INTO originals (id, about) VALUES (?, ?)", row)

    def get(self, id: str) -> dict[str, str]:
        rows = self._run("SELECT about FROM originals WHERE id = ?", (id,))
        try:
            about = json.loads(rows[0][0]) if rows else {}
        except (ValueError, TypeError):
            about = {}
        return about if isinstance(about, dict) else {}

    def close(self) -> None:
        if self._db is not None:
            with suppress(sqlite3.Error):
                self._db.execute(
                    "DELETE FROM originals WHERE rowid <= (SELECT max(rowid) FROM originals) - ?",
                    (self.MOST,),
                )
            self._db.close()
            self._db = None

    def _run(self, query: str, values: tuple[str, ...]) -> list[tuple[str]]:
        try:
            return self._connection().execute(query, values).fetchall()
        except sqlite3.OperationalError:  # a full disk, or no folder
            return []
        except sqlite3.DatabaseError:
            self.close()
            self._path.unlink(missing_ok=True)
            return []

    def _connection(self) -> sqlite3.Connection:
        if self._db is None:
            self._db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA synchronous = OFF")
            self._db.execute("PRAGMA journal_mode = MEMORY")
            self._db.execute("CREATE TABLE IF NOT EXISTS originals (id TEXT UNIQUE, about TEXT)")
        return self._db


def _settle(moved: Mapping[Path, Path]) -> None:
    """Syncs files that were moved, their new folders, and then the folders where they were."""
    files.sync(moved)
    files.sync({path.parent for path in moved})
    files.sync(folder for folder in set(moved.values()) if folder.is_dir())


def entry_of(item: Item, number: int, id: str, name: str) -> Entry:
    return Entry(str(number), id, name, item.form, item.since, item.problem)


def _numbered(parent: Path) -> list[Path]:
    try:
        folders = [folder for folder in parent.iterdir() if folder.name.isdecimal()]
    except FileNotFoundError:
        return []
    return sorted(folders, key=lambda folder: int(folder.name))


def _locked(path: Path) -> int | None:
    """A lock that ends with the process, however the process ends."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
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
