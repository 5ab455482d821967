"""One connection to PostgreSQL: questions, and transactions that exclude each other.

Transactions of one index take turns by an advisory lock, held until they end. A process that dies
loses its connection and with it lock and transaction; one that hangs inside loses them after
``busy_seconds``. A lost connection is made anew, once, where nothing was written yet. Where it
breaks during the commit, the server is asked what became of the transaction; so a transaction that
ended without an error was committed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from neardup.errors import IndexStoreError, MissingExtraError, SettingsError

try:
    import psycopg
    from psycopg import sql
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise MissingExtraError(
        "An index in PostgreSQL needs psycopg, which is not installed.",
        hint="pip install 'neardup[postgres]'",
    ) from None

OLDEST = 130000  # the first that tells what became of a transaction by its number in 64 bits
NAME = "neardup"  # of an index, where none is given
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PASSWORD = re.compile(r"(?<=://)([^:@/?]*):[^/?]*@|(?<=[?&])password=[^&]*&?")

# A peer that is gone without a word is noticed within a minute instead of hours.
USUAL = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
Given = Sequence[Any]


class Server:
    def __init__(self, url: str, *, busy_seconds: float) -> None:
        self._address, self.index = _split(url)
        self.url = _without_password(url)
        self._busy = busy_seconds
        self._inside = self._closed = False
        self._db: psycopg.Connection[Any] | None = None
        with self._explained():
            self._connect()

    def ask(self, query: str, given: Given = ()) -> list[tuple[Any, ...]]:
        """Can be repeated, so it is when the connection was lost; but within a transaction."""
        with self._explained():
            try:
                return self._answer(query, given)
            except psycopg.OperationalError:
                if self._inside or not self._lost:
                    raise
                self._connect()
                return self._answer(query, given)

    def run(self, query: str, given: Given | None = None) -> int:
        """Within a transaction. How many rows it concerned."""
        return self._connection.execute(query, given).rowcount

    def run_each(self, query: str, rows: Sequence[Given]) -> None:
        with self._connection.cursor() as cursor:
            cursor.executemany(query, rows)

    def make_schema(self) -> None:
        """Only where it is not there: who may not make schemas can be given one."""
        if not self.ask("SELECT 1 FROM pg_namespace WHERE nspname = %s", [self.index]):
            self._connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(self.index)))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """No other of the same index is inside. All of it is durable afterwards, or nothing."""
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
        db = psycopg.connect(_patient(self._address), autocommit=True)
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
        """The number of the transaction. Nothing is written yet, so it may begin twice."""
        try:
            return self._begin_once()
        except psycopg.OperationalError:
            if not self._lost:
                raise
            self._connect()
            return self._begin_once()

    def _begin_once(self) -> str:
        # Every statement has to see what was committed before it began. Under another level, which
        # may be the server's usual one, we would see what was there before we waited for the lock.
        # All in one message: a way to the server and back is what a writer's turn is made of.
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
        """Where there is anything to roll back."""
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
        """Whoever has the lock knows that the transaction has ended."""
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
    """The address as PostgreSQL knows it, and the name of the index: ``…?index=news``."""
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


def _without_password(text: str) -> str:
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else "", text)


def _patient(address: str) -> str:
    given = conninfo_to_dict(address)
    return make_conninfo(address, **{n: v for n, v in USUAL.items() if n not in given})


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
    said = _without_password(" ".join(str(error).split())).rstrip(".")
    return IndexStoreError(
        f"The index {url} cannot be used: PostgreSQL says {said}.",
        hint="does the server run, and are host, database, user, password and rights as they "
        "should be?",
    )
