"""What users of an index rely on beside its decisions: answers, refusals, durability, turns."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neardup as nd
from neardup.engines.index import postgresql, store
from neardup.engines.index import sqlite as sqlite_store
from neardup.engines.index.sqlite import SqliteStore
from neardup.errors import IndexStoreError, RejectedError, SettingsError, SignatureError
from neardup.methods import registry
from neardup.testing import HOSTILE
from reference.run import collection

TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
EDITED = TEXT.replace("three", "3")
SHINGLES: dict[str, Any] = {"method": "shingles", "words": 2, "threshold": 0.6}


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, new_url: Callable[[str], str]) -> str:
    return new_url(request.param)


def test_answers(url: str) -> None:
    with nd.Index.open(url, **SHINGLES) as index:
        assert index.check(TEXT) is None
        assert index.add({"id": "a", "text": TEXT}) is None
        same = index.add({"id": "b", "text": TEXT.upper()})
        near = index.add({"id": "c", "text": EDITED})
        assert same[:5] == ("a", 1.0, "resemblance >= 0.6", "normalised", None)
        assert near is not None
        assert (near.of, near.score, near.kind) == ("a", 0.75, None)
        assert index.check({"text": TEXT}).kind == "identical"  # type: ignore[union-attr]
        assert len(index) == 3
        assert "c" in index
        assert "d" not in index
        entry = index.get("c")
        assert (entry.decision, entry.kept_id, entry.score) == ("duplicate", "a", 0.75)
        assert index.get("a").reason == "representative"
        assert [entry.id for entry in index] == ["a", "b", "c"]
        counts = index.stats()
        assert (counts["documents"], counts["kept"], counts["duplicates"]) == (3, 1, 2)
        assert counts["checks"] == 2


def test_texts_without_ids_are_named_as_in_a_run(url: str) -> None:
    texts = [TEXT, "other", EDITED]
    with nd.Index.open(url, **SHINGLES) as index:
        index.add_many(texts)
        ids = [entry.id for entry in index]
    assert ids == nd.dedup(texts, **SHINGLES).decisions["id"].to_pylist()


def test_duplicates_of_what_is_removed_arrive_again(url: str) -> None:
    """The example of the docs."""
    with nd.Index.open(url, **SHINGLES) as index:
        index.add_many(
            [{"id": i, "text": t} for i, t in zip("abc", [TEXT, EDITED, TEXT], strict=True)]
        )
        again = index.remove("a")
        assert again["b"] is None
        assert again["c"] is not None
        assert again["c"].of == "b"
        assert [entry.id for entry in index] == ["b", "c"]


def test_none_ends_as_duplicates_of_each_other(url: str) -> None:
    """Where duplicates are matched, all that hang on the removed one arrive again."""
    words = [f"w{i}" for i in range(9)]
    chain = {"method": "shingles", "words": 2, "threshold": 0.5, "min_words": 3, "against": "seen"}
    with nd.Index.open(url, **chain) as index:
        for at, id_ in enumerate("abc"):
            index.add({"id": id_, "text": " ".join(words[at : at + 6])})
        assert [entry.kept_id for entry in index] == [None, "a", "b"]
        index.remove("a")
        assert [(entry.id, entry.kept_id) for entry in index] == [("b", None), ("c", "b")]


def test_a_new_version_takes_the_place_of_the_old(url: str) -> None:
    with nd.Index.open(url, **SHINGLES) as index:
        index.add_many([{"id": "a", "text": TEXT}, {"id": "b", "text": TEXT}])
        assert index.update({"id": "a", "text": "something else altogether"}) is None
        assert index.get("b").decision == "kept"
        match = index.update({"id": "a", "text": EDITED})
        assert match is not None
        assert match.of == "b"
        assert index.update({"id": "new", "text": "not there before"}) is None
        with pytest.raises(RejectedError, match="without an id"):
            index.update(TEXT)


def test_nothing_of_a_refused_call_is_stored(url: str) -> None:
    with nd.Index.open(url, **SHINGLES) as index:
        index.add({"id": "a", "text": TEXT})
        for bad, said in [
            ([{"id": "b", "text": EDITED}, {"id": "a", "text": "x"}], "already has a document 'a'"),
            ([{"id": "b", "text": EDITED}, {"id": "b", "text": "x"}], "already has a document 'b'"),
            ([{"id": "b", "text": EDITED}, {"id": "c", "text": None}], "'c' .*text is null"),
            ([{"id": "b", "text": EDITED}, {"id": "c"}], "text is missing"),
            ([{"id": "b", "text": EDITED}, {"id": [], "text": "x"}], "number 2 .*id is an array"),
            ([{"id": "b", "text": EDITED}, "lone \ud800"], "surrogate"),
            ([{"id": "b", "text": EDITED}, 7], "a number; expected a dict"),
        ]:
            with pytest.raises(RejectedError, match=said):
                index.add_many(bad)
            if said != "already has a document 'b'":
                with pytest.raises(RejectedError):
                    index.add(bad[1])
        assert [entry.id for entry in index] == ["a"]
        assert index.check(EDITED).of == "a"  # type: ignore[union-attr]
        for call in (index.get, index.remove):
            with pytest.raises(RejectedError, match="no document 'z'"):
                call("z")
        with pytest.raises(RejectedError, match="is no time"):
            index.expire("soon")


def test_a_failure_in_the_middle_leaves_no_trace(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What memory had taken in before is forgotten with it."""
    from neardup.engines.index.arrivals import Writing

    with nd.Index.open(url, **SHINGLES) as index:
        index.add({"id": "a", "text": TEXT})
        with monkeypatch.context() as broken:
            broken.setattr(Writing, "finish", lambda _: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                index.add_many(
                    [{"id": "b", "text": "quite another text"}, {"id": "c", "text": TEXT}]
                )
            with pytest.raises(ZeroDivisionError):
                index.remove("a")
        assert [entry.id for entry in index] == ["a"]
        assert index.check("quite another text") is None
        assert index.check(TEXT).of == "a"  # type: ignore[union-attr]
        assert index.add({"id": "b", "text": "quite another text"}) is None


def test_what_was_made_is_remembered(tmp_path: Path) -> None:
    url = tmp_path / "index.db"
    made = {**SHINGLES, "window": "24h", "against": "seen", "text": "body", "date": "when"}
    with nd.Index.open(url, **made) as index:
        index.add({"id": "a", "body": TEXT})
        told = index.described()
    with nd.Index.open(url) as index:
        assert index.described() == told
        assert index.method == registry.build("shingles", {"words": 2, "threshold": 0.6})
        assert index.check({"body": EDITED}) is not None
    with nd.Index.open(url, **made, create=False):
        pass


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"method": "simhash"}, "method \\('shingles', not 'simhash'\\)"),
        ({"method": "shingles"}, "words \\(2, not 5\\), threshold \\(0.6, not 0.8\\)"),
        ({"words": 3}, "words \\(2, not 3\\)$|words \\(2, not 3\\)\\."),
        ({"threshold": 0.7}, "threshold \\(0.6, not 0.7\\)"),
        ({"window": "7d", "against": "seen"}, "window .*, against \\('kept', not 'seen'\\)"),
        ({"text": "body"}, "text \\('text', not 'body'\\)"),
        ({"within": "lang"}, "within \\(None, not 'lang'\\)"),
    ],
)
def test_other_settings_are_refused(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    with nd.Index.open(tmp_path / "index.db", **SHINGLES):
        pass
    with pytest.raises(SignatureError, match=f"they differ in {said}"):
        nd.Index.open(tmp_path / "index.db", **settings)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"artefacts": {}}, "raregrams needs frequencies of"),
        ({"method": "keywords", "artefacts": {}}, "keywords needs idf"),
        ({"method": "shingles", "threshold": "auto"}, "threshold is 'auto'"),
        ({"method": "shingles", "wrods": 2}, "no parameter 'wrods'"),
        ({"method": "shingles", "against": "all"}, "against is 'all'"),
        ({"method": "shingles", "window": "soon"}, "window is 'soon'"),
        ({"method": "shingles", "within": "text"}, "within names the text column"),
    ],
)
def test_settings_that_make_no_index(tmp_path: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        nd.Index.open(tmp_path / "index.db", **settings)
    assert not nd.Index.exists(tmp_path / "index.db")
    assert not list(tmp_path.iterdir())  # no trace of what came to nothing


def test_an_index_goes_on_where_a_run_ended(tmp_path: Path) -> None:
    """Method, artefacts and kept documents are those of the run."""
    documents = collection(np.random.default_rng(3), 150)
    result = nd.dedup(documents[:100], keep="longest")
    result.save(tmp_path / "run")
    with nd.Index.open(tmp_path / "index.db", run=tmp_path / "run") as index:
        assert {entry.id for entry in index} == {document["id"] for document in result.kept}
        assert {entry.decision for entry in index} == {"kept"}
        assert (
            index.described()["signature"]["artefacts"]
            == result.info["settings"]["signature"]["artefacts"]
        )
        answers = index.add_many(documents[100:])
    nd.dedup(documents).save(tmp_path / "other")
    with pytest.raises(SignatureError, match="differ in frequencies, calibration"):
        nd.Index.open(tmp_path / "index.db", run=tmp_path / "other")
    with nd.Index.open("memory:", run=tmp_path / "run") as again:
        assert again.add_many(documents[100:]) == answers
    with pytest.raises(nd.NeardupError, match="not the folder of a finished run"):
        nd.Index.open("memory:", run=tmp_path)


def test_texts_are_stored_on_request(url: str) -> None:
    with nd.Index.open(url, **SHINGLES, texts=True) as index:
        index.add_many([{"id": "a", "text": TEXT}, {"id": "b", "text": EDITED}])
        assert index.get("b").text == EDITED
        index.remove("a")
        assert index.get("b").text == EDITED


def test_what_is_no_index(tmp_path: Path) -> None:
    with pytest.raises(IndexStoreError, match="There is no index"):
        nd.Index.open(tmp_path / "index.db", create=False)
    assert not (tmp_path / "index.db").exists()
    (tmp_path / "text.db").write_text("no database " * 100)
    with pytest.raises(IndexStoreError, match="is no SQLite database"):
        nd.Index.open(tmp_path / "text.db", **SHINGLES)
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE things (a)")
    with pytest.raises(IndexStoreError, match="no index of neardup"):
        nd.Index.open(tmp_path / "other.db", **SHINGLES)
    with pytest.raises(IndexStoreError, match="cannot be used"):
        nd.Index.open(tmp_path / "nowhere" / "index.db", **SHINGLES)
    with pytest.raises(SettingsError, match="no store for 'redis://x'"):
        nd.Index.open("redis://x", **SHINGLES)


def test_an_index_of_another_format_is_refused(tmp_path: Path) -> None:
    with nd.Index.open(tmp_path / "index.db", **SHINGLES):
        pass
    with closing(sqlite3.connect(tmp_path / "index.db")) as other:
        other.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
        other.commit()
    with pytest.raises(IndexStoreError, match="has format 99; this version reads"):
        nd.Index.open(tmp_path / "index.db")


def test_a_damaged_file_is_explained(tmp_path: Path) -> None:
    """By whatever reads it."""
    url = tmp_path / "index.db"
    with nd.Index.open(url, **SHINGLES) as index:
        index.add_many([f"{TEXT} {number}" * 20 for number in range(200)])
    data = url.read_bytes()
    whole = 16 * 4096  # what was described is there
    url.write_bytes(data[:whole] + b"\xff" * (len(data) - whole))
    reads: list[Callable[[nd.Index], Any]] = [
        list,
        lambda index: index.check(TEXT),
        lambda index: index.add(TEXT),
        lambda index: index.stats(),
    ]
    with nd.Index.open(url, create=False) as index:
        for read in reads:
            with pytest.raises(IndexStoreError, match=r"is damaged: SQLite says .*malformed"):
                read(index)
    for read in (len, *reads):
        with pytest.raises(IndexStoreError, match="is closed"):
            read(index)


def test_who_reads_sees_nothing_that_is_not_stored(url: str) -> None:
    """Also in the middle of an event of another thread, and of one that comes to nothing."""
    with nd.Index.open(url, **SHINGLES) as index:
        index.add({"id": "a", "text": TEXT})
        reading, seen = iter(index), list[str]()
        thread = threading.Thread(target=lambda: seen.extend(entry.id for entry in index))
        with suppress(ZeroDivisionError), index._writing() as writing:
            writing.arrive([index._rule.signer.sign_one({"id": "b", "text": "another"})])
            thread.start()
            _ = 1 / 0
        thread.join()
        assert seen == [entry.id for entry in reading] == ["a"]


def test_pages_of_documents(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that come while they are read are there, those that go are not."""
    monkeypatch.setattr(store, "PAGE", 3)
    monkeypatch.setattr(sqlite_store, "ROWS", sqlite_store.ROWS.replace("1000", "3"))
    monkeypatch.setattr(postgresql, "PAGE", 3)
    with nd.Index.open(url, **SHINGLES) as index:
        index.add_many([{"id": str(number), "text": TEXT} for number in range(10)])
        reading = iter(index)
        first = [next(reading).id for _ in range(3)]
        index.remove("5")
        index.add({"id": "new", "text": TEXT})
        rest = [entry.id for entry in reading]
        assert first + rest == [*map(str, range(5)), *map(str, range(6, 10)), "new"]


def test_names_of_documents_without_ids(url: str) -> None:
    """They are asked for at once, and one that is taken is refused with all of its call."""
    with nd.Index.open(url, **SHINGLES) as index:
        index.add({"id": "input:4", "text": TEXT})
        index.add_many([TEXT, {"id": "mine", "text": TEXT}])
        with pytest.raises(RejectedError, match="would be 'input:4'"):
            index.add_many([TEXT])
        with pytest.raises(RejectedError, match="would be 'input:5'"):
            index.add_many([{"id": "input:5", "text": TEXT}, TEXT])
        assert [entry.id for entry in index] == ["input:4", "input:2", "mine"]


def test_kinds_where_there_are_texts(url: str) -> None:
    with nd.Index.open(url, **SHINGLES, texts=True) as index:
        index.add({"id": "a", "text": TEXT})
        told = index.check(EDITED, kind=True)
        assert told is not None
        assert index.check(EDITED) == told._replace(kind=None)  # unless it is asked for
        assert told.kind == nd.compare(TEXT, EDITED).kind
        assert index.add_many([{"id": "b", "text": EDITED}, TEXT.upper()])[0] == told
        assert [entry.kind for entry in index] == [None, told.kind, "normalised"]
        assert index.update({"id": "a", "text": EDITED + " sixteen"}) is None
        kinds = {entry.id: entry.kind for entry in index}
        assert kinds["b"] == nd.compare(EDITED + " sixteen", EDITED).kind
    if url.startswith("sqlite"):
        with nd.Index.open(url, kinds=True) as index:
            assert index.check(TEXT).kind == told.kind  # type: ignore[union-attr]
            assert index.check(TEXT, kind=False).kind is None  # type: ignore[union-attr]
        with nd.Index.open(url, kinds=False) as index:
            assert index.add(EDITED + " seventeen").kind is None  # type: ignore[union-attr]
    with pytest.raises(SettingsError, match="kinds are told from texts"):
        nd.Index.open("memory:", **SHINGLES, kinds=True)
    with pytest.raises(SettingsError, match="kinds are told from texts"):
        nd.Index.open("memory:", **SHINGLES).check(TEXT, kind=True)


def test_who_cannot_wait_any_longer_is_told(tmp_path: Path) -> None:
    url = tmp_path / "index.db"
    with nd.Index.open(url, **SHINGLES) as made:
        rule = made._rule
    store = SqliteStore(url, busy_seconds=0.01)
    with nd.Index(store, rule) as index, closing(sqlite3.connect(url)) as other:
        index.add({"id": "a", "text": TEXT})
        other.execute("BEGIN IMMEDIATE")
        assert index.check(TEXT) is not None  # readers never wait
        with pytest.raises(IndexStoreError, match="being written by another process"):
            index.add({"id": "b", "text": TEXT})
        other.rollback()
        assert index.add({"id": "b", "text": TEXT}) is not None


def test_threads_take_turns(tmp_path: Path) -> None:
    """On one index and on one file: the decisions are those of some order of arrival."""
    documents = collection(np.random.default_rng(8), 120)
    url = tmp_path / "index.db"
    indexes = [nd.Index.open(url, **SHINGLES) for _ in range(2)]
    failed: list[BaseException] = []

    def add(number: int) -> None:
        try:
            for document in documents[number::4]:
                indexes[number % 2].add(document)
                indexes[number % 2].check(document)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = indexes[0].decisions().drop_columns(["kind"]).to_pylist()
    by_id = {document["id"]: document for document in documents}
    arrived = nd.dedup([by_id[row["id"]] for row in found], keep="first", **SHINGLES)
    assert arrived.decisions.select(list(found[0])).to_pylist() == found
    for index in indexes:
        index.close()


@pytest.mark.parametrize("method", ["shingles", "qgrams"])
def test_hostile_texts_one_by_one_and_all_at_once(url: str, method: str) -> None:
    long = " ".join(f"word{i % 70_000}" for i in range(200_000))
    texts = [*HOSTILE, "x" * 10_000_000, long, long + " more", *HOSTILE]
    documents = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    with nd.Index.open(url, method=method) as index:
        asked = []
        for document in documents:
            asked.append(index.check(document))
            assert index.add(document) == asked[-1]
    with nd.Index.open("memory:", method=method) as index:
        assert index.add_many(documents) == asked


def test_a_closed_index_says_so(tmp_path: Path) -> None:
    index = nd.Index.open(tmp_path / "index.db")
    index.close()
    for use in (lambda: index.check(TEXT), lambda: index.add({"id": "a", "text": TEXT})):
        with pytest.raises(IndexStoreError, match=r"index.db is closed\. Hint: open it again\.$"):
            use()
