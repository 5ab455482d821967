"""An index in one SQLite file: the default store.

With a write-ahead log and ``synchronous=FULL``, acknowledged writes survive a crash of the process
and of the machine. Several processes may have the file open. Writers take turns
(``BEGIN IMMEDIATE``): a writer waits for another one up to ``BUSY_SECONDS`` and then fails with a
sentence; it reads the changes of others before it decides anything. Readers never wait.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from heapq import merge
from pathlib import Path
from typing import Any

from neardup.engines.index.seals import (
    CHECKSUM,
    PASSAGES,
    Counted,
    SqlWriter,
    Tally,
    check_gone,
    check_row,
    damaged,
    read_counters,
    read_description,
    read_passages,
    seal_of,
    tallied,
    written_counters,
    written_description,
)
from neardup.engines.index.store import FORMAT, PAGE, Counters, Gone, Row, check_format
from neardup.errors import IndexStoreError

BUSY_SECONDS = 60.0
# Pages of 4 KB in the log before they go to the main file, which costs two more disk syncs. A short
# log is soon overwritten instead of growing, and a file that does not grow is synced twice as fast.
LOG_PAGES = 500
ASKED_AT_ONCE = 500  # ids in one query

SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE artefacts (name TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE documents (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    time INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    kept_seq INTEGER,
    kept_id TEXT,
    score REAL,
    reason TEXT,
    kind TEXT,
    signature BLOB NOT NULL,
    text TEXT,
    within TEXT,
    by TEXT,
    source TEXT,
    checksum INTEGER NOT NULL
);
CREATE INDEX documents_time ON documents (time);
CREATE INDEX documents_kept ON documents (kept_seq) WHERE kept_seq IS NOT NULL;
CREATE TABLE gone (
    seq INTEGER PRIMARY KEY, removed INTEGER, before INTEGER, checksum INTEGER NOT NULL
);
"""
# Made with the first rows of a passage index: indexes without one, also older ones, have no table.
ANCHORS = "CREATE TABLE IF NOT EXISTS anchors (number INTEGER PRIMARY KEY, data BLOB NOT NULL)"
COLUMNS = ", ".join((*Row._fields, CHECKSUM))
INSERT = f"INSERT INTO documents ({COLUMNS}) VALUES ({', '.join('?' * (len(Row._fields) + 1))})"
COUNTED = "UPDATE meta SET value = ? WHERE name = 'counters'"
LIGHT = COLUMNS.replace("signature", "x''")
COPIES = "(SELECT count(*) FROM documents AS d WHERE d.kept_seq = documents.seq)"
NO_TEXT = LIGHT.replace(" text,", " NULL,")
ROWS = f"SELECT {{}}, {COPIES} FROM documents WHERE seq > ? ORDER BY seq LIMIT {PAGE}"


