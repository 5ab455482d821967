"""Paths, globs and standard input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.documents import collect
from neardup.errors import InputError

LINE = b'{"text":"a"}\n'


def test_globs_are_sorted_and_files_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.jsonl", "a.jsonl", "deep/c.NDJSON", "[x].jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(LINE)
    assert collect("*.jsonl").files == ["[x].jsonl", "a.jsonl", "b.jsonl"]
    assert collect([Path("b.jsonl"), Path("**/*[lN]")]).files == [
        "b.jsonl",
        "[x].jsonl",
        "a.jsonl",
        "deep/c.NDJSON",
    ]
    assert collect("[x].jsonl").files == ["[x].jsonl"]
    (chunk,) = collect("a.jsonl").chunks()
    assert chunk.read().records.column("id").to_pylist() == ["a.jsonl:1"]


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        ("none.jsonl", "none.jsonl does not exist", "check the path"),
        ("*.none", "No file matches", "sub-folders"),
        ("folder", "holds no files", "hidden"),
        ("shards", "only files of many documents", "use a glob such as"),
        ("a.xls", "unknown format; expected .jsonl", "rename"),
        ("plain", "unknown format", "rename"),
        ("a.gz", "unknown format", "rename"),
        ("bad.jsonl.gz", "Cannot read", "whole and readable"),
    ],
)
def test_what_cannot_be_opened(tmp_path: Path, name: str, message: str, hint: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "1.jsonl.gz").write_bytes(LINE)
    for file in ("a.xls", "plain", "a.gz", "bad.jsonl.gz"):
        (tmp_path / file).write_bytes(LINE)
    with pytest.raises(InputError, match=message) as error:
        collect(tmp_path / name)
    assert hint in (error.value.hint or "")


def test_standard_input_that_is_no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(b"<!doctype html><p>a</p>")

    monkeypatch.setattr("sys.stdin", Stdin)
    with pytest.raises(InputError, match="stdin is HTML or XML that is no feed"):
        collect("-")


@pytest.mark.parametrize("form", ["jsonl", "gzip", "parquet"])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    parquet = io.BytesIO()
    pq.write_table(pa.table({"text": ["a"]}), parquet)
    data = {"jsonl": LINE, "gzip": gzip.compress(LINE), "parquet": parquet.getvalue()}[form]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    collection = collect("-")
    for _ in range(2):
        (chunk,) = collection.chunks()
        assert chunk.read().records.to_pylist() == [{"row": 1, "id": "stdin:1", "text": "a"}]
    (kept,) = collection.write_kept(np.array([True]), tmp_path)
    names = {"jsonl": "kept.jsonl", "gzip": "kept.jsonl.gz", "parquet": "kept.parquet"}
    assert kept.name == names[form]


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no named pipe ends here")
def test_a_pipe_is_spooled(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, LINE)
    os.close(write_end)
    path = f"/dev/fd/{read_end}"
    collection = collect(path)
    os.close(read_end)
    (kept,) = collection.write_kept(np.array([True]), tmp_path)
    assert (collection.files, kept.read_bytes()) == ([path], LINE)


HOSTILE = b"\r\n".join(
    [
        b"\xef\xbb\xbfid;text",
        b'1;"a ""b""; \n{""x"":1}\n"',
        b"",
        b"2;\xf0\x9f\x98\x80 \x00 z",
        b'3;{"text":"a"}',
        b"",
    ]
)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("by", ["stdin", "fifo"])
def test_csv_without_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes], by: str
) -> None:
    data = pack(HOSTILE)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    given: str | Path = "-"
    if by == "fifo":
        given = tmp_path / "pipe"
        os.mkfifo(given)
        threading.Thread(target=given.write_bytes, args=(data,)).start()
    collection = collect(given)
    (chunk,) = collection.chunks()
    batch = chunk.read()
    assert batch.records.column("id").to_pylist() == ["1", "2", "3"]
    assert batch.records.column("text")[0].as_py() == 'a "b"; \n{"x":1}\n'
    out = io.BytesIO()
    collection.write_kept_to(np.array([True] * 3), out)
    assert out.getvalue() == HOSTILE
    out = io.BytesIO()
    collection.write_kept_to(np.array([False, False, True]), out)
    assert out.getvalue() == b'\xef\xbb\xbfid;text\r\n3;{"text":"a"}\r\n'


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "kept.jsonl"),
        (b"\n \n", "kept.jsonl"),
        (b" \n" * 50_000 + LINE, "kept.jsonl"),
        (b"\xef\xbb\xbf" + LINE, "kept.jsonl"),
        (b"text\tid\na\t1\n", "kept.tsv"),
        (b"text\na\n", "kept.csv"),
        (b'"text"\na\n', "kept.csv"),
    ],
)
def test_content_tells_the_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, name: str
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    collection = collect("-")
    texts = [text for c in collection.chunks() for text in c.read().records["text"].to_pylist()]
    assert texts == (["a"] if b"a" in data else [])
    (kept,) = collection.write_kept(np.ones(len(texts), np.bool_), tmp_path)
    assert kept.name == name


def test_stdin_that_cannot_be_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = b"\x1f\x8b" + LINE
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(broken)))
    with pytest.raises(InputError, match="Cannot read stdin"):
        collect("-")


def test_stdin_that_cannot_be_unpacked_beside_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\x1f\x8bno archive")))
    result = nd.dedup([Path("-"), tmp_path / "a.jsonl"])
    assert [(row["file"], row["decision"]) for row in result.decisions.to_pylist()] == [
        ("stdin", "rejected"),
        (str(tmp_path / "a.jsonl"), "kept"),
    ]
    assert result.info["inputs"][0] is None  # nobody can read it again


def test_csv_on_stdin_in_a_stated_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def given(encoding: str) -> None:
        data = "id\ttext\n1\tпривет\n".encode(encoding)
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    given("koi8-r")
    assert nd.dedup("-", encoding="koi8-r").kept["text"].to_pylist() == ["привет"]
    for stated in ("utf-16", None):
        given("utf-16")
        assert nd.dedup("-", encoding=stated).kept["text"].to_pylist() == ["привет"]
