"""Ids that occur in more than one file: told apart by the file, wherever documents are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.cli import main
from neardup.documents.clashes import Ledger, labels_of, tell_apart
from neardup.documents.collection import Collection, collect
from neardup.documents.columns import Columns
from neardup.documents.jsonl import JsonlSource
from neardup.evaluation.training.training_data import Source, texts_of, told_apart
from neardup.progress import Silent
from repeats import examples

NEWS = [json.loads(line) for line in Path("examples/news.jsonl").read_text("utf-8").splitlines()]


def write(path: Path, documents: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(one, ensure_ascii=False) + "\n" for one in documents)
    path.write_text("".join(lines), "utf-8")
    return path


def numbered(documents: list[dict[str, Any]], name: str = "") -> list[dict[str, Any]]:
    return [{**one, "id": f"{name}{number}"} for number, one in enumerate(documents)]


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Two files that both number from 0."""
    return [write(tmp_path / f"{n}.jsonl", numbered(p)) for n, p in _parts().items()]


def _parts() -> dict[str, list[dict[str, Any]]]:
    return {"a": NEWS[:37], "b": NEWS[37:]}


def run(*arguments: object) -> str:
    done = CliRunner().invoke(main, [str(one) for one in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def comparable(result: nd.Result) -> list[dict[str, Any]]:
    return [{**row, "file": Path(row["file"]).name} for row in result.decisions.to_pylist()]


def numbered_rows(ids: list[str], first: int) -> pa.RecordBatch:
    rows = pa.array(np.arange(first, first + len(ids), dtype=np.int64))
    return pa.record_batch({"row": rows, "id": pa.array(ids, pa.large_string())})


def test_shards_that_number_from_0_are_decided_as_with_unique_ids(
    tmp_path: Path, shards: list[Path]
) -> None:
    result = nd.dedup(shards)
    assert result.counts.rejected == 0
    assert result.counts.documents == 74
    parts = _parts().items()
    unique = [write(tmp_path / "u" / f"{n}.jsonl", numbered(p, f"{n}.jsonl:")) for n, p in parts]
    assert comparable(result) == comparable(nd.dedup(unique))
    shared = {"ids": 37, "documents": 74, "example": "a.jsonl:0", "unnamed": 0}
    assert result.info["shared_ids"] == shared


def test_only_ids_that_several_files_have_are_renamed(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", [{"id": "x", "text": "a"}, {"id": "y", "text": "b"}])
    two = write(tmp_path / "two.jsonl", [{"id": "y", "text": "c"}, {"id": "z", "text": "d"}])
    result = nd.dedup([one, two])
    assert result.decisions["id"].to_pylist() == ["x", "one.jsonl:y", "two.jsonl:y", "z"]
    assert "shared_ids" not in nd.dedup([one]).info


def test_a_document_behind_the_limit_renames_nothing(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{n}.jsonl", [{"id": "x", "text": n}]) for n in "ab"]
    assert nd.dedup(files, limit=1).decisions["id"].to_pylist() == ["x"]


def test_a_name_that_another_document_has_gets_a_second_colon(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", [{"id": "1", "text": "a"}, {"id": "b.jsonl:1", "text": "b"}])
    b = write(tmp_path / "b.jsonl", [{"id": "1", "text": "c"}])
    result = nd.dedup([a, b])
    assert result.decisions["id"].to_pylist() == ["a.jsonl::1", "b.jsonl:1", "b.jsonl::1"]


@pytest.mark.parametrize("given_first", [True, False])
def test_a_name_that_was_invented_costs_no_document(tmp_path: Path, given_first: bool) -> None:
    """A document without an id is named by its row; the id of another document may look like it."""
    path = tmp_path / "a.jsonl"
    row = 2 if given_first else 1
    clash = f"{path}:{row}"
    rows = [{"text": "the first"}, {"id": clash, "text": "the second"}, {"text": "the third"}]
    write(path, [rows[1], rows[0], rows[2]] if given_first else rows)
    result = nd.dedup([path])
    assert result.counts.rejected == 0
    expected = [clash, f"{path}::{row}"] if given_first else [f"{path}::{row}", clash]
    assert result.decisions["id"].to_pylist() == [*expected, f"{path}:3"]
    output = run("dedup", path, "-o", tmp_path / "out")
    assert output.count("1 document has no id") == 1
    assert "first" in run("compare", "--run", tmp_path / "out", f"{path}::{row}", clash)
    output = run("index", "build", tmp_path / "index.db", path)
    assert "1 document has no id" in output
    assert "3 documents = 3 kept" in output


def test_an_invented_name_is_never_one_of_the_ids(tmp_path: Path) -> None:
    """Nor is a repeated id excused by it: only one document has each id."""
    path = tmp_path / "a.jsonl"
    ids = [None, f"{path}:1", f"{path}:1", f"{path}::1"]
    write(path, [{"id": id, "text": f"text {i}"} for i, id in enumerate(ids)])
    other = write(tmp_path / "b.jsonl", [{"id": f"{path}:1", "text": "text 5"}])
    result = nd.dedup([path, other])
    named = [f"{path}::::1", *[f"a.jsonl::{path}:1"] * 2, f"{path}::1"]
    assert result.decisions["id"].to_pylist() == [*named, f"b.jsonl::{path}:1"]
    reasons = result.decisions["reason"].to_pylist()
    assert reasons[2] == f"id {f'{path}:1'!r} was already used in {path}, row 2"
    assert result.counts.rejected == 1


def test_rejected_documents_are_named_like_the_others(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{n}.jsonl", [{"id": "x", "text": n}]) for n in "ab"]
    broken = write(tmp_path / "c.jsonl", [{"id": "x", "text": None}, {"id": "y", "text": None}])
    ids = nd.dedup([*files, broken]).decisions["id"].to_pylist()
    assert ids == ["a.jsonl:x", "b.jsonl:x", "c.jsonl:x", "y"]


@pytest.mark.parametrize(
    ("files", "labels"),
    [
        (["data/a.jsonl", "data/b.jsonl"], ["a.jsonl", "b.jsonl"]),
        (["data/1/x.csv", "data/2/x.csv", "y.csv"], ["1/x.csv", "2/x.csv", "y.csv"]),
        (["data/x.csv", "data/old/x.csv"], ["x.csv", "old/x.csv"]),
        (["s3://one/x.csv", "s3://two/x.csv"], ["one/x.csv", "two/x.csv"]),
        (["wire", "archive"], ["wire", "archive"]),
    ],
)
def test_a_file_is_named_as_shortly_as_tells_it_apart(files: list[str], labels: list[str]) -> None:
    assert list(labels_of(files).values()) == labels


@given(
    st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=4),
    st.integers(1, 3),
)
@examples(25)
def test_the_ledger_finds_what_sets_would(files: list[list[str]], size: int) -> None:
    ledger, number, clashed, before = Ledger(), 0, False, set[str]()
    for name, ids in enumerate(files):
        first: dict[str, int] = {}
        expected = []
        for id in ids:
            expected.append(first.get(id, -1))
            clashed |= id in before
            first.setdefault(id, number)
            number += 1
        found = [
            ledger.add(numbered_rows(ids[i : i + size], i), str(name))
            for i in range(0, len(ids), size)
        ]
        assert np.concatenate([np.empty(0, np.int64), *found]).tolist() == expected
        before |= set(ids)
    assert ledger.clashed == clashed


def test_neither_chunks_nor_threads_change_names(shards: list[Path]) -> None:
    whole = nd.dedup(shards, workers=1).decisions.drop_columns("source")
    for chunk in (100, 3000):
        sources = [JsonlSource(path, path.as_posix(), chunk_bytes=chunk) for path in shards]
        result = nd.dedup(Collection(sources), workers=2)
        assert result.decisions.drop_columns("source").equals(whole)


def test_inputs_of_a_dict_are_told_apart_by_their_names() -> None:
    rows = [{"id": 1, "text": "the first text"}]
    result = nd.dedup({"wire": rows, "archive": [{"id": 1, "text": "another one"}]})
    assert result.decisions["id"].to_pylist() == ["wire:1", "archive:1"]


def test_nothing_to_tell_apart() -> None:
    ids = pa.array(["a", "b"], pa.large_string())
    assert tell_apart(ids, np.array([0, 1], np.int32), ["x", "y"]) is None


def test_a_collection_gives_the_names_of_a_run(shards: list[Path]) -> None:
    columns = Columns()
    named, shared = collect(shards).told_apart(columns)
    ids = [id for c in named.chunks(columns) for id in c.read().records["id"].to_pylist()]
    assert ids == nd.dedup(shards).decisions["id"].to_pylist()
    assert shared is not None
    assert shared.ids == 37


def test_the_command_says_it_and_its_names_serve_everywhere(
    tmp_path: Path, shards: list[Path]
) -> None:
    out = tmp_path / "out"
    said = run("dedup", *shards, "-o", out, "--keep", "longest")
    assert (
        "37 ids occur in more than one file; the 74 documents with such an id are named file:id, "
        "e.g. a.jsonl:0." in said
    )
    result = nd.Result.load(out)
    kept = {line for path in shards for line in path.read_bytes().splitlines(keepends=True)}
    written = [out / "kept" / path.name for path in shards]
    assert set(b"".join(path.read_bytes() for path in written).splitlines(keepends=True)) <= kept
    row = result.weakest(1).to_pylist()[0]
    assert row["kept_id"] in run("compare", "--run", out, row["id"])
    assert "score" in run("compare", "--run", out, row["kept_id"], row["id"])
    assert "score" in run(
        "compare", "--in", tmp_path / "?.jsonl", row["kept_id"], row["id"], "--threshold", 0.1
    )
    (tmp_path / "policy.toml").write_text('order = "first"\n[actions]\nidentical = "drop"\n')
    run("apply", out, "--policy", tmp_path / "policy.toml")
    run("undo", out)


def test_an_index_is_built_of_shards_as_a_run_decides(tmp_path: Path, shards: list[Path]) -> None:
    store = tmp_path / "news.db"
    said = json.loads(run("index", "build", store, *shards, "--json", "--method", "shingles"))
    expected = nd.dedup(shards, method="shingles")
    assert (said["rejected"], said["kept"]) == (0, expected.counts.kept)
    assert said["shared_ids"]["example"] == "a.jsonl:0"
    again = json.loads(run("index", "add", store, *shards, "--json"))
    assert again["rejected"] == 74  # the same call names documents the same way


@pytest.mark.parametrize("signatures", [True, False])
def test_a_run_on_shards_is_a_reference_of_the_next(
    tmp_path: Path, shards: list[Path], signatures: bool
) -> None:
    before = nd.dedup(shards, method="shingles", signatures=signatures)
    before.save(tmp_path / "before")
    again = [write(tmp_path / f"{n}2.jsonl", numbered(p)) for n, p in _parts().items()]
    result = nd.dedup(again, method="shingles", against=[tmp_path / "before"])
    assert result.counts.kept == 0
    kept = {f"ref:{id}" for id in before.decisions.filter(before.keep_mask())["id"].to_pylist()}
    assert set(result.decisions["kept_id"].to_pylist()) == kept
    why = result.explain("b2.jsonl:0")
    assert why.comparison is not None
    assert not why.comparison.differing


def test_references_with_one_id_are_told_apart(tmp_path: Path) -> None:
    texts = [one["text"] for one in NEWS[:40:13]]
    files = [write(tmp_path / f"{i}.jsonl", [{"id": "x", "text": t}]) for i, t in enumerate(texts)]
    new = write(tmp_path / "new.jsonl", [{"id": str(i), "text": t} for i, t in enumerate(texts)])
    result = nd.dedup(new, method="shingles", against=files)
    assert result.decisions["kept_id"].to_pylist() == [f"ref:{i}.jsonl:x" for i in range(4)]
    for i in range(4):
        why = result.explain(str(i))
        assert why.comparison is not None
        assert not why.comparison.differing


def test_labels_name_documents_as_runs_do(tmp_path: Path, shards: list[Path]) -> None:
    pairs = [{"a": f"a.jsonl:{i}", "b": f"b.jsonl:{i}", "label": i % 2} for i in range(20)]
    labels = write(tmp_path / "labels.jsonl", pairs)
    said = json.loads(run("evaluate", *shards, "--pairs", labels, "--json"))
    assert said["gold"]["unused"]["unknown_ids"] == 0
    source = told_apart(Source(collect(shards)))
    assert len(texts_of(source, ["a.jsonl:3", "b.jsonl:3"], Silent())) == 2