class SqliteStore:
    def __init__(self, path: str | Path, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self.url = str(path)
        self._busy = busy_seconds
        self._explained = _Explained(self.url, busy_seconds)
        self._version = -1
        self._sound = False  # its structure was checked

    @functools.cached_property
    def _db(self) -> sqlite3.Connection:
        """The connection. Connecting creates the file, so it is delayed until the file exists or is
        to be written."""
        db = sqlite3.connect(
            self.url, timeout=self._busy, isolation_level=None, check_same_thread=False
        )
        db.execute("PRAGMA synchronous = FULL")
        db.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")
        return db

    def _ask(self, query: str, given: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._explained:
            return self._db.execute(query, given).fetchall()

    def description(self) -> dict[str, Any] | None:
        if not Path(self.url).exists():
            return None
        with self._explained:
            return self._description()

    def _description(self) -> dict[str, Any] | None:
        tables = {name for (name,) in self._db.execute("SELECT name FROM sqlite_schema")}
        if not tables:
            return None
        if not {"meta", "documents"} <= tables:
            raise _no_index(self.url)
        meta = self._meta()
        check_format(self.url, meta.get("format"))
        return read_description(meta.get("description"), self.url)

    def _meta(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, value FROM meta"))

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        with self._explained:
            self._use_log()
            with self._transaction():
                if self._description() is None:
                    self._create(description, artefacts)

    def _use_log(self) -> None:
        """The file stores the mode. If two processes create it at once, one may fail to set it."""
        with suppress(sqlite3.OperationalError):
            self._db.execute("PRAGMA journal_mode = WAL")

    def _create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        for statement in SCHEMA.split(";"):
            self._db.execute(statement)
        meta = {"format": str(FORMAT), "description": written_description(description)}
        meta["counters"] = written_counters(Counters(), Tally())
        self._db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        self._db.executemany("INSERT INTO artefacts VALUES (?, ?)", artefacts.items())

    def artefacts(self) -> dict[str, bytes]:
        return dict(self._ask("SELECT name, data FROM artefacts"))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def writing(self) -> Iterator[_Writer]:
        with self._explained, self._transaction():
            self._check_structure()
            before = self._counted()
            writer = _Writer(self._db, *before)
            yield writer
            if (after := (writer.counters, writer.tally)) != before:
                self._db.execute(COUNTED, [written_counters(*after)])

    def changed(self) -> bool:
        """SQLite counts the transactions of other connections."""
        ((version,),) = self._ask("PRAGMA data_version")
        changed = bool(version != self._version)
        self._version = version
        return changed

    def counters(self) -> Counters:
        return self._counted()[0]

    def _counted(self) -> Counted:
        values = self._ask("SELECT value FROM meta WHERE name = 'counters'")
        return read_counters(values[0][0] if values else "", self.url)

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        with self._explained:
            rows: Iterable[Row] = map(self._row, self._documents(since, duplicates=duplicates))
            if not since:  # the first reading of an index needs no deletions
                yield from tallied(rows, self._counted, self.url, duplicates=duplicates)
                return
            gone = self._db.execute("SELECT * FROM gone WHERE seq > ? ORDER BY seq", [since])
            entries = (check_gone(Gone._make(g), seal, self.url) for *g, seal in gone)
            events: Iterable[Row | Gone] = rows
            yield from merge(events, entries, key=lambda one: one.seq)

    def _documents(self, since: int, *, duplicates: bool) -> Iterable[tuple[Any, ...]]:
        kept = "" if duplicates else "AND kept_seq IS NULL"
        query = f"SELECT {COLUMNS} FROM documents WHERE seq > ? {kept} ORDER BY seq"
        return self._db.execute(query, [since])

    def _row(self, found: tuple[Any, ...], *, text: bool = True) -> Row:
        return check_row(Row._make(found[:-1]), found[-1], self.url, text=text)

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        return {row.id: row for row in map(self._row, self._of_ids(COLUMNS, ids))}

    def known(self, ids: Sequence[str]) -> set[str]:
        return {id_ for (id_,) in self._of_ids("id", ids)}

    def _of_ids(self, columns: str, ids: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(ids), ASKED_AT_ONCE):
            some = ids[start : start + ASKED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            yield from self._ask(f"SELECT {columns} FROM documents WHERE id IN ({marks})", some)

    def linked(self, seq: int) -> list[Row]:
        asked = f"SELECT {COLUMNS} FROM documents WHERE kept_seq = ? ORDER BY seq"
        return list(map(self._row, self._ask(asked, [seq])))

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        asked = ROWS.format(LIGHT if texts else NO_TEXT)
        found = self._ask(asked, [since])
        return [(self._row(tuple(row), text=texts), copies) for *row, copies in found]

    def numbered(self, numbers: Sequence[int]) -> list[Row]:
        found: list[Row] = []
        for start in range(0, len(numbers), ASKED_AT_ONCE):
            some = numbers[start : start + ASKED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            asked = f"SELECT {LIGHT} FROM documents WHERE seq IN ({marks}) ORDER BY seq"
            found += map(self._row, self._ask(asked, some))
        return found

    def numbers(self) -> list[int]:
        return [number for (number,) in self._ask("SELECT seq FROM documents ORDER BY seq")]

    def size(self) -> int:
        return self._counted()[1].documents

    def passages(self) -> dict[str, Any] | None:
        return read_passages(self._ask(PASSAGES), self.url)

    def anchors(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        found: list[tuple[Any, ...]] = []
        for start in range(0, len(numbers), ASKED_AT_ONCE):
            some = numbers[start : start + ASKED_AT_ONCE]
            marks = ", ".join("?" * len(some))
            found += self._ask(f"SELECT number, data FROM anchors WHERE number IN ({marks})", some)
        return found

    def totals(self) -> dict[str, int]:
        ((count, aside),) = self._ask("SELECT count(*), count(kept_seq) FROM documents")
        pages, size = (self._ask(f"PRAGMA page_{what}")[0][0] for what in ("count", "size"))
        return {
            "documents": count,
            "kept": count - aside,
            "duplicates": aside,
            "bytes": pages * size,
        }

    def structure_faults(self) -> list[str]:
        found = [message for (message,) in self._ask("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def _check_structure(self) -> None:
        """Checks the structure of the file before the first write. No row shows that a list of free
        pages is damaged, and SQLite would write new rows over old ones. The check costs a twentieth
        of reading the index."""
        if not self._sound:
            ((found,), *_) = self._db.execute("PRAGMA quick_check").fetchall()
            if found != "ok":
                raise damaged(self.url, f"SQLite says {' '.join(found.split())}")
        self._sound = True

    def close(self) -> None:
        if "_db" in self.__dict__:
            self._db.close()


class _Writer(SqlWriter):
    mark = "?"

    def __init__(self, db: sqlite3.Connection, counters: Counters, tally: Tally) -> None:
        super().__init__(counters, tally)
        self._db = db

    def ask(self, query: str, values: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
        return self._db.execute(query, values)

    def run(self, query: str, values: Sequence[Any]) -> int:
        return self._db.execute(query, values).rowcount

    def put(self, rows: Sequence[Row]) -> None:
        self._db.executemany(INSERT, [(*row, seal_of(row)) for row in rows])
        self.tally = self.tally.with_rows(rows)

    def put_anchors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._db.execute(ANCHORS)
        self._db.executemany("INSERT OR REPLACE INTO anchors VALUES (?, ?)", rows)


class _Explained:
    """Errors as sentences. It is no generator, because every query uses it and speed matters."""

    def __init__(self, url: str, busy_seconds: float) -> None:
        self._url, self._busy = url, busy_seconds

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise _explain(self._url, error, self._busy) from error
        if isinstance(error, UnicodeDecodeError):  # SQLite quotes the damaged bytes in its message
            raise damaged(self._url, "a name in its schema is no text") from error


def _no_index(url: str) -> IndexStoreError:
    return IndexStoreError(
        f"{url} is a database, but no index of neardup.", hint="name another file."
    )


def _explain(url: str, error: sqlite3.Error, waited: float) -> IndexStoreError:
    code = getattr(error, "sqlite_errorcode", None) or 0
    if isinstance(error, sqlite3.ProgrammingError) and "closed database" in str(error):
        return IndexStoreError(f"The index {url} is closed.", hint="open it again.")
    if code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return IndexStoreError(
            f"The index {url} is being written by another process; waited {waited:g} seconds.",
            hint="try again when it is done; for many writers take postgresql://….",
        )
    if code & 0xFF == sqlite3.SQLITE_NOTADB:
        return IndexStoreError(f"{url} is no SQLite database.", hint="name another file.")
    if code & 0xFF == sqlite3.SQLITE_CORRUPT:
        return IndexStoreError(
            f"The index {url} is damaged: SQLite says {str(error).rstrip('.')}.",
            hint="restore it from a copy, or build it again.",
        )
    return IndexStoreError(
        f"The index {url} cannot be used: SQLite says {str(error).rstrip('.')}.",
        hint="is the folder there, may it be written, and is there room on the disk?",
    )
