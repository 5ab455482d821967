"""Tables and queries of SQLite and PostgreSQL as input: ``sqlite:///news.db?table=articles``.

The rows are read once, in one transaction that can only read, and are spooled to disk, so every
later reading sees the same rows. Each row is a document with the columns of the table. Nothing is
written to the database; kept rows are lines of ``kept.jsonl``.

A row that is too large is rejected. If an SQLite file is damaged, the rows before the damage are
read, and one rejected document stands for the rest. A server that fails stops the run.
"""

from __future__ import annotations

import math
import os
import pickle
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from neardup.documents.file_formats import Address
from neardup.documents.lists import ListSource, LostRow, SpooledRows
from neardup.documents.lost import LostSource
from neardup.documents.open_files import Limits, shown
from neardup.errors import InputError, MissingExtraError, StoreError, UnreadableError

if TYPE_CHECKING:
    import psycopg

BUSY_SECONDS = 30.0  # the wait for a lock
_TABLES = 20  # tables that a message lists
_QUERY = re.compile(r"[\s(]*(select|with|values|table)\b", re.IGNORECASE)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_READING = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_TRANSACTION,
)
# Their values need not fit into the types of Python: there are infinite dates in PostgreSQL.
_AS_TEXT = ("date", "time", "timetz", "timestamp", "timestamptz", "interval", "numeric", "uuid")

# A peer that is gone without closing the connection is noticed in a minute instead of hours.
USUAL = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


def database_source(address: Address, limits: Limits) -> ListSource | LostSource:
    """The rows of the table or query. An unreadable file becomes a ``LostSource``; an error of a
    server stays one."""
    rows = _sqlite_rows if address.scheme == "sqlite" else _postgres_rows
    try:
        spooled = SpooledRows(_bounded(rows(address), limits))
        return ListSource(spooled, file=address.shown, again=_from_anywhere(address).again)
    except UnreadableError as error:
        return LostSource(Path(address.key), address.shown, error)


def _from_anywhere(address: Address) -> Address:
    local = address.scheme == "sqlite"
    return address._replace(key=os.path.abspath(address.key)) if local else address


Row = dict[str, Any] | LostRow


def _bounded(rows: Iterator[Row], limits: Limits) -> Iterator[Row]:
    """The rows without those that are too large, and without an end that would fill the disk."""
    total = 0
    for row in rows:
        size = 0 if isinstance(row, LostRow) else sum(map(_size, row.values()))
        total += size
        if total > limits.file:
            yield LostRow(f"there are more than {shown(limits.file)} (max_file); the rest is lost")
            return
        small = size <= limits.document
        yield row if small else LostRow(limits.document_fault("row", size))


def _size(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 8


def _row(names: Sequence[str], values: Sequence[Any]) -> Row:
    try:
        return {n: _plain(value) for n, value in zip(names, values, strict=True)}
    except RecursionError:
        return LostRow("row has a value that is nested too deeply")


def _plain(value: Any) -> Any:
    """JSON has no number that is infinite or none; such a value is a text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict | list):
        pickle.dumps(value)  # a row that cannot be spooled would stop the run
    return value


def _names(columns: Sequence[Any] | None, address: Address) -> list[str]:
    names = [str(column[0]) for column in columns or ()]
    if not names:
        raise InputError(
            f"The query of {address.shown} returns no columns.",
            hint="expected a query that begins with SELECT, WITH, VALUES or TABLE.",
        )
    if twice := {name for name in names if names.count(name) > 1}:
        raise InputError(
            f"The query of {address.shown} returns two columns with the name {min(twice)!r}.",
            hint="give them different names, such as `SELECT a.id AS id, b.id AS other`.",
        )
    return names


def _checked(query: str, address: Address) -> str:
    """A query that reads; what a query could do otherwise, the database refuses as well."""
    query = query.strip().rstrip(";")
    if not _QUERY.match(query):
        raise InputError(
            f"{address.shown} has no query that reads documents; a database is only read.",
            hint="expected a query that begins with SELECT, WITH, VALUES or TABLE.",
        )
    return query


def _one_of(tables: Sequence[str], address: Address) -> str:
    if len(tables) == 1:
        return tables[0]
    listed = ", ".join(tables[:_TABLES]) + (", …" if len(tables) > _TABLES else "")
    raise InputError(
        f"{address.shown} names no table; the database has {listed or 'none'}.",
        hint=f"name one, such as {address.shown}?table={tables[0] if tables else 'articles'}.",
    )


def _sqlite_rows(address: Address) -> Iterator[Row]:
    path = address.key
    if not os.path.isfile(path):
        raise InputError(
            f"{path or address.shown} does not exist, or is no file.",
            hint="expected sqlite:///FILE?table=NAME; sqlite:////var/FILE names an absolute path.",
        )
    read = 0
    with _sqlite_explained(address), closing(_sqlite(path)) as db:
        try:
            cursor = db.execute(_sqlite_query(db, address))
            names = _names(cursor.description, address)
            for values in cursor:
                read += 1
                yield _row(names, values)
        except sqlite3.DatabaseError as error:
            if not read or not _is(error, _DAMAGED):
                raise
            yield LostRow(f"database cannot be read from here on ({error}); the rest is lost")


def _sqlite(path: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"file:{quote(os.path.abspath(path))}?mode=ro",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
    )
    db.execute("PRAGMA trusted_schema = OFF")  # a view of a stranger calls no dangerous function
    db.text_factory = _text
    db.set_authorizer(_only_reads)
    db.execute("BEGIN")
    return db


def _only_reads(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _text(data: bytes) -> str | bytes:
    """SQLite does not check texts. One that is no UTF-8 is rejected, if it is the text to
    compare."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _sqlite_query(db: sqlite3.Connection, address: Address) -> str:
    if query := address.option("query"):
        return _checked(query, address)
    table = address.option("table")
    if table is None:
        tables = db.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
            " AND name NOT LIKE 'sqlite_%' ORDER BY name"
        )
        table = _one_of([str(name) for (name,) in tables], address)
    quoted = table.replace('"', '""')
    return f'SELECT * FROM "{quoted}"'


