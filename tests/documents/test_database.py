"""Tables and queries of SQLite and PostgreSQL as input, read once and never written to."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import neardup as nd
from cli.sample import Run, run
from engines.index.postgres import running
from neardup.documents import database
from neardup.errors import InputError, NeardupError, StoreError, UnreadableError

__all__ = ["run"]  # a fixture
TEXT = "The council decided on Monday to rebuild the old bridge over the river in stone, and {}."
ROWS = [(1, TEXT.format("soon"), b"\xff\0", 1.5), (2, TEXT.format("soon"), None, float("inf"))]
ROWS += [(3, "Gardens in spring need water and much patience.", b"plain", 2.0)]
URL = "sqlite:///news.db?table=news"


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def news() -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect("news.db", isolation_level=None)
    db.execute("create table news (id integer primary key, text text, picture blob, weight real)")
    db.executemany("insert into news values (?, ?, ?, ?)", ROWS)
    yield db
    db.close()


def lines(folder: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(folder, "kept.jsonl").read_text().splitlines()]


def sums(result: nd.Result) -> tuple[int, int, int]:
    return result.counts.kept, result.counts.duplicates, result.counts.rejected


def reasons(result: nd.Result) -> list[str]:
    decided = result.decisions.to_pylist()
    return [row["reason"] for row in decided if row["decision"] == "rejected"]


def refused(url: str, error: type[NeardupError] = InputError) -> str:
    with pytest.raises(error) as raised:
        nd.dedup(url, method="exact")
    return str(raised.value)


@pytest.mark.usefixtures("news")
def test_a_table_of_sqlite_is_read_and_its_kept_rows_are_lines(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path("news.db").read_bytes()
    done = run("dedup", URL, "--method", "exact", "-o", "out")
    assert done.exit_code == 0, done.output
    first, last = lines("out")
    assert first == {
        "id": 1,
        "text": TEXT.format("soon"),
        "picture": base64.b64encode(b"\xff\0").decode(),
        "weight": 1.5,
    }
    assert (last["id"], last["picture"]) == (3, "plain")
    assert Path("news.db").read_bytes() == before
    result = nd.Result.load("out")
    with pytest.raises(InputError, match="NEARDUP_TRUST_RUNS=1"):
        result.collection()
    monkeypatch.chdir("/")
    monkeypatch.setenv("NEARDUP_TRUST_RUNS", "1")
    assert result.explain("2").comparison is not None
    (row,) = result.duplicates.to_pylist()
    assert (row["id"], row["kept_id"], row["file"], row["source"]) == ("2", "1", URL, "news")


@pytest.mark.usefixtures("news")
def test_a_query_is_taken_as_written_to_its_end() -> None:
    query = "select id as n, text as body from news where text like '%e%' and 3&1 order by id desc;"
    result = nd.dedup(f"sqlite:///news.db?query={query}", text="body", id="n", method="exact")
    assert result.decisions["id"].to_pylist() == ["3", "2", "1"]
    whole = f"sqlite:///{Path('news.db').absolute()}"  # the only table
    assert sums(nd.dedup(whole, method="exact")) == (2, 1, 0)
    assert sums(nd.dedup([{"text": TEXT.format("soon")}], against=URL, method="exact"))[1] == 1


def test_rows_without_a_text_are_rejected_each(news: sqlite3.Connection) -> None:
    news.execute("insert into news values (4, null, null, null)")
    news.execute("insert into news values (5, cast(x'616263ff' as text), null, null)")
    news.execute("insert into news values (6, x'ff00', null, null)")
    news.execute("insert into news values (7, 12.5, null, null)")  # a text, by its affinity
    news.execute("insert into news values (8, ?, null, null)", ["long " * 400_000])
    result = nd.dedup(URL, method="exact", max_document="1MB")
    assert sums(result) == (3, 1, 4)
    null, text, blob, long = reasons(result)
    assert null == "text is null"
    assert "not valid UTF-8 at byte 4" in text
    assert "not valid UTF-8 at byte 1" in blob
    assert "row has 2 MB; the limit is 1 MB (max_document)" in long


@pytest.mark.usefixtures("news")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("?table=none", "no such table: none"),
        ("?query=select missing from news", "no such column: missing"),
        ("?query=delete from news", "only read"),
        ("?query=with x as (select 1) delete from news", "not authorized"),
        ("?query=select 1; delete from news", "one statement"),
        ("?query=pragma user_version", "only read"),
        ("?query=select load_extension('x')", "load_extension"),
        ("?query=select id, text, text from news", "two columns with the name 'text'"),
    ],
)
def test_a_wrong_query_of_sqlite_is_a_sentence(options: str, message: str) -> None:
    assert message in refused(f"sqlite:///news.db{options}")
    assert sqlite3.connect("news.db").execute("select count(*) from news").fetchone() == (3,)


def test_a_database_that_cannot_be_read_is_a_sentence(
    news: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "does not exist" in refused("sqlite:///none.db?table=news")
    Path("no.db").write_bytes(b"no database at all" * 100)
    assert "not a database" in refused("sqlite:///no.db?table=news", UnreadableError)
    assert "'sqlite:///news.db?table=NAME'" in refused("news.db")
    news.execute("create table other (text)")
    assert "the database has news, other" in refused("sqlite:///news.db")
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.0)
    news.execute("begin exclusive")
    assert "being written by another process" in refused(URL, StoreError)


def test_a_damaged_file_gives_the_rows_before_and_one_for_the_rest(
    news: sqlite3.Connection,
) -> None:
    many = [(n, f"{TEXT} {n}" * 30, None, None) for n in range(10, 400)]
    news.execute("begin")
    news.executemany("insert into news values (?, ?, ?, ?)", many)
    news.execute("commit")
    news.close()
    data = bytearray(Path("news.db").read_bytes())
    data[len(data) // 2 :] = b"\xa5" * (len(data) - len(data) // 2)
    Path("news.db").write_bytes(data)
    result = nd.dedup(URL, method="exact")
    kept, duplicates, rejected = sums(result)
    assert (duplicates, rejected) == (1, 1)
    assert 10 < kept < 392
    assert reasons(result)[0].endswith("the rest is lost")


@pytest.mark.usefixtures("news")
def test_a_query_without_an_end_is_bounded() -> None:
    query = "with recursive n(i) as (select 1 union all select i + 1 from n)"
    query += " select i as id, printf('%.20000c', 'x') || i as text from n"
    result = nd.dedup(f"sqlite:///news.db?query={query}", method="exact", max_file="1MB")
    assert result.counts.rejected == 1
    assert "more than 1 MB (max_file)" in reasons(result)[0]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running() as address, psycopg.connect(address, autocommit=True) as db:
        db.execute("create schema wire")
        db.execute(
            "create table wire.news (id bigint, text text, picture bytea, day timestamptz,"
            " weight float8, about jsonb)"
        )
        db.cursor().executemany(
            "insert into wire.news values (%s, %s, %s, 'infinity', %s, '{\"body\": \"a b c\"}')",
            [(row[0], row[1], row[2], row[3]) for row in ROWS],
        )
        db.execute("create table flat as select id, text from wire.news")
        db.execute("insert into wire.news (id) values (4)")
        yield address


def test_a_table_of_postgresql(server: str, run: Run) -> None:
    url = server + "&table=wire.news"
    done = run("dedup", url, "--method", "exact", "-o", "out")
    assert done.exit_code == 0, done.output
    first, last = lines("out")
    assert (first["id"], first["picture"]) == (1, base64.b64encode(b"\xff\0").decode())
    assert (first["day"], first["about"], last["weight"]) == ("infinity", {"body": "a b c"}, 2.0)
    result = nd.Result.load("out")
    assert sums(result) == (2, 1, 1)
    assert reasons(result) == ["text is null"]
    assert set(result.decisions["file"].to_pylist()) == {
        "postgresql://postgres@/postgres?table=wire.news"
    }
    nested = nd.dedup(f"{server}&query=select id, about from wire.news", text="about.body")
    assert nested.counts.rejected == 1
    assert sums(nd.dedup(server, method="exact")) == (2, 1, 0)  # the only table of its schema


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("table=none", 'relation "none" does not exist'),
        ("query=select missing from flat", 'column "missing" does not exist'),
        ("query=delete from flat", "only read"),
        ("query=with d as (delete from flat returning 1) select * from d", "at the top level"),
        ("query=select 1) as a; delete from flat; select * from (select 1", "multiple commands"),
        ("query=select set_config('x.y', pg_notify('a', 'b')::text, false), 1/0", "division"),
        ("query=select lo_create(0)", "read-only transaction"),
        ("query=select id, text as id from flat", "two columns with the name 'id'"),
    ],
)
def test_a_wrong_query_of_postgresql_is_a_sentence(server: str, options: str, message: str) -> None:
    assert message in refused(f"{server}&{options}")
    with psycopg.connect(server) as db:
        assert db.execute("select count(*) from flat").fetchone() == (3,)


def test_a_server_that_does_not_answer_or_is_locked(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refused("postgresql://me:s3cret@127.0.0.1:1/news?table=news", StoreError)
    assert "s3cret" not in message
    assert "me@127.0.0.1:1/news?table=news" in message
    monkeypatch.setattr(database, "BUSY_SECONDS", 0.05)
    with psycopg.connect(server) as db:
        db.execute("lock table flat in access exclusive mode")
        assert "locked by another process" in refused(f"{server}&table=flat", StoreError)
