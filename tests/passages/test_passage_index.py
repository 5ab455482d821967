"""Tracing against an index gives the answer of tracing against its documents."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import neardup as nd
from neardup.cli import main
from neardup.engines.index import passage_index
from neardup.engines.integrity import verify
from neardup.errors import IndexStoreError, SettingsError
from passages.material import documents_of, jsonl, prose

WORDS = [word for seed in range(12) for word in prose(seed, 16).split()]
PIECES = [" ".join(WORDS[at : at + 16]) for at in range(0, len(WORDS), 16)]
texts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map(" ".join)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("add"), texts),
        st.tuples(st.just("remove"), st.integers(0, 20)),
        st.tuples(st.just("write"), st.just(0)),
    ),
    max_size=12,
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are written from the first document on."""
    monkeypatch.setattr(passage_index, "FEWEST", 1)


def traces(documents: list[str], against: object) -> list[dict[str, object]]:
    return [each.to_dict() for each in nd.trace(documents, against)]


@pytest.mark.usefixtures("small")
@settings(max_examples=12, deadline=None)
@given(steps=steps, asked=texts)
def test_an_index_answers_as_its_documents(steps: list[tuple[str, object]], asked: str) -> None:
    index = nd.Index.open("memory:", method="exact", passages=True)
    known: dict[str, str] = {}
    written = 0
    for number, (step, value) in enumerate(steps):
        if step == "add":
            known[f"d{number}"] = str(value)
            index.add({"id": f"d{number}", "text": str(value)})
        elif step == "remove" and f"d{value}" in known:
            del known[f"d{value}"]
            index.remove(f"d{value}")
        elif step == "write" and not written:
            written += 1  # it writes all rows, so once is enough
            index.keep_passages()
    documents = [
        {"id": row.id, "text": row.text or ""} for row in index
    ]  # duplicates of a removed document arrive again, at the end
    assert {row["id"]: row["text"] for row in documents} == known
    assert traces([asked], index) == traces([asked], documents or [{"id": "d", "text": "none"}])


@pytest.mark.usefixtures("small")
def test_rows_and_later_documents_are_both_asked(tmp_path: Path) -> None:
    store = tmp_path / "index.db"
    essay = " ".join(PIECES[0:4])
    with nd.Index.open(store, method="exact", passages=True) as index:
        index.add_many(documents_of(*PIECES[:2]))
        index.keep_passages()
        index.add({"id": "later", "text": PIECES[3]})
    with nd.Index.open(store) as index:
        (trace,) = nd.trace([essay], index)
        assert [part.source for part in trace.parts] == ["d0", "d1", "later"]
        index.remove("d1")
        (trace,) = nd.trace([essay], index)
        assert [part.source for part in trace.parts] == ["d0", "later"]


@pytest.mark.usefixtures("small")
def test_a_damaged_row_is_reported(tmp_path: Path) -> None:
    store = tmp_path / "index.db"
    with nd.Index.open(store, method="exact", passages=True) as index:
        index.add_many(documents_of(*PIECES[:2]))
        index.keep_passages()
    assert verify(store).faults == []
    (number, data), *_ = sqlite3.connect(store).execute(
        "SELECT number, data FROM anchors WHERE length(data) > 8"
    )
    for change in ("UPDATE anchors SET data = ? WHERE number = ?", "DELETE FROM anchors"):
        with sqlite3.connect(store) as db:
            values = (data[:-1] + bytes([data[-1] ^ 1]), number) if "?" in change else ()
            db.execute(change, values)
        with nd.Index.open(store) as index, pytest.raises(IndexStoreError, match="damaged"):
            nd.trace([" ".join(PIECES[:2])], index)
        assert "passage index" in verify(store).faults[0]


def test_an_index_without_texts_is_refused() -> None:
    index = nd.Index.open("memory:", method="exact", texts=False)
    index.add({"id": "a", "text": PIECES[0]})
    with pytest.raises(SettingsError, match="no texts"):
        nd.trace([PIECES[0]], index)
    with pytest.raises(SettingsError, match="at least 8 words"):
        nd.trace([PIECES[0]], index, min_words=5)


def test_the_command_line_builds_and_asks(tmp_path: Path) -> None:
    library = jsonl(tmp_path / "library.jsonl", documents_of(*PIECES))
    essay = tmp_path / "essay.txt"
    essay.write_text(f"{prose(77, 24)} {PIECES[4]} {PIECES[7]}", "utf-8")
    store = str(tmp_path / "library.db")
    built = ["index", "build", store, str(library), "--passages", "--method", "exact"]
    assert CliRunner().invoke(main, built).exit_code == 0
    answers = [
        CliRunner().invoke(main, ["trace", str(essay), "--against", source, "--json"])
        for source in (store, str(library))
    ]
    assert [answer.exit_code for answer in answers] == [0, 0]
    assert answers[0].stdout == answers[1].stdout
