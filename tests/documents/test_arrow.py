"""Arrow IPC files: both formats, every column back, broken files."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pytest

import neardup as nd
from neardup.documents import Collection, Columns, collect
from neardup.documents.arrow import ArrowSource
from neardup.errors import ColumnError, InputError

TEXTS = ['say "hi",\r\n', "\0", "😀", "x" * 10_000_000, "", None, "last"]


def hostile() -> pa.Table:
    table = pa.table(
        {
            "id": pa.array(range(7)),
            "text": pa.array(TEXTS, pa.string_view()),
            "kind": pa.array(list("abcabca")).dictionary_encode(),
            "more": [[i] for i in range(7)],
        }
    )
    return table.replace_schema_metadata({"who": "me"})


def write(path: Path, table: pa.Table, *, stream: bool = False, rows: int = 3) -> Path:
    make = ipc.new_stream if stream else ipc.new_file
    with make(str(path), table.schema) as out:
        out.write_table(table, max_chunksize=rows)
    return path


def texts(collection: Collection, columns: Columns | None = None) -> list[str]:
    batches = [chunk.read() for chunk in collection.chunks(columns)]
    return [text for batch in batches for text in batch.records.column("text").to_pylist()]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 100])
def test_round_trip(tmp_path: Path, stream: bool, rows: int) -> None:
    table = hostile()
    path = write(tmp_path / "a.arrow", table, stream=stream)
    collection = Collection([ArrowSource(path, "a", chunk_rows=rows)])
    batches = [chunk.read() for chunk in collection.chunks()]
    assert [lost.reason for b in batches for lost in b.rejected] == ["text is null"]
    assert texts(collection) == [text for text in TEXTS if text is not None]
    assert collection.texts("a", [7, 6, 1]) == ["last", "", TEXTS[0]]
    keep = np.array([1, 0, 1, 1, 0, 1, 1], bool)
    (kept,) = collection.write_kept(keep, tmp_path / "out")
    reader = ipc.open_stream(str(kept)) if stream else ipc.open_file(str(kept))
    assert kept.name == "kept.arrow"
    assert reader.schema.equals(table.schema, check_metadata=True)
    expected = [row for row, good in zip(table.to_pylist(), keep, strict=True) if good]
    assert reader.read_all().to_pylist() == collection.kept(keep).to_pylist() == expected


def test_feather_and_several_files(tmp_path: Path) -> None:
    one = pa.table({"text": ["a", "b"], "k": pa.array(["x", "y"]).dictionary_encode()})
    two = pa.table({"text": ["c"], "k": pa.array(["z"]).dictionary_encode()})
    for name, table in (("1.feather", one), ("2.feather", two)):
        feather.write_feather(table, str(tmp_path / name))
    collection = collect(str(tmp_path / "*.feather"))
    collection.check_kept(one_file=True)
    (kept,) = collection.write_kept(np.ones(3, bool), tmp_path / "out", one_file=True)
    assert kept.name == "kept.feather"
    assert ipc.open_stream(str(kept)).read_all().column("k").to_pylist() == ["x", "y", "z"]
    empty = collect(write(tmp_path / "e.arrow", one.slice(0, 0)))
    assert texts(empty) == []
    assert empty.kept(np.zeros(0, bool)).equals(one.slice(0, 0))


def test_errors(tmp_path: Path) -> None:
    path = write(tmp_path / "a.arrow", pa.table({"text": ["a"] * 9, "n": range(9)}))
    with pytest.raises(ColumnError, match="'body' is not in"):
        texts(collect(path), Columns("body"))
    with pytest.raises(ColumnError, match="expected strings"):
        texts(collect(path), Columns("n"))
    for name, data in (("cut.arrow", path.read_bytes()[:20]), ("bad.feather", b"FEA1")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(InputError, match="Cannot read"):
            collect(tmp_path / name)
    other = write(tmp_path / "b.arrow", pa.table({"text": [["a"]]}))
    with pytest.raises(InputError, match="cannot be one kept file: column 'text'"):
        collect([path, other]).check_kept(one_file=True)


def test_of_a_cut_off_stream_what_can_be_read_is_read(tmp_path: Path) -> None:
    table = pa.table({"text": [str(i) for i in range(9)], "n": range(9)})
    path = write(tmp_path / "a.arrow", table, stream=True)
    path.write_bytes(path.read_bytes()[:-40])
    collection = collect(path)
    batches = [chunk.read() for chunk in collection.chunks(Columns(extra=("n",)))]
    assert [len(batch) for batch in batches] == [3, 3, 1]
    assert "truncated" in batches[-1].rejected[0].reason
    assert collection.texts(str(path), [7, 6]) == ["", "5"]
    keep = np.arange(7) < 6
    assert collection.kept(keep).num_rows == 6
    (kept,) = collection.write_kept(keep, tmp_path / "out")
    assert ipc.open_stream(str(kept)).read_all().equals(table.slice(0, 6))


@pytest.mark.parametrize("stream", [False, True])
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool) -> None:
    data = write(tmp_path / "a", pa.table({"text": ["a"]}), stream=stream).read_bytes()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert texts(collect("-")) == ["a"]


def test_a_run(tmp_path: Path) -> None:
    text = "one two three four five six seven eight nine ten"
    path = write(tmp_path / "a.arrow", pa.table({"id": ["a", "b"], "text": [text, text + "!"]}))
    assert nd.dedup(str(path)).kept.to_pylist() == [{"id": "a", "text": text}]
