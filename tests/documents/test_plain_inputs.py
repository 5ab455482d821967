"""Inputs as people have them: single texts, compressed ones, JSON in one piece, rows, iterators."""

from __future__ import annotations

import bz2
import gzip
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import neardup as nd

TEXT = "The council decided on Monday to rebuild the old bridge over the river in stone, and {}."
TEXTS = [
    TEXT.format("soon"),
    TEXT.format("soon"),
    "Gardens in spring need water and much patience.",
]
ROWS: list[dict[str, Any]] = [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)]
HITS = [{"_id": row["id"], "_source": {"text": row["text"]}} for row in ROWS]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def counts(documents: Any, **settings: Any) -> tuple[int, int, int]:
    found = nd.dedup(documents, method="exact", **settings).counts
    return found.kept, found.duplicates, found.rejected


def write_texts(folder: str) -> Path:
    top = Path(folder)
    (top / "sub").mkdir(parents=True)
    (top / "a.txt").write_text(TEXTS[0])
    (top / "sub" / "b.md.gz").write_bytes(gzip.compress(TEXTS[1].encode()))
    (top / "sub" / "c.rst.bz2").write_bytes(bz2.compress(TEXTS[2].encode()))
    return top


def test_text_files_by_name_by_glob_and_in_folders() -> None:
    top = write_texts("in")
    assert counts([top / "a.txt", top / "sub" / "b.md.gz"]) == (1, 1, 0)
    assert counts("in/**/*") == (2, 1, 0)
    result = nd.dedup(top, method="exact")
    assert (result.counts.kept, result.counts.duplicates) == (2, 1)
    result.save("out")
    assert Path("out/kept/sub/c.rst.bz2").read_bytes() == (top / "sub/c.rst.bz2").read_bytes()


def test_a_compressed_text_is_bounded_and_rejected_with_its_reason() -> None:
    top = write_texts("in")
    whole = gzip.compress(TEXTS[0].encode() * 50)
    (top / "cut.txt.gz").write_bytes(whole[: len(whole) // 2])
    (top / "none.txt.zst").write_bytes(b"no archive")
    (top / "bomb.txt.gz").write_bytes(gzip.compress(bytes(2_000_000)))
    result = nd.dedup(top, method="exact", max_document="1MB")
    assert (result.counts.documents, result.counts.rejected) == (6, 3)
    reasons = dict(zip(*(result.decisions[n].to_pylist() for n in ("id", "reason")), strict=True))
    assert "unpacks to more than 1 MB" in reasons["bomb.txt.gz"]
    assert "cannot be unpacked" in reasons["none.txt.zst"]


def test_a_folder_of_texts_is_a_reference() -> None:
    write_texts("in")
    result = nd.dedup([TEXTS[0], "a new text"], against="in", method="exact")
    assert (result.counts.kept, result.counts.duplicates) == (1, 1)
    assert result.duplicates["kept_id"].to_pylist() == ["ref:a.txt"]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_is_read_as_its_elements(indent: int | None) -> None:
    Path("rows.json").write_text(json.dumps([*ROWS, "no object"], indent=indent))
    result = nd.dedup("rows.json", method="exact")
    assert (result.counts.kept, result.counts.duplicates, result.counts.rejected) == (2, 1, 1)
    result.save("out")
    kept = Path("out/kept.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == [ROWS[0], ROWS[2]]
    assert nd.Result.load("out").explain("1").comparison is not None


def test_an_array_that_breaks_off_loses_only_the_rest() -> None:
    Path("rows.json").write_text(json.dumps(ROWS)[:-20])
    assert counts("rows.json") == (1, 1, 1)
    Path("one.json").write_text(json.dumps(ROWS[0], indent=1))
    assert counts("one.json") == (1, 0, 0)
    Path("rows.json.gz").write_bytes(gzip.compress(json.dumps(ROWS).encode()))
    assert counts("rows.json.gz") == (2, 1, 0)


@pytest.mark.parametrize(
    "answer",
    [
        {"took": 3, "hits": {"total": {"value": 3}, "hits": HITS}},
        {"responseHeader": {"status": 0}, "response": {"numFound": 3, "docs": HITS}},
    ],
)
def test_the_answer_of_a_search_engine(answer: dict[str, Any]) -> None:
    Path("answer.json").write_text(json.dumps(answer))
    assert counts("answer.json", text="_source.text", id="_id") == (2, 1, 0)
    groups = nd.group("answer.json", text="_source.text", id="_id", method="exact")
    assert (groups.results, len(groups)) == (3, 2)


def test_paths_into_objects() -> None:
    Path("hits.jsonl").write_text("".join(json.dumps(hit) + "\n" for hit in [*HITS, {"_id": "x"}]))
    assert counts("hits.jsonl", text="_source.text", id="_id") == (2, 1, 1)
    assert counts(HITS, text="_source.text", id="_id") == (2, 1, 0)
    assert len(nd.group(HITS, text="_source.text", method="exact")) == 2
    with pytest.raises(nd.NeardupError, match=r"_source\.body"):
        counts("hits.jsonl", text="_source.body")


def test_iterators_and_rows_of_a_database() -> None:
    assert counts(text for text in TEXTS) == (2, 1, 0)
    assert counts(iter(ROWS)) == (2, 1, 0)
    with sqlite3.connect(":memory:") as base:
        base.execute("create table news (id, text)")
        base.executemany("insert into news values (:id, :text)", ROWS)
        assert counts(base.execute("select * from news")) == (2, 1, 0)
        base.row_factory = sqlite3.Row
        rows = base.execute("select * from news").fetchall()
    assert nd.dedup(rows, method="exact").kept == [ROWS[0], ROWS[2]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_comes_back_as_one(library: str) -> None:
    series = pytest.importorskip(library).Series(TEXTS)
    result = nd.dedup(series, method="exact")
    assert type(result.kept) is type(series)
    assert result.kept.to_list() == [TEXTS[0], TEXTS[2]]
