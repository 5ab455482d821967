"""An index in PostgreSQL, for several writers: the tables of the SQLite store in a schema.

``postgresql://…/database?index=news`` names the schema ``news``; the default is ``neardup``.
Writers take turns (``connection.py``). A writer reads the changes of others before it decides
anything, so two duplicates that arrive at the same moment are never both kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import merge
from typing import Any

from neardup.engines.index.connection import Server
from neardup.engines.index.seals import (
    CHECKSUM,
    PASSAGES,
    Counted,
    SqlWriter,
    Tally,
    check_gone,
    check_row,
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

# A btree accepts no ids above 2,700 bytes; a hash index accepts any. Signatures are random bytes,
# which the server need not try to compress.
SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE artefacts (name TEXT PRIMARY KEY, data BYTEA NOT NULL);
CREATE TABLE documents (
    seq BIGINT PRIMARY KEY,
    id TEXT NOT NULL,
    time BIGINT NOT NULL,
    flags INTEGER NOT NULL,
    kept_seq BIGINT,
    kept_id TEXT,
    score DOUBLE PRECISION,
    reason TEXT,
    kind TEXT,
    signature BYTEA NOT NULL,
    text TEXT,
    within TEXT,
    by TEXT,
    source TEXT,
    checksum BIGINT NOT NULL,
    EXCLUDE USING hash (id WITH =)
);
ALTER TABLE documents ALTER COLUMN signature SET STORAGE EXTERNAL;
CREATE INDEX documents_time ON documents (time);
CREATE INDEX documents_kept ON documents (kept_seq) WHERE kept_seq IS NOT NULL;
CREATE TABLE gone (
    seq BIGINT PRIMARY KEY, removed BIGINT, before BIGINT, checksum BIGINT NOT NULL
);
"""
# Made with the first rows of a passage index: indexes without one, also older ones, have no table.
ANCHORS = "CREATE TABLE IF NOT EXISTS anchors (number BIGINT PRIMARY KEY, data BYTEA NOT NULL)"
PUT_ANCHORS = (
    "INSERT INTO anchors VALUES (%s, %s) ON CONFLICT (number) DO UPDATE SET data = EXCLUDED.data"
)
COLUMNS = ", ".join((*Row._fields, CHECKSUM))
LIGHT = COLUMNS.replace("signature", "''::bytea")
NO_TEXT = LIGHT.replace(" text,", " NULL,")

# PostgreSQL accepts every character but NUL, which is escaped with a noncharacter.
_NUL, _MARK = "\0", "\ufdd0"


