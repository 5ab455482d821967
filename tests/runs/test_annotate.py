"""Annotated output: taking the added fields away gives back what came in, in its order and type."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import neardup as nd
from cli.sample import DOCUMENTS, TEXT
from neardup.documents import Collection
from neardup.documents.jsonl import JsonlSource
from neardup.documents.source import Source
from neardup.errors import UsageError
from neardup.runs.annotated_sources import annotated_line, annotated_lines
from neardup.runs.annotation import AnnotatedCollection, annotating

NAMES = ["cluster", "kept_id", "score", "kind", "decision"]
DECISIONS = ["kept", "duplicate", "duplicate", "kept", "kept"]
KEPT_IDS = [None, "fox", "fox", None, None]


def without(row: dict[str, Any], names: list[str] = NAMES) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def check_rows(rows: list[dict[str, Any]]) -> None:
    assert [without(row) for row in rows] == DOCUMENTS
    assert [list(row) for row in rows] == [[*DOCUMENTS[0], *NAMES]] * len(DOCUMENTS)
    assert [row["decision"] for row in rows] == DECISIONS
    assert [row["kept_id"] for row in rows] == KEPT_IDS
    assert [row["kind"] for row in rows][:2] == [None, "identical"]
    assert [row["cluster"] for row in rows] == [0, 0, 0, None, None]
    assert rows[1]["score"] == 1


def test_dicts_and_texts() -> None:
    check_rows(nd.dedup(DOCUMENTS).annotated)
    texts = nd.dedup([TEXT, None, TEXT]).annotated
    assert texts[1] is None
    assert [texts[i]["text"] for i in (0, 2)] == [TEXT, TEXT]
    assert texts[2]["kept_id"] == "input:1"


def test_pandas_keeps_its_index() -> None:
    frame = pd.DataFrame(DOCUMENTS, index=list("vwxyz"))
    annotated = nd.dedup(frame).annotated
    assert annotated.index.tolist() == list("vwxyz")
    assert str(annotated["cluster"].dtype) == "Int64"
    assert list(frame.columns) == list(DOCUMENTS[0])
    pd.testing.assert_frame_equal(annotated.drop(columns=NAMES), frame)
    check_rows(pa.Table.from_pandas(annotated, preserve_index=False).to_pylist())


@pytest.mark.parametrize(
    "make", [pl.DataFrame, pa.Table.from_pylist, pa.RecordBatch.from_pylist], ids=str
)
def test_tables_keep_their_type(make: Any) -> None:
    given = make(DOCUMENTS)
    annotated = nd.dedup(given).annotated
    assert type(annotated) is type(given)
    check_rows(annotated.to_dicts() if make is pl.DataFrame else annotated.to_pylist())


def test_a_dataset_keeps_its_format() -> None:
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset.from_list(DOCUMENTS[::-1]).select(range(4, -1, -1))
    annotated = nd.dedup(given.with_format("numpy")).annotated
    assert annotated.format["type"] == "numpy"
    check_rows(annotated.with_format(None).to_list())


@pytest.mark.parametrize("rows", [0, 2])
def test_limit_and_nothing(rows: int) -> None:
    table = pa.Table.from_pylist(DOCUMENTS)
    assert len(nd.dedup(table.slice(0, rows)).annotated) == rows
    assert len(nd.dedup(table, limit=3).annotated) == 3
    assert len(nd.dedup(DOCUMENTS, limit=3).annotated) == 3


def test_parquet_streams_batch_by_batch(tmp_path: Path) -> None:
    """Two files with their own metadata and batches of two rows, cut by a limit."""
    table = pa.Table.from_pylist(DOCUMENTS).replace_schema_metadata({"about": "us"})
    for name, part in (("a", table.slice(0, 3)), ("b", table.slice(3))):
        pq.write_table(part, tmp_path / f"{name}.parquet", row_group_size=2)
    result = nd.dedup(str(tmp_path / "*.parquet"))
    check_rows(result.annotated.to_pylist())
    folder = result.save(tmp_path / "out", annotate=True)
    assert pq.ParquetFile(folder / "annotated" / "a.parquet").metadata.num_rows == 3
    folder = result.save(tmp_path / "out", annotate=True, one_file=True, overwrite=True)
    assert not (folder / "annotated").exists()
    written = pq.read_table(folder / "annotated.parquet")
    check_rows(written.to_pylist())
    assert written.schema.metadata[b"about"] == b"us"
    assert not (folder / "kept.parquet").exists()
    limited = nd.dedup(str(tmp_path / "*.parquet"), limit=4).annotated
    assert limited["decision"].to_pylist() == DECISIONS[:4]


LINES = [
    b'\xef\xbb\xbf{"id":"fox" , "text" : "%s"  }  ' % TEXT.encode(),
    b"",
    b'{"id": "copy", "n": 1.50, "text": "%s", "deep": {"score": 1}}\r' % TEXT.encode(),
    b"{}",
    b"not json",
    b'\t{"id": 7, "text": "short", "list": [{}]}',
    b" \r",
    '{"id": "ö\\u00e9", "text": "kurz"}'.encode(),
]


@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("chunk", [1, 200, 1 << 20])
def test_lines_keep_their_bytes(tmp_path: Path, end: bytes, chunk: int) -> None:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"\n".join(LINES) + end)
    result = nd.dedup(Collection([JsonlSource(path, "in.jsonl", chunk_bytes=chunk)]))
    folder = result.save(tmp_path / "out", annotate=True)
    data = (folder / "annotated.jsonl").read_bytes()
    assert data.endswith(b"\n") == bool(end)
    came = data.removesuffix(end).split(b"\n")
    assert len(came) == len(LINES)
    decided = {0: "kept", 2: "duplicate", 5: "kept", 7: "kept"}
    for i, (line, before) in enumerate(zip(came, LINES, strict=True)):
        if i not in decided:
            assert line == before
            continue
        head = before.rstrip()[:-1]
        assert line.startswith(head)
        assert line.endswith(before[len(head) :])
        read = json.loads(line.decode("utf-8-sig"))
        assert read["decision"] == decided[i]
        assert without(read) == json.loads(before.decode("utf-8-sig"))
    assert result.counts.rejected == 2
    assert len((folder / "rejected.jsonl").read_text().splitlines()) == 2
    assert nd.Result.load(folder).counts == result.counts
    assert result.annotated["decision"].to_pylist() == list(decided.values())


def test_compressed_lines_and_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl.gz"
    lines = [json.dumps(document) for document in DOCUMENTS]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    nd.dedup(path, limit=2).save(tmp_path / "out", annotate=True)
    written = gzip.decompress((tmp_path / "out" / "annotated.jsonl.gz").read_bytes())
    rows = [json.loads(line) for line in written.splitlines()]
    assert [without(row) for row in rows] == DOCUMENTS[:2]


@pytest.mark.parametrize("line", [b"{}", b"{ }", b"{}  \r"])
def test_an_empty_object_gets_no_comma(line: bytes) -> None:
    assert json.loads(annotated_line(line, {"a": 1})) == {"a": 1}
    assert annotated_line(line, {"a": 1}).endswith(line[line.index(b"}") :])


def test_blank_lines_have_no_fields() -> None:
    assert annotated_lines(b"\n {}\n\r\n[]\n", [{"a": None}, None]) == b'\n {"a": null}\n\r\n[]\n'


def test_names_that_are_taken(tmp_path: Path) -> None:
    taken = [{**document, "score": i} for i, document in enumerate(DOCUMENTS)]
    ours = [f"neardup_{name}" for name in NAMES]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in taken))
    for given in (taken, pa.Table.from_pylist(taken), path):
        annotated = nd.dedup(given).annotated
        rows = annotated if isinstance(annotated, list) else annotated.to_pylist()
        assert [without(row, ours) for row in rows] == taken
        assert [row["neardup_decision"] for row in rows] == DECISIONS
    again = annotating(nd.dedup(nd.dedup(taken).annotated))
    assert again.info["annotated"][0] == "neardup2_cluster"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_records_keep_their_bytes(tmp_path: Path, delimiter: str, end: str) -> None:
    text = " ".join(f'w{i},"; ' for i in range(20)).replace('"', '""')
    rows = [["a, b", text], ["b;", text], ["c", ""], ["short"]]
    written = [delimiter.join(f'"{cell}"' for cell in row) for row in [["id", "text"], *rows]]
    name = "in.tsv" if delimiter == "\t" else "in.csv"
    (tmp_path / name).write_bytes(end.join(written).encode())
    result = nd.dedup(tmp_path / name)
    (path,) = (result.save(tmp_path / "out", annotate=True)).glob("annotated.*")
    records = path.read_bytes().decode().split(end)
    assert all(new.startswith(old) for new, old in zip(records, written, strict=True))
    assert records[-1] == written[-1]  # a rejected record passes as it is
    with path.open(newline="") as file:
        read = list(csv.DictReader(file, delimiter=delimiter))
    assert [row["decision"] for row in read[:3]] == ["kept", "duplicate", "kept"]
    assert read[1]["kept_id"] == "a, b"
    assert result.annotated["kept_id"].to_pylist()[1] == "a, b"


def test_arrow_files_get_columns(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(DOCUMENTS)
    feather.write_feather(table, tmp_path / "in.arrow")
    nd.dedup(tmp_path / "in.arrow").save(tmp_path / "out", annotate=True)
    again = feather.read_table(tmp_path / "out" / "annotated.arrow")
    assert again.select(table.column_names).equals(table)
    assert again["decision"].to_pylist() == DECISIONS


def test_a_source_without_a_place_for_fields() -> None:
    class Other(Source):
        file = "notes.txt"

    with pytest.raises(UsageError, match=r"notes\.txt cannot be annotated"):
        AnnotatedCollection(Collection([Other()]), nd.dedup(["a"]).decisions)


FILES = {"a.txt": TEXT, "b/copy.txt": TEXT, "b/pic.png": "\x89PNG\0", "c.txt": "short"}


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def folder_of(path: Path) -> Path:
    for place, text in FILES.items():
        (path / place).parent.mkdir(parents=True, exist_ok=True)
        (path / place).write_text(text)
    return path


def test_a_folder_gets_a_list_of_its_files(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in")
    result = nd.dedup(folder)
    out = result.save(tmp_path / "out", annotate=True)
    rows = lines_of(out / "annotated.files.jsonl")
    assert [row["id"] for row in rows] == list(FILES)
    assert [Path(row["path"]) for row in rows] == [folder / place for place in FILES]
    assert [row["decision"] for row in rows] == ["kept", "duplicate", "rejected", "kept"]
    assert rows[1]["kept_id"] == "a.txt"
    assert list(rows[0]) == ["id", "path", *NAMES]
    assert not (out / "kept").exists()
    table = result.annotated
    assert table.column_names == ["id", "text", *NAMES]
    assert table["text"].to_pylist() == [TEXT, TEXT, None, "short"]
    assert table["decision"].to_pylist() == [row["decision"] for row in rows]
    limited = nd.dedup(folder, limit=2).save(tmp_path / "two", annotate=True)
    assert len((limited / "annotated.files.jsonl").read_text().splitlines()) == 2


def test_folders_beside_lines(tmp_path: Path) -> None:
    lines = tmp_path / "in.jsonl"
    lines.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
    given = [folder_of(tmp_path / "x"), lines, folder_of(tmp_path / "y")]
    out = nd.dedup(given).save(tmp_path / "out", annotate=True)
    files = lines_of(out / "annotated.files.jsonl")
    assert [row["id"] for row in files] == [f"{name}/{place}" for name in "xy" for place in FILES]
    assert [row["decision"] for row in files][4:] == [
        "duplicate",
        "duplicate",
        "rejected",
        "duplicate",
    ]
    assert len((out / "annotated.jsonl").read_text().splitlines()) == len(DOCUMENTS)


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "in")
    strange = os.fsdecode(os.fsencode(folder) + b"/z\xff.txt")
    Path(strange).write_text("other")
    out = nd.dedup(folder).save(tmp_path / "out", annotate=True)
    rows = lines_of(out / "annotated.files.jsonl")
    assert Path(rows[-1]["path"]).read_text() == "other"
    assert rows[-1]["id"] == "z\ufffd.txt"
