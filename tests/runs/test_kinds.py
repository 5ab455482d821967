"""Kinds in a run are those of its pairs one by one, however it is made and whatever came in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.decisions.kinds import kind_of
from neardup.documents import Collection, collect
from neardup.documents.lists import ListSource
from neardup.engines.batch.batch_run import find_kinds, run
from neardup.plan import Plan, resolve
from neardup.progress import Silent
from neardup.runs import run_tables as output_kinds
from neardup.runs.result import Result
from neardup.settings import settings_of
from reference import run as twin
from repeats import examples

SHINGLES: dict[str, Any] = {"method": "shingles", "threshold": 0.4, "words": 2, "min_words": 5}
COLUMNS = ("kind", "direction", "confidence")


def documents(seed: int, count: int = 40) -> list[dict[str, Any]]:
    return twin.collection(np.random.default_rng(seed), count)


def said(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in COLUMNS)


def kinds(result: Result) -> list[tuple[Any, ...]]:
    return [(row["id"], *said(row)) for row in result.decisions.to_pylist()]


@given(st.integers(0, 2**32), st.sampled_from(["first", "longest"]))
@examples(12)
def test_all_pairs_have_the_kind_of_their_texts(seed: int, keep: str) -> None:
    docs = documents(seed)
    texts = {doc["id"]: doc["text"] for doc in docs}
    result = nd.find(docs, kinds="all", keep=keep, **SHINGLES)
    for pair in result.pairs.to_pylist():
        assert said(pair) == kind_of(texts[pair["a"]], texts[pair["b"]])
    for row in result.duplicates.to_pylist():
        assert said(row) == kind_of(texts[row["id"]], texts[row["kept_id"]])


def test_without_kinds_only_digests_speak_and_decisions_are_the_same() -> None:
    docs = documents(3)
    docs.append({**docs[0], "id": "copy"})
    usual, fast = (nd.find(docs, kinds=which, **SHINGLES) for which in ("decided", "none"))
    assert {row["kind"] for row in fast.duplicates.to_pylist()} <= {"identical", "normalised", None}
    columns = ["id", "decision", "reason", "kept_id", "score", "cluster"]
    assert usual.decisions.select(columns).equals(fast.decisions.select(columns))
    assert None not in usual.duplicates["kind"].to_pylist()
    for one, other in zip(usual.pairs.to_pylist(), fast.pairs.to_pylist(), strict=True):
        assert other["kind"] in (None, one["kind"])


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 1000]), st.sampled_from([1, 2]))
@examples(8)
def test_chunks_threads_blocks_and_memory_change_nothing(
    seed: int, rows: int, workers: int
) -> None:
    docs = documents(seed)
    expected = nd.find(docs, kinds="all", workers=1, **SHINGLES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output_kinds, "BLOCK_BYTES", 700)
        patch.setattr(Plan, "texts_limit", lambda _, documents: 100)  # noqa: ARG005
        chunked = Collection([ListSource(docs, chunk_rows=rows)])
        result = nd.find(chunked, kinds="all", workers=workers, **SHINGLES)
    assert result.decisions.equals(expected.decisions)
    assert result.pairs.equals(expected.pairs)


def test_many_copies_of_two_texts_are_one_pair() -> None:
    text = " ".join(f"word{i}" for i in range(60))
    docs = [text, text.replace("word7 ", "seven ")] * 300
    plan = resolve(settings_of(SHINGLES))
    collection = collect(docs)
    outcome, plan = run(collection, plan, Silent())
    found = find_kinds(collection, plan, outcome, Silent())
    assert found is not None
    assert len(found.keys) == 1
    result = nd.dedup(docs, **SHINGLES)
    assert result.info["kinds"] == {"identical": 299, "revision": 300}


def frame(docs: list[dict[str, Any]], folder: Path) -> Any:  # noqa: ARG001
    import pandas

    return pandas.DataFrame(docs)


def jsonl(docs: list[dict[str, Any]], folder: Path) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(doc) + "\n" for doc in docs), "utf-8")
    return path


def gzipped(docs: list[dict[str, Any]], folder: Path) -> Path:
    path = folder / "in.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(docs, folder).read_bytes()))
    return path


def parquet(docs: list[dict[str, Any]], folder: Path) -> Path:
    pq.write_table(pa.Table.from_pylist(docs), folder / "in.parquet", row_group_size=7)
    return folder / "in.parquet"


def csv(docs: list[dict[str, Any]], folder: Path) -> Path:
    lines = ["id,text", *(f'{doc["id"]},"{doc["text"]}"' for doc in docs)]
    (folder / "in.csv").write_text("\n".join(lines) + "\n", "utf-8")
    return folder / "in.csv"


@pytest.mark.parametrize("form", [frame, jsonl, gzipped, parquet, csv])
def test_whatever_came_in(form: Any, tmp_path: Path) -> None:
    docs = [{"id": doc["id"], "text": doc["text"]} for doc in documents(5)]
    assert kinds(nd.dedup(form(docs, tmp_path), **SHINGLES)) == kinds(nd.dedup(docs, **SHINGLES))


class Changing(Silent):
    """Changes a file between the first and the second reading."""

    def __init__(self, path: Path, text: str | None) -> None:
        self.path, self.text = path, text

    def stage(self, name: str, *_: Any, **__: Any) -> None:
        if name == "rereading":
            self.path.unlink()
            if self.text is not None:
                self.path.write_text(self.text, "utf-8")


def test_texts_that_have_moved_in_their_file_are_found(tmp_path: Path) -> None:
    docs = [{**doc, "text": doc["text"] + " end" * 3000} for doc in documents(5)]
    docs += [{"id": f"n{i}", "text": f"{i} " * 4000} for i in range(60)]
    path = jsonl(docs, tmp_path)
    expected = nd.dedup(path, **SHINGLES)
    turned = "".join(reversed(path.read_text("utf-8").splitlines(keepends=True)))
    plan = resolve(settings_of(SHINGLES))
    result = nd.execute(collect(path), plan, progress=Changing(path, turned))
    assert kinds(result) == kinds(expected)
    assert {row[1] for row in kinds(expected)} - {None, "identical", "normalised"}


@pytest.mark.parametrize("text", [None, "", "broken\n", '{"id": "d0", "text": "something else"}\n'])
def test_a_text_that_cannot_be_read_again_has_no_kind(tmp_path: Path, text: str | None) -> None:
    path = jsonl(documents(5), tmp_path)
    expected = nd.dedup(path, **SHINGLES)
    plan = resolve(settings_of(SHINGLES))
    result = nd.execute(collect(path), plan, progress=Changing(path, text))
    assert result.counts == expected.counts
    assert {*result.duplicates["kind"].to_pylist()} <= {"identical", "normalised", None}
    assert result.info["kinds"]["unknown"] > 0


def test_references_of_any_sort(tmp_path: Path) -> None:
    docs = documents(7, 60)
    old, new = jsonl(docs[:30], tmp_path), docs[30:]
    folder = nd.dedup(old, signatures=True, **SHINGLES).save(tmp_path / "run")
    kept = {
        row["id"] for row in Result.load(folder).decisions.to_pylist() if row["decision"] == "kept"
    }
    texts = {doc["id"]: doc["text"] for doc in docs}
    texts |= {f"ref:{name}": texts[name] for name in kept} | {
        f"ref:{d['id']}": d["text"] for d in docs
    }
    for against in (old, folder):
        result = nd.dedup(new, against=[against], **SHINGLES)
        assert "unknown" not in result.info["kinds"]
        for row in result.duplicates.to_pylist():
            assert said(row) == kind_of(texts[row["id"]], texts[row["kept_id"]])
    for name in ("in.jsonl", "run/kept.jsonl"):
        (tmp_path / name).unlink()
    again = nd.dedup(new, against=[folder], **SHINGLES)
    assert again.counts == result.counts
    assert again.info["kinds"]["unknown"] > 0


def test_a_stored_run_tells_new_kinds_at_a_new_threshold(tmp_path: Path) -> None:
    docs = documents(9, 80)
    path = jsonl(docs, tmp_path)
    made = nd.find(path, keep="longest", **SHINGLES)
    loaded = Result.load(made.save(tmp_path / "run"))
    expected = nd.find(path, keep="longest", **{**SHINGLES, "threshold": 0.7})
    assert loaded.rethreshold(0.7).decisions.equals(expected.decisions)
    path.unlink()
    gone = Result.load(tmp_path / "run").rethreshold(0.7)
    assert gone.counts == expected.counts
    for one, other in zip(gone.decisions.to_pylist(), expected.decisions.to_pylist(), strict=True):
        assert one["kind"] in (None, other["kind"])


def test_templates_that_were_refused_are_counted() -> None:
    drawn = np.random.default_rng(1)
    frame = " ".join(f"frame{i}" for i in range(60))
    docs = [
        f"{frame} " + " ".join(f"x{n}" for n in drawn.integers(0, 10**9, 12)) for _ in range(40)
    ]
    refusing = nd.find(docs, threshold=0.2)
    accepting = nd.find(docs, threshold=0.2, templates="accept")
    assert refusing.info["refused"] == accepting.counts.pairs > 0
    assert accepting.info["refused"] == refusing.counts.pairs == 0


def test_pages_of_a_column_are_read_again_as_text(tmp_path: Path) -> None:
    page = "<p>{} people came to the old harbour on Monday\nto see the ships of the fleet.</p>"
    rows = [{"text": page.format(word) * 3} for word in ("Forty", "Fifty")]
    path = tmp_path / "pages.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = nd.dedup(path, extract="all-text", method="shingles", threshold=0.2)
    assert result.duplicates["kind"].to_pylist() == ["revision"]
