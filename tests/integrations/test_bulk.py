"""Bulk requests: their format, and engines that are filled with them and collapse a search."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import tantivy
from click.testing import CliRunner

import neardup as nd
from engines.index.postgres import running
from neardup.cli import main

NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"
ROWS = [json.loads(line) for line in NEWS.read_text("utf-8").splitlines()]
Search = Callable[[str], list[str]]


def printed(*arguments: Any) -> str:
    done = CliRunner().invoke(main, ["index", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "news.db"


def fields_of(lines: str) -> dict[str, dict[str, Any]]:
    """What a request of Elasticsearch sets, by id; each action is followed by its document."""
    rows = [json.loads(line) for line in lines.splitlines()]
    return {
        action["update"]["_id"]: body["doc"]
        for action, body in zip(rows[::2], rows[1::2], strict=True)
    }


def commands_of(request: str) -> list[tuple[str, Any]]:
    """The commands of a request of Solr, whose keys repeat."""
    commands: list[tuple[str, Any]] = json.loads(request, object_pairs_hook=_pairs)
    return commands


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    return pairs if {name for name, _ in pairs} <= {"add", "delete"} else dict(pairs)


def test_every_document_is_updated_as_the_index_decided(store: Path) -> None:
    fields = fields_of(printed("build", store, NEWS, "--bulk", "elasticsearch"))
    with nd.Index.open(store, create=False) as index:
        decided = {entry.id: entry.kept_id for entry in index}
    assert {id: doc["near_dup_of"] for id, doc in fields.items()} == decided
    assert all(doc["cluster"] == (doc["near_dup_of"] or id) for id, doc in fields.items())
    assert len(fields) == len(ROWS)


def test_added_and_removed_documents(store: Path, tmp_path: Path) -> None:
    printed("build", store, NEWS, "--quiet")
    more = tmp_path / "more.jsonl"
    copies = [{"id": "new", "text": ROWS[0]["text"]}, {"id": "bad", "text": None}]
    more.write_text("".join(json.dumps(row) + "\n" for row in copies), "utf-8")
    fields = fields_of(printed("add", store, more, "--bulk", "opensearch"))
    first = ROWS[0]["id"]
    assert fields == {"new": {"near_dup_of": first, "cluster": first}}
    actions = [
        json.loads(line)
        for line in printed("remove", store, first, "--bulk", "opensearch").splitlines()
    ]
    assert actions[0] == {"delete": {"_id": first}}
    again = fields_of("\n".join(json.dumps(action) for action in actions[1:]))
    with nd.Index.open(store, create=False) as index:
        decided = {entry.id: entry.kept_id for entry in index}
    assert {id: doc["near_dup_of"] for id, doc in again.items()} == {
        id: decided[id] for id in again
    }
    assert "new" in again


def test_solr_takes_one_object_of_commands(store: Path, tmp_path: Path) -> None:
    commands = commands_of(printed("build", store, NEWS, "--bulk", "solr"))
    assert [name for name, _ in commands] == ["add"] * len(ROWS)
    assert commands[0][1]["doc"] == {
        "id": ROWS[0]["id"],
        "near_dup_of": {"set": None},
        "cluster": {"set": ROWS[0]["id"]},
    }
    removed = commands_of(printed("remove", store, ROWS[0]["id"], "--bulk", "solr"))
    assert removed[0] == ("delete", {"id": ROWS[0]["id"]})
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", "utf-8")
    assert commands_of(printed("add", store, empty, "--bulk", "solr")) == []


@pytest.mark.parametrize("other", ["--lines", "--json"])
def test_stdout_has_one_use(store: Path, other: str) -> None:
    done = CliRunner().invoke(
        main, ["index", "add", str(store), str(NEWS), "--bulk", "solr", other]
    )
    assert done.exit_code == 2
    assert f"--bulk and {other} both print to stdout" in done.stderr


@contextmanager
def in_sqlite(fields: dict[str, dict[str, Any]]) -> Iterator[Search]:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE news (id TEXT PRIMARY KEY, near_dup_of TEXT, cluster TEXT)")
    db.execute("CREATE VIRTUAL TABLE search USING fts5(id UNINDEXED, text)")
    db.executemany("INSERT INTO search VALUES (:id, :text)", ROWS)
    listed = [{"id": id, **doc} for id, doc in fields.items()]
    db.executemany("INSERT INTO news VALUES (:id, :near_dup_of, :cluster)", listed)
    # The best of each cluster: SQLite takes the other columns from the row that has the minimum.
    asked = (
        "SELECT id FROM (SELECT id, cluster, min(rank) AS best FROM search JOIN news USING (id) "
        "WHERE search MATCH ? GROUP BY cluster) ORDER BY best"
    )
    yield lambda words: [id for (id,) in db.execute(asked, [words])]
    db.close()


@contextmanager
def in_postgresql(fields: dict[str, dict[str, Any]]) -> Iterator[Search]:
    with running() as url, psycopg.connect(url) as db:
        db.execute(
            "CREATE TABLE hits (id text PRIMARY KEY, text text, near_dup_of text, cluster text)"
        )
        for row in ROWS:
            doc = {**row, **fields[row["id"]], "text": row["text"].replace("\0", " ")}
            values = "VALUES (%(id)s, %(text)s, %(near_dup_of)s, %(cluster)s)"
            db.execute(f"INSERT INTO hits {values}", doc)
        asked = (
            "SELECT id FROM (SELECT DISTINCT ON (cluster) id, rank FROM (SELECT id, cluster, "
            "ts_rank(to_tsvector('simple', text), query) AS rank FROM hits, "
            "plainto_tsquery('simple', %s) AS query WHERE to_tsvector('simple', text) @@ query) "
            "AS found ORDER BY cluster, rank DESC, id) AS best ORDER BY rank DESC, id"
        )
        yield lambda words: [id for (id,) in db.execute(asked, [words]).fetchall()]


@contextmanager
def in_tantivy(fields: dict[str, dict[str, Any]]) -> Iterator[Search]:
    builder = tantivy.SchemaBuilder()
    for name in ("id", "cluster"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw")
    builder.add_text_field("text")
    index = tantivy.Index(builder.build())
    writer = index.writer(15_000_000, 1)
    for row in ROWS:
        cluster = fields[row["id"]]["cluster"]
        writer.add_document(tantivy.Document(id=row["id"], cluster=cluster, text=row["text"]))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()

    def search(words: str) -> list[str]:
        searcher = index.searcher()
        hits = searcher.search(index.parse_query(words, ["text"]), len(ROWS)).hits
        found = [searcher.doc(address) for _, address in hits]
        best: dict[str, str] = {}
        for doc in found:
            best.setdefault(doc["cluster"][0], doc["id"][0])
        return list(best.values())

    yield search


@pytest.mark.parametrize("engine", [in_sqlite, in_postgresql, in_tantivy])
def test_an_engine_collapses_by_cluster(engine: Any, store: Path) -> None:
    """From the command to a search: every cluster that has a hit is shown once."""
    fields = fields_of(printed("build", store, NEWS, "--bulk", "elasticsearch"))
    with engine(fields) as search:
        for words in ("harbour", "ferry", "regional"):
            shown = search(words)
            found = {row["id"] for row in ROWS if words in tokens(row["text"])}
            assert set(shown) <= found
            assert sorted(fields[id]["cluster"] for id in shown) == sorted(
                {fields[id]["cluster"] for id in found}
            )
            assert 0 < len(shown) < len(found)


def tokens(text: str) -> set[str]:
    return {"".join(filter(str.isalnum, word)) for word in text.lower().replace("-", " ").split()}


HITS = [{"_id": row["id"], "_source": row} for row in ROWS[:6]]


@pytest.mark.parametrize(
    ("answer", "text", "id"),
    [
        ({"took": 3, "hits": {"total": {"value": 6}, "hits": HITS}}, "_source.text", "_id"),
        ({"hits": {"hits": HITS}}, "_source.text", "_id"),  # filter_path=hits.hits
        ({"response": {"numFound": 6, "docs": ROWS[:6]}}, "text", "id"),  # omitHeader=true
    ],
)
def test_an_answer_of_an_engine_is_grouped_as_it_is(
    answer: dict[str, Any], text: str, id: str, tmp_path: Path
) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(answer), "utf-8")
    command = ["group", str(tmp_path / "answer.json"), "--text", text, "--id", id]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    assert done.exit_code == 0
    assert "6 results = 1 group + 5 under it" in done.output
