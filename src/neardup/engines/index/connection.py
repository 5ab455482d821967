"""A connection to PostgreSQL: queries, and transactions that exclude each other.

Transactions of one index take turns by an advisory lock, which is held until they end. A process
that dies loses its connection, and with it lock and transaction; a process that hangs in a
transaction loses them after ``busy_seconds``. A lost connection is opened again once, if nothing
was written yet. If it breaks during the commit, the server is asked for the outcome of the
transaction. A transaction that ends without an error is therefore always committed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from neardup.documents.database import patient
from neardup.errors import IndexStoreError, MissingExtraError, SettingsError, without_password

try:
    import psycopg
    from psycopg import sql
except ImportError:
    raise MissingExtraError(
        "An index in PostgreSQL needs psycopg, which is not installed.",
        hint="pip install 'neardup[postgres]'",
    ) from None

OLDEST = 130000  # the first version that reports the outcome of a transaction by its number
NAME = "neardup"  # the default name of an index
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")

Given = Sequence[Any]


class Server:
    def __init__(self, url: str, *, busy_seconds: float) -> None:
        self._address, self.index = _split(url)
        self.url = without_password(url)
        self._busy = busy_seconds
        self._inside = self._closed = False
        self._db: psycopg.Connection[Any] | None = None
        with self._explained():
            self._connect()

    def ask(self, query: str, given: Given = ()) -> list[tuple[Any, ...]]:
        """Runs a query. Outside of a transaction it is repeated if the connection was lost."""
        with self._explained():
            try:
                return self._answer(query, given)
            except psycopg.OperationalError:
                if self._inside or not self._lost:
                    raise
                self._connect()
                return self._answer(query, given)

    def run(self, query: str, given: Given | None = None) -> int:
        """Runs a statement within a transaction and returns the number of affected rows."""
        return self._connection.execute(query, given).rowcount

    def run_each(self, query: str, rows: Sequence[Given]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(query, rows)

    def make_schema(self) -> None:
        """Creates the schema if it is missing. Users who may not create one can be given one."""
        if not self.ask("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.index]):
            self._connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.index)))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction that excludes others of the same index. It is durable as a whole, or
        undone."""
        with self._explained():
            number = self._begin()
            self._inside = True
            try:
                with self._explained():
                    yield
                    self._commit(number)
            finally:
                self._inside = False
                self._roll_back()

    def close(self) -> None:
        self._closed = True
        self._connection.close()

    @property
    def _connection(self) -> psycopg.Connection[Any]:
        assert self._db is not None
        return self._db

    @property
    def _lost(self) -> bool:
        return self._db is not None and self._db.closed and not self._closed

    def _connect(self) -> None:
        db = psycopg.connect(patient(self._address), autocommit=True)
        if db.info.server_version < OLDEST:
            db.close()
            raise IndexStoreError(
                f"The server of {self.url} is PostgreSQL {db.info.server_version // 10000}.",
                hint=f"an index needs {OLDEST // 10000} or later.",
            )
        wait = f"{round(self._busy * 1000)}ms"
        for name in ("lock_timeout", "idle_in_transaction_session_timeout"):
            db.execute("SELECT set_config(%s, %s, false)", [name, wait])
        db.execute(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') = 'off'"
        )
        db.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.index)))
        self._db = db

    def _answer(self, query: str, given: Given = ()) -> list[tuple[Any, ...]]:
        with self._connection.cursor(binary=True) as cursor:
            return cursor.execute(query, given).fetchall()

    def _begin(self) -> str:
        """Begins a transaction and returns its number. Nothing is written yet, so it may be
        repeated."""
        try:
            return self._begin_once()
        except psycopg.OperationalError:
            if not self._lost:
                raise
            self._connect()
            return self._begin_once()

    def _begin_once(self) -> str:
        # Every statement must see what was committed before it began. With a stricter level, which
        # may be the default of the server, it would see the state before the wait for the lock.
        # One message has it all, because a writer spends its turn on round trips to the server.
        statements = (
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            f"SELECT pg_advisory_xact_lock({_lock_number(self.index)})",
            "SELECT pg_current_xact_id()::text",
        )
        try:
            with self._connection.cursor() as cursor:
                cursor.execute("; ".join(statements))
                while cursor.nextset():
                    pass
                return str(cursor.fetchall()[0][0])
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        """Rolls back the transaction, if there is one."""
        db = self._connection
        if not db.closed and db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            db.execute("ROLLBACK")

    def _commit(self, number: str) -> None:
        try:
            done = self._connection.execute("COMMIT").statusmessage
        except psycopg.OperationalError as error:
            if not self._lost:
                raise
            done = self._became_of(number, error)
        if done != "COMMIT":  # a transaction in which a statement failed answers ROLLBACK
            raise _nothing_stored(self.url)

    def _became_of(self, number: str, error: psycopg.Error) -> str:
        """Whether the transaction was committed. It has ended, because this connection has the
        lock."""
        try:
            self._connect()
            self._begin_once()
            ((status,),) = self._answer("SELECT pg_xact_status(%s::text::xid8)", [number])
            self._roll_back()
        except psycopg.Error:
            status = None
        if status not in ("committed", "aborted"):
            raise _unknown(self.url) from error
        return "COMMIT" if status == "committed" else "ROLLBACK"

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            if self._inside and self._lost:
                raise _nothing_stored(self.url) from error
            raise _explain(self.url, error, self._busy) from error


def _split(url: str) -> tuple[str, str]:
    """The address for PostgreSQL, and the name of the index: ``…?index=news``."""
    address, _, query = url.partition("?")
    parts = [part for part in query.split("&") if part]
    names = [part.removeprefix("index=") for part in parts if part.startswith("index=")]
    rest = "&".join(part for part in parts if not part.startswith("index="))
    name = names[-1] if names else NAME
    if not _NAME.fullmatch(name):
        raise SettingsError(
            f"The index of a PostgreSQL address is named {name!r}.",
            hint="expected up to 63 of a-z, 0-9 and _, not a digit first: postgresql://…?index=news.",
        )
    return f"{address}?{rest}" if rest else address, name


def _lock_number(index: str) -> int:
    digest = hashlib.blake2b(f"neardup:{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _nothing_stored(url: str) -> IndexStoreError:
    return IndexStoreError(
        f"The connection to {url} was lost; nothing of this call was stored.",
        hint="try it again.",
    )


def _unknown(url: str) -> IndexStoreError:
    return IndexStoreError(
        f"The connection to {url} was lost while committing, and the server does not say what "
        "became of this call: it was stored as a whole or not at all.",
        hint="ask for one of its documents (get) before adding it again.",
    )


def _explain(url: str, error: psycopg.Error, waited: float) -> IndexStoreError:
    if isinstance(error, psycopg.errors.LockNotAvailable):
        return IndexStoreError(
            f"The index {url} is being written by another process; waited {waited:g} seconds.",
            hint="try again when it is done.",
        )
    message = " ".join(str(error).split()).rstrip(".")
    return IndexStoreError(
        f"The index {url} cannot be used: PostgreSQL says {message}.",
        hint="does the server run, and are host, database, user, password and rights as they "
        "should be?",
    )