def _is(error: sqlite3.Error, codes: Sequence[int]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes


@contextmanager
def _sqlite_explained(address: Address) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        if _is(error, _DAMAGED):
            raise UnreadableError(
                f"Cannot read {address.shown}: {error}.",
                hint="check the file with `sqlite3 FILE 'PRAGMA integrity_check'`.",
                reason=str(error),
            ) from error
        if _is(error, _BUSY):
            raise StoreError(
                f"{address.shown} is being written by another process; waited "
                f"{BUSY_SECONDS:g} seconds.",
                hint="try again when it is done.",
            ) from error
        raise InputError(
            f"Cannot read {address.shown}: SQLite says {_sentence(error)}.",
            hint="check the names of tables and columns; a database is only read.",
        ) from error


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")


def _postgres_rows(address: Address) -> Iterator[Row]:
    psycopg = _psycopg()
    try:
        with closing(_postgres(address)) as db, db.cursor() as cursor:
            query = _postgres_query(db, address)
            names: list[str] = []
            # One row at a time comes from the server. It takes one statement only in this way.
            for values in cursor.stream(query):
                names = names or _names(cursor.description, address)
                yield _row(names, values)
    except psycopg.errors.LockNotAvailable as error:
        raise StoreError(
            f"{address.shown} is locked by another process; waited {BUSY_SECONDS:g} seconds.",
            hint="try again when it is done.",
        ) from error
    except psycopg.Error as error:
        raise StoreError(
            f"Cannot read {address.shown}: PostgreSQL says {_sentence(error)}.",
            hint="check that the server runs, the user may read, and tables and columns are named "
            "as there; a database is only read.",
        ) from None  # the cause may repeat the address, password and all


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError(
            "To read from PostgreSQL, psycopg is needed, which is not installed.",
            hint="pip install 'neardup[postgres]'",
        ) from None
    return psycopg


def _postgres(address: Address) -> psycopg.Connection[Any]:
    import psycopg
    from psycopg.types.string import TextLoader

    login = f"{address.login}@" if address.login else ""
    url = f"postgresql://{login}{address.host}/{address.key}?{address.rest}"
    db = psycopg.connect(patient(url), autocommit=False)
    db.read_only = True
    db.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    for name in _AS_TEXT:
        db.adapters.register_loader(name, TextLoader)
    settings = {"lock_timeout": f"{round(BUSY_SECONDS * 1000)}ms", "datestyle": "ISO"}
    for name, value in settings.items():
        db.execute("SELECT set_config(%s, %s, false)", [name, value])
    return db


def patient(address: str) -> str:
    """The address with the usual waits, where it states no others."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    parameters = conninfo_to_dict(address)
    return make_conninfo(address, **{n: v for n, v in USUAL.items() if n not in parameters})


def _postgres_query(db: psycopg.Connection[Any], address: Address) -> Any:
    from psycopg import sql

    if query := address.option("query"):  # within another query, it can only be one that reads
        return f"SELECT * FROM (\n{_checked(query, address)}\n) AS documents".encode()
    table = address.option("table")
    if table is None:
        tables = db.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
            " ORDER BY table_name"
        )
        table = _one_of([str(name) for (name,) in tables], address)
    return sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table.split(".", 1)))
