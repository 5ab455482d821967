"""Every store keeps the contract of ``store.py``, beside a plain model of it; what a store refuses
it refuses with a sentence."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.engines.index import passage_index, seals
from neardup.engines.index.store import FORMAT, Counters, Gone, Row, Store, open_store
from neardup.errors import IndexStoreError, MissingExtraError, SettingsError
from repeats import examples

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "put", "remove", "expire", "fail"]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=3) | st.just("\0\ufdd00\ufdd0"),
        st.integers(0, 9),
        st.binary(max_size=5),
        st.booleans(),
    ),
    max_size=12,
)


class Model:
    """What a store holds, in a dict; leads stores through what happens."""

    def __init__(self, store: Store, others: Store) -> None:
        self.store, self.others = store, others
        self.rows: dict[int, Row] = {}
        self.counters = Counters()
        self.states = [(self.counters, self.rows)]

    def step(self, what: str, id_: str, number: int, data: bytes, aside: bool) -> None:
        before = self.counters, self.rows
        self.rows = dict(self.rows)
        try:
            with self.store.writing() as writer:
                assert writer.counters == self.counters
                getattr(self, what)(writer, id_, number, data, aside)
                writer.counters = self.counters
        except FailedError:
            self.counters, self.rows = before
        self.states.append((self.counters, self.rows))

    def next(self) -> int:
        newest = (self.counters.newest or 0) + 1
        self.counters = Counters(self.counters.last + 1, newest)
        return self.counters.last

    def some(self, number: int) -> int | None:
        return sorted(self.rows)[number % len(self.rows)] if self.rows else None

    def put(self, writer: Any, id_: str, number: int, data: bytes, aside: bool) -> None:
        if any(row.id == id_ for row in self.rows.values()):
            return
        of = self.some(number) if aside else None
        why = (None,) * 4 if of is None else (id_ + "\0", 1 / 3, "resemblance >= 0.5", "identical")
        seq = self.next()
        text = None if number % 2 else id_ * number
        row = Row(seq, id_, number - 5, number, of, *why, signature=data, text=text)  # type: ignore[arg-type]
        writer.put([row])
        self.rows[seq] = row

    def remove(self, writer: Any, _id: str, number: int, *_: Any) -> None:
        if (one := self.some(number)) is not None:
            writer.remove(self.next(), [one])
            del self.rows[one]

    def expire(self, writer: Any, _id: str, number: int, *_: Any) -> None:
        left = {seq: row for seq, row in self.rows.items() if row.time >= number - 5}
        assert writer.expire(self.next(), number - 5) == len(self.rows) - len(left)
        self.rows = left

    def fail(self, writer: Any, *step: Any) -> None:
        for what in (self.put, self.remove, self.expire):
            what(writer, *step)
        raise FailedError

    def check(self, store: Store) -> None:
        rows = [self.rows[seq] for seq in sorted(self.rows)]
        assert store.counters() == self.counters
        assert store.get([*(row.id for row in rows), "none"]) == {row.id: row for row in rows}
        for seq in range(self.counters.last + 1):
            assert store.linked(seq) == [row for row in rows if row.kept_seq == seq]
        copies = [sum(other.kept_seq == row.seq for other in rows) for row in rows]
        light = [row._replace(signature=b"") for row in rows]
        assert list(store.rows()) == list(zip(light, copies, strict=True))
        bare = [row._replace(text=None) for row in light]
        assert list(store.rows(texts=False)) == list(zip(bare, copies, strict=True))
        totals, kept = store.totals(), sum(row.kept_seq is None for row in rows)
        del totals["bytes"]
        assert totals == {"documents": len(rows), "kept": kept, "duplicates": len(rows) - kept}

    def check_changes(self, store: Store) -> None:
        """Who knows an earlier state and reads the changes since knows this one."""
        for counters, rows in self.states if store is not self.store else self.states[:1]:
            known = set(rows)
            for one in store.changes(counters.last, duplicates=True):
                if isinstance(one, Row):
                    known.add(one.seq)
                elif one.removed is not None:
                    known.discard(one.removed)
                else:
                    known -= {seq for seq in known if seq < one.seq and self.was_before(seq, one)}
            assert known == set(self.rows)
        kept = [row for row in store.changes(0, duplicates=False) if isinstance(row, Row)]
        assert kept == [self.rows[s] for s in sorted(self.rows) if self.rows[s].kept_seq is None]

    def was_before(self, seq: int, gone: Gone) -> bool:
        row = next(rows[seq] for _, rows in self.states if seq in rows)
        return gone.before is not None and row.time < gone.before


class FailedError(Exception):
    pass


@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgresql"])
@examples(10)
@given(steps=STEPS)
def test_every_store_keeps_the_contract(
    kind: str, new_url: Callable[[str], str], steps: list[Any]
) -> None:
    url = new_url(kind)
    store = open_store(url)
    assert store.description() is None
    store.create({"made": "first \0 ü"}, {"idf": b"\0\xff"})
    others = store if kind == "memory" else open_store(url)
    if kind != "memory":
        others.create({"made": "second"}, {})
    model = Model(store, others)
    for step in steps:
        model.step(*step)
    for one in (store, others):
        assert one.description() == {"made": "first \0 ü"}
        assert one.artefacts() == {"idf": b"\0\xff"}
        model.check(one)
        model.check_changes(one)
        one.close()


def test_others_are_told_that_something_changed(durable: str) -> None:
    ours, theirs = open_store(durable), open_store(durable)
    ours.create({}, {})
    ours.changed()
    assert not ours.changed()
    with theirs.writing() as writer:
        writer.counters = Counters(1, 5)
    assert ours.changed()
    assert not ours.changed()
    with ours.writing() as writer:
        assert writer.counters == Counters(1, 5)
        writer.counters = Counters(2, 5)
    assert not ours.changed()
    ours.close()
    theirs.close()


def test_ids_of_any_length(durable: str) -> None:
    store = open_store(durable)
    store.create({}, {})
    ids = ["ü" * 100_000, "ü" * 99_999, "", " "]
    with store.writing() as writer:
        writer.put([Row(n, id_, 0, 0, *[None] * 5, b"") for n, id_ in enumerate(ids, 1)])  # type: ignore[arg-type]
        writer.counters = Counters(4, 0)
    assert {id_: row.seq for id_, row in store.get(ids).items()} == {
        id_: n for n, id_ in enumerate(ids, 1)
    }
    with pytest.raises(IndexStoreError), store.writing() as writer:
        writer.put([Row(5, ids[0], 0, 0, *[None] * 5, b"")])  # type: ignore[arg-type]
    store.close()


def test_nothing_is_stored_where_there_is_no_room(new_url: Callable[[str], str]) -> None:
    store = open_store(new_url("sqlite"))
    store.create({}, {})
    store._db.execute("PRAGMA max_page_count = 20")  # type: ignore[attr-defined]

    def fill() -> None:
        with store.writing() as writer:
            for seq in range(1, 100):
                writer.put([Row(seq, str(seq), 0, 0, *[None] * 5, bytes(4096))])  # type: ignore[arg-type]

    with pytest.raises(IndexStoreError, match="disk is full"):
        fill()
    assert list(store.rows()) == []
    with store.writing() as writer:
        writer.put([Row(1, "1", 0, 0, *[None] * 5, bytes(4096))])  # type: ignore[arg-type]
    assert list(store.get(["1"])) == ["1"]
    store.close()


def test_the_log_of_what_went_away_ends(durable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "LOG", 10)
    store = open_store(durable)
    store.create({}, {})
    for seq in range(1, 60, 2):
        with store.writing() as writer:
            writer.put([Row(seq, str(seq), seq, 0, *[None] * 5, b"")])  # type: ignore[arg-type]
            if seq % 3:
                writer.remove(seq + 1, [seq])
            else:
                writer.expire(seq + 1, seq + 1)
    gone = [one.seq for one in store.changes(1, duplicates=True) if isinstance(one, Gone)]
    assert gone == [52, 54, 56, 58, 60]
    store.close()


def test_who_waits_too_long_is_told_so(durable: str) -> None:
    ours = open_store(durable)
    ours.create({}, {})
    impatient = type(ours)(durable.removeprefix("sqlite:"), busy_seconds=0.05)  # type: ignore[call-arg]
    with ours.writing() as writer:
        with (
            pytest.raises(IndexStoreError, match=r"another process; waited 0\.05 seconds"),
            impatient.writing(),
        ):
            pass
        writer.counters = Counters(1, 0)
    with impatient.writing() as writer:
        assert writer.counters == Counters(1, 0)
    ours.close()
    impatient.close()


@pytest.mark.parametrize(
    ("found", "hint"),
    [(FORMAT + 1, "newer version: update"), (FORMAT - 1, "older version: build"), ("x", "older")],
)
def test_other_formats_are_refused(durable: str, found: Any, hint: str) -> None:
    store = open_store(durable)
    store.create({}, {})
    change(durable, f"UPDATE meta SET value = '{found}' WHERE name = 'format'")
    with pytest.raises(IndexStoreError, match=f"has format {found}.*{hint}"):
        store.description()
    store.close()


def test_other_tables_are_left_alone(durable: str) -> None:
    change(durable, "CREATE TABLE mine (a INTEGER)")
    store = open_store(durable)
    with pytest.raises(IndexStoreError, match="no index of neardup"):
        store.description()
    store.close()


def test_both_databases_have_the_same_tables(new_url: Callable[[str], str]) -> None:
    found = []
    for kind in ("sqlite", "postgresql"):
        url = new_url(kind)
        store = open_store(url)
        store.create({}, {})
        store.close()
        asked = (
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c"
            " WHERE m.type = 'table' ORDER BY m.name, c.cid"
            if kind == "sqlite"
            else "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema ORDER BY table_name, ordinal_position"
        )
        found.append(json.dumps([list(map(str, row)) for row in change(url, asked)]))
    assert found[0] == found[1]


def change(url: str, statement: str) -> list[Any]:
    """Behind the back of the store."""
    if url.startswith("sqlite:"):
        import sqlite3

        db = sqlite3.connect(url.removeprefix("sqlite:"), isolation_level=None)
        rows = db.execute(statement).fetchall()
        db.close()
        return rows
    import psycopg

    address, _, index = url.partition("&index=")
    with psycopg.connect(address, autocommit=True) as server:
        server.execute(f"CREATE SCHEMA IF NOT EXISTS {index}")
        server.execute(f"SET search_path TO {index}")
        cursor = server.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.mark.parametrize("name", ["", "News", "9", "a-b", "a" * 64, 'a"; DROP'])
def test_names_of_indexes(name: str) -> None:
    with pytest.raises(SettingsError, match="is named"):
        open_store(f"postgresql://nowhere/x?index={name}")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:secret@/x?host=/nowhere",
        "postgresql://me@/x?password=secret&host=/nowhere",
        "postgresql://me:secret@[::1/x",
        "postgresql://me:secret@/x?host=/nowhere&what=1",
    ],
)
def test_an_address_that_leads_nowhere_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(IndexStoreError, match="PostgreSQL says") as raised:
        open_store(url)
    assert "secret" not in str(raised.value)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for name in ("postgresql", "connection"):
        monkeypatch.delitem(sys.modules, f"neardup.engines.index.{name}", raising=False)
    with pytest.raises(MissingExtraError, match=r"pip install 'neardup\[postgres\]'"):
        open_store("postgresql://nowhere")


def test_a_passage_index_is_stored_and_asked(durable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_index, "FEWEST", 1)
    texts = [" ".join(f"{name}{n}" for n in range(20)) for name in ("pier", "ferry", "harbour")]
    with nd.Index.open(durable, method="exact", passages=True) as index:
        index.add_many([{"id": str(i), "text": text} for i, text in enumerate(texts[:2])])
        index.keep_passages()
        index.add({"id": "2", "text": texts[2]})
    with nd.Index.open(durable) as index:
        (trace,) = nd.trace([" and ".join(texts)], index)
        assert [part.source for part in trace.parts] == ["0", "1", "2"]
        index.remove("0")
        (trace,) = nd.trace([" and ".join(texts)], index)
        assert [part.source for part in trace.parts] == ["1", "2"]