class PostgresStore:
    def __init__(self, url: str, *, busy_seconds: float = BUSY_SECONDS) -> None:
        self._server = Server(url, busy_seconds=busy_seconds)
        self.url = self._server.url
        self._last: Counters | None = None

    def description(self) -> dict[str, Any] | None:
        index = self._server.index
        present = self._server.ask("SELECT tablename FROM pg_tables WHERE schemaname = %s", [index])
        tables = {name for (name,) in present}
        if not tables:
            return None
        if not {"meta", "documents"} <= tables:
            raise IndexStoreError(
                f"The schema {index} of {self.url} has tables, but no index of neardup.",
                hint="name another one with ?index=NAME.",
            )
        meta = dict(self._server.ask("SELECT name, value FROM meta"))
        check_format(self.url, meta.get("format"))
        return read_description(meta.get("description"), self.url)

    def create(self, description: Mapping[str, Any], artefacts: Mapping[str, bytes]) -> None:
        meta = {"format": str(FORMAT), "description": written_description(description)}
        meta["counters"] = written_counters(Counters(), Tally())
        with self._server.transaction():
            if self.description() is not None:
                return
            self._server.make_schema()
            self._server.run(SCHEMA)
            self._server.run_each("INSERT INTO meta VALUES (%s, %s)", list(meta.items()))
            files = list(artefacts.items())
            self._server.run_each("INSERT INTO artefacts VALUES (%s, %s)", files)

    def artefacts(self) -> dict[str, bytes]:
        return dict(self._server.ask("SELECT name, data FROM artefacts"))

    @contextmanager
    def writing(self) -> Iterator[_Writer]:
        with self._server.transaction():
            before = self._counted()
            writer = _Writer(self._server, *before)
            yield writer
            if (after := (writer.counters, writer.tally)) != before:
                self._server.run(
                    "UPDATE meta SET value = %s WHERE name = 'counters'",
                    [written_counters(*after)],
                )
        self._last = writer.counters

    def changed(self) -> bool:
        before, self._last = self._last, self.counters()
        return before != self._last

    def counters(self) -> Counters:
        return self._counted()[0]

    def _counted(self) -> Counted:
        values = self._server.ask("SELECT value FROM meta WHERE name = 'counters'")
        return read_counters(values[0][0] if values else "", self.url)

    def changes(self, since: int, *, duplicates: bool) -> Iterator[Row | Gone]:
        """Correct even while others write: numbers are in the order of commits, and changes after
        the counters were read are read again."""
        kept = "" if duplicates else "AND kept_seq IS NULL"
        rows = map(self._row, self._pages(kept, since))
        if not since:  # the first reading of an index needs no deletions
            return tallied(rows, self._counted, self.url, duplicates=duplicates)
        gone = self._server.ask("SELECT * FROM gone WHERE seq > %s ORDER BY seq", [since])
        entries = (check_gone(Gone._make(g), seal, self.url) for *g, seal in gone)
        return merge(rows, entries, key=lambda one: one.seq)

    def _row(self, found: Sequence[Any], *, text: bool = True) -> Row:
        return check_row(_restored(found[:-1]), found[-1], self.url, text=text)

    def _pages(self, where: str, since: int) -> Iterator[tuple[Any, ...]]:
        while page := self._page(COLUMNS, where, since):
            yield from page
            since = page[-1][0]

    def _page(self, columns: str, where: str, since: int) -> list[tuple[Any, ...]]:
        query = f"SELECT {columns} FROM documents WHERE seq > %s {where} ORDER BY seq LIMIT {PAGE}"
        return self._server.ask(query, [since])

    def get(self, ids: Sequence[str]) -> dict[str, Row]:
        rows = self._rows("id = ANY(%s)", [list(map(_storable, ids))]) if ids else []
        return {row.id: row for row in rows}

    def known(self, ids: Sequence[str]) -> set[str]:
        query = "SELECT id FROM documents WHERE id = ANY(%s)"
        rows = self._server.ask(query, [list(map(_storable, ids))]) if ids else []
        return {_plain(id_) for (id_,) in rows}

    def linked(self, seq: int) -> list[Row]:
        return self._rows("kept_seq = %s", [seq])

    def _rows(self, where: str, given: Sequence[Any]) -> list[Row]:
        query = f"SELECT {COLUMNS} FROM documents WHERE {where} ORDER BY seq"
        return list(map(self._row, self._server.ask(query, given)))

    def rows(self, since: int = 0, *, texts: bool = True) -> list[tuple[Row, int]]:
        copies = "(SELECT count(*) FROM documents AS d WHERE d.kept_seq = documents.seq)"
        page = self._page(f"{LIGHT if texts else NO_TEXT}, {copies}", "", since)
        return [(self._row(row, text=texts), count) for *row, count in page]

    def numbered(self, numbers: Sequence[int]) -> list[Row]:
        query = f"SELECT {LIGHT} FROM documents WHERE seq = ANY(%s) ORDER BY seq"
        return list(map(self._row, self._server.ask(query, [list(numbers)])))

    def numbers(self) -> list[int]:
        return [number for (number,) in self._server.ask("SELECT seq FROM documents ORDER BY seq")]

    def size(self) -> int:
        return self._counted()[1].documents

    def passages(self) -> dict[str, Any] | None:
        return read_passages(self._server.ask(PASSAGES), self.url)

    def anchors(self, numbers: Sequence[int]) -> list[tuple[int, bytes]]:
        query = "SELECT number, data FROM anchors WHERE number = ANY(%s)"
        return [(number, bytes(data)) for number, data in self._server.ask(query, [list(numbers)])]

    def totals(self) -> dict[str, int]:
        ((count, aside),) = self._server.ask("SELECT count(*), count(kept_seq) FROM documents")
        ((size,),) = self._server.ask(
            "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class AS c"
            " JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = %s AND relkind = 'r'",
            [self._server.index],
        )
        return {"documents": count, "kept": count - aside, "duplicates": aside, "bytes": size}

    def structure_faults(self) -> list[str]:
        return []  # the server checks its own pages (data_checksums, pg_amcheck)

    def close(self) -> None:
        self._server.close()


class _Writer(SqlWriter):
    mark = "%s"

    def __init__(self, server: Server, counters: Counters, tally: Tally) -> None:
        super().__init__(counters, tally)
        self._server = server

    def ask(self, query: str, values: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
        return self._server.ask(query, values)

    def run(self, query: str, values: Sequence[Any]) -> int:
        return self._server.run(query, values)

    def put(self, rows: Sequence[Row]) -> None:
        marks = ", ".join(["%s"] * (len(Row._fields) + 1))
        query = f"INSERT INTO documents ({COLUMNS}) VALUES ({marks})"
        self._server.run_each(query, [(*_stored(row), seal_of(row)) for row in rows])
        self.tally = self.tally.with_rows(rows)

    def put_anchors(self, rows: Iterable[tuple[int, bytes]]) -> None:
        self._server.run(ANCHORS)
        self._server.run_each(PUT_ANCHORS, list(rows))


def _storable(text: str) -> str:
    if _NUL not in text and _MARK not in text:
        return text
    return text.replace(_MARK, _MARK + "1").replace(_NUL, _MARK + "0")


def _stored(row: Row) -> Row:
    return _written(row, _storable)


def _restored(found: Iterable[Any]) -> Row:
    row = Row._make(found)
    return _written(row, _plain) if any(one and _MARK in one for one in _texts(row)) else row


def _texts(row: Row) -> tuple[str | None, ...]:
    return row.id, row.kept_id, row.text, row.within, row.by, row.source


def _written(row: Row, how: Callable[[str], str]) -> Row:
    id_, kept_id, *others = (one and how(one) for one in _texts(row))
    named = dict(zip(("text", "within", "by", "source"), others, strict=True))
    return row._replace(id=id_ or "", kept_id=kept_id, **named)  # type: ignore[arg-type]


def _plain(text: str) -> str:
    return text.replace(_MARK + "0", _NUL).replace(_MARK + "1", _MARK)
