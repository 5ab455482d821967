"""JSON Lines files: what is read, what is rejected and why, what comes back."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.documents import Collection, Columns, DocumentBatch, collect
from neardup.documents.file_formats import CODECS
from neardup.documents.jsonl import JsonlChunk, JsonlSource
from neardup.documents.streams import open_binary
from neardup.errors import ColumnError, InputError
from repeats import examples

steady = examples(40)


def read(collection: Collection, columns: Columns | None = None) -> list[DocumentBatch]:
    return [chunk.read() for chunk in collection.chunks(columns)]


def file_of(tmp_path: Path, data: bytes, name: str = "a.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_rows_ids_and_texts(tmp_path: Path) -> None:
    path = file_of(
        tmp_path,
        b'{"id":"x","text":"a"}\n\n{"id":1.50,"text":"b"}\r\n{"text":"c\\u0000"}\n{"id":null,"text":""}',
    )
    (batch,) = read(collect(str(path)))
    assert batch.records.to_pydict() == {
        "row": [1, 3, 4, 5],
        "id": ["x", "1.50", f"{path}:4", f"{path}:5"],
        "text": ["a", "b", "c\0", ""],
    }
    assert (batch.rows, len(batch), batch.rejected) == (5, 4, [])
    batch.records.validate(full=True)


SENTENCES = {
    b'{"text":"a" "b":1}': "line is not valid JSON: expected ',' or '}' at byte 13",
    b'{"text":["a" 1]}': "line is not valid JSON: expected ',' or ']' at byte 14",
    b'{"text":"a",}': "line is not valid JSON: expected a key in double quotes at byte 13",
    b"{a:1}": "line is not valid JSON: expected a key in double quotes or '}' at byte 2",
    b'{"text" 1}': "line is not valid JSON: expected ':' at byte 9",
    b'{"text":NaN}': "line is not valid JSON: expected a value at byte 9",
    b'{"text":"a': "line is not valid JSON: it ends at byte 11 before its object does",
    b'{"text":"a"} x': "line is not valid JSON: something follows the object at byte 14",
    b'{"text":"a\tb"}': (
        "line is not valid JSON: unescaped control character in a string at byte 11"
    ),
    b'{"text":"\\x"}': "line is not valid JSON: unknown escape in a string at byte 11",
    b'{"text":01}': "line is not valid JSON: malformed number at byte 10",
    b'{"text":"\xff"}': "line is not valid UTF-8 at byte 10",
    b'["text"]': "line is not a JSON object (byte 1)",
    b'{"text":' + b"[" * 600: "line is nested more than 512 deep at byte 520",
    b'{"text":null}': "text is null",
    b'{"id":1}': "text is missing",
    b'{"text":5}': "text is a number; expected a string",
    b'{"text":true}': "text is true; expected a string",
    b'{"text":{}}': "text is an object; expected a string",
    b'{"text":[]}': "text is an array; expected a string",
    b'{"text":"a","id":[1]}': "id is an array; expected a string or a number",
    b'{"text":"a","id":false}': "id is false; expected a string or a number",
}


@pytest.mark.parametrize("line", SENTENCES)
def test_every_reason(line: bytes) -> None:
    batch = JsonlChunk("f", b'{"text":"ok"}\n' + line, 1, Columns()).read()
    assert batch.records.num_rows == 1
    (rejected,) = batch.rejected
    assert (rejected.file, rejected.row, rejected.reason) == ("f", 2, SENTENCES[line])


def test_rejected_documents_keep_their_id_and_position(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"id":7,"text":1}\n\n{"id":8,"text":"b"}\nx\n{"id":9,"text":"c"}\n')
    (batch,) = read(collect(path))
    assert [(lost.row, lost.id) for lost in batch.rejected] == [(1, "7"), (4, None)]
    assert batch.positions().tolist() == [1, 3]


def test_extra_columns_are_raw_strings(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"text":"a","d":1.0,"g":"x"}\n{"text":"b","d":true}\n')
    (batch,) = read(collect(path), Columns(extra=("d", "g", "text", "d")))
    assert batch.records.schema.names == ["row", "id", "text", "d", "g"]
    assert batch.records.column("d").to_pylist() == ["1.0", "true"]
    assert batch.records.column("g").to_pylist() == ["x", None]


@pytest.mark.parametrize(
    "columns", [Columns(text="texd"), Columns(id="texd"), Columns(extra=("texd",))]
)
def test_unknown_column_stops(tmp_path: Path, columns: Columns) -> None:
    path = file_of(tmp_path, b'\xef\xbb\xbf\n\n{"Text":"a","text":"b","n":1}\n')
    with pytest.raises(
        ColumnError, match=r"'texd' is not in .*a.jsonl; it has 'Text', 'text', 'n'"
    ) as e:
        read(collect(path), columns)
    assert e.value.hint == "did you mean 'Text'?"


def test_a_column_that_would_hide_ours_is_refused() -> None:
    with pytest.raises(ColumnError, match="would hide it"):
        _ = Columns(extra=("row",)).delivered


def test_other_names_for_text_and_id(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"key":4,"body":"a","text":"no"}\n')
    (batch,) = read(collect(path), Columns(text="body", id="key"))
    assert batch.records.to_pylist() == [{"row": 1, "id": "4", "text": "a"}]


lines_of_a_file = st.lists(
    st.sampled_from(
        [b'{"text":"a","id":1}', b'{"text":"\xc3\xa9"}', b"", b" ", b"x", b'{"text":null}\r']
    ),
    max_size=9,
).map(lambda parts: b"\n".join([b'{"text":"first"}', *parts]))


@given(lines_of_a_file, st.integers(1, 40), st.booleans(), st.data())
@steady
def test_chunk_size_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    size: int,
    mark: bool,
    draw: st.DataObject,
) -> None:
    path = file_of(tmp_path_factory.mktemp("f"), (b"\xef\xbb\xbf" if mark else b"") + data)
    whole = Collection([JsonlSource(path, "f")])
    small = Collection([JsonlSource(path, "f", chunk_bytes=size)])
    (expected,) = read(whole)
    batches = read(small)
    assert (
        pa.Table.from_batches([b.records for b in batches]).to_pylist()
        == expected.records.to_pylist()
    )
    assert [lost for b in batches for lost in b.rejected] == expected.rejected
    assert sum(b.rows for b in batches) == expected.rows
    keep = np.array(
        draw.draw(st.lists(st.booleans(), min_size=len(expected), max_size=len(expected)))
    )
    assert kept_bytes(small, keep) == kept_bytes(whole, keep)
    assert kept_bytes(small, np.ones(len(expected), bool)) == path.read_bytes()
    rows = expected.records.column("row").to_pylist()[::-1]
    assert small.texts("f", rows) == expected.records.column("text").to_pylist()[::-1]


def kept_bytes(collection: Collection, keep: np.ndarray) -> bytes:
    out = io.BytesIO()
    collection.write_kept_to(keep.astype(bool), out)
    return out.getvalue()


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_few_rows_are_read_without_the_others(tmp_path: Path, form: str) -> None:
    texts = [f"text {i} " + "word " * 3000 for i in range(60)]
    lines = [f'{{"name":{i},"text":"{text}"}}\r\n\n' for i, text in enumerate(texts)]
    if form == "csv":
        lines = [f'{i},"{text}\n"\n' for i, text in enumerate(texts)]
    data = ("name,text\n" if form == "csv" else "\ufeff") + "".join(lines).rstrip("\n")
    path = file_of(tmp_path, data.encode(), f"a.{form}")
    source = replace(collect(path).sources[0], chunk_bytes=100_000)
    columns = Columns(id="name")
    records = pa.Table.from_batches([chunk.read().records for chunk in source.chunks(columns)])
    for wanted in ([0], [0, 1, 2, 30], [7, 59], []):
        rows = records.column("row").to_numpy()[np.array(wanted, int)]
        batches = [chunk.read() for chunk in source.chunks_at(rows, columns)]
        found = [text for batch in batches for text in batch.records.column("text").to_pylist()]
        assert found == [records.column("text")[i].as_py() for i in wanted]
        assert source.texts(rows, columns) == found
        assert sum(batch.size for batch in batches) <= len(wanted) * 15_100
    every = records.column("row").to_numpy()
    assert sum(len(chunk.read()) for chunk in source.chunks_at(every, columns)) == 60


def test_files_are_joined_in_order(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    a = file_of(tmp_path, mark + b'{"text":"1"}\r\n\r\n{"text":"2"}', "a.jsonl")
    b = file_of(tmp_path, mark + b'{"text":"3"}', "b.jsonl")
    collection = collect([a, b])
    (path,) = collection.write_kept(np.ones(3, bool), tmp_path / "out", one_file=True)
    assert path.name == "kept.jsonl"
    assert path.read_bytes() == a.read_bytes() + b"\n" + b.read_bytes().removeprefix(mark)
    collection.write_kept(np.array([False, True, False]), tmp_path / "out", one_file=True)
    assert path.read_bytes() == b'{"text":"2"}'
    assert [p.name for p in path.parent.iterdir()] == ["kept.jsonl"]


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_files(tmp_path: Path, suffix: str) -> None:
    data = b"".join(b'{"text":"%d"}\n' % i for i in range(1000))
    path = file_of(tmp_path, PACK[suffix](data), f"a.jsonl.{suffix}")
    collection = collect(path)
    (batch,) = read(collection)
    assert batch.records.num_rows == 1000
    assert collection.texts(str(path), [999, 2]) == ["998", "1"]
    (source,) = collection.sources
    small = Collection([replace(source, chunk_bytes=100)])
    assert small.texts(str(path), [999, 2, 500, 2]) == ["998", "1", "499", "1"]
    with pytest.raises(IndexError, match="no row 1001"):
        small.texts(str(path), [2, 1001])
    (kept,) = collection.write_kept(np.ones(1000, bool), tmp_path / "out")
    assert kept.name == f"kept.jsonl.{suffix}"
    with open_binary(kept, CODECS[f".{suffix}"]) as stream:
        assert stream.read() == data


@pytest.mark.parametrize("suffix", PACK)
def test_compressed_files_of_several_members(tmp_path: Path, suffix: str) -> None:
    parts = [PACK[suffix](b'{"text":"a"}\n'), PACK[suffix](b'{"text":"b"}\n')]
    path = file_of(tmp_path, b"".join(parts), f"a.jsonl.{suffix}")
    assert sum(len(batch) for batch in read(collect(path))) == 2


def test_threads_give_the_same(tmp_path: Path) -> None:
    path = file_of(tmp_path, b"".join(b'{"text":"%d"}\n' % i for i in range(5000)))
    chunks = list(JsonlSource(path, "f", chunk_bytes=1000).chunks(Columns()))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(JsonlChunk.read, chunks)) == [chunk.read() for chunk in chunks]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("count", [1000, 90_000])
def test_of_a_cut_off_archive_what_can_be_read_is_read(
    tmp_path: Path, suffix: str, count: int
) -> None:
    rows = [b'{"text":"%d"}\n' % (i * 7919) for i in range(count)]
    packed = PACK[suffix](b"".join(rows))
    path = file_of(tmp_path, packed[: -len(packed) // 20], f"a.jsonl.{suffix}")
    whole = file_of(tmp_path, rows[0], f"b.jsonl.{suffix}")
    whole.write_bytes(PACK[suffix](rows[0]))
    if suffix in ("bz2", "zst") and count == 1000:  # a single block: nothing can be read
        with pytest.raises(InputError, match="Cannot read"):
            collect(path)
        return
    collection = collect([path, whole])
    batches = read(collection)
    (lost,) = [lost for batch in batches for lost in batch.rejected]
    read_rows = lost.row - 1
    assert 0 < read_rows < count
    assert "file is truncated" in lost.reason
    assert sum(map(len, batches)) == read_rows + 2
    keep = np.ones(read_rows + 2, bool)
    (kept,) = collection.write_kept(keep, tmp_path / "out", one_file=True)
    with open_binary(kept, CODECS[f".{suffix}"]) as stream:
        assert stream.read() == b"".join(rows[:read_rows]) + rows[0]
    assert collection.kept(keep).num_rows == read_rows + 1
    assert collection.texts(str(path), [lost.row, 1]) == ["", "0"]


def test_of_a_broken_archive_what_can_be_read_is_read(tmp_path: Path) -> None:
    data = b"".join(b'{"text":"%d"}\n' % (i * 7919) for i in range(90_000))
    packed = bytearray(gzip.compress(data))
    packed[-20_000:-19_000] = bytes(1000)
    batches = read(collect(file_of(tmp_path, bytes(packed), "a.jsonl.gz")))
    (lost,) = [lost for batch in batches for lost in batch.rejected if lost.id is None][-1:]
    assert "compressed data are broken here" in lost.reason


def test_kept_table(tmp_path: Path) -> None:
    path = file_of(
        tmp_path, b'{"text":"a","n":1}\n{"text":"\\ud800","n":"x","m":[1]}\n{"text":"c"}\n'
    )
    table = collect(path).kept(np.array([True, True, False]))
    assert table.to_pydict() == {"text": ["a", "\ufffd"], "n": ["1", '"x"'], "m": [None, [1]]}


def test_a_mask_that_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    path = file_of(tmp_path, b'{"text":"a"}\n{"text":"b"}\n')
    with pytest.raises(InputError, match="for 3 documents, but the input now has 2"):
        collect(path).write_kept(np.ones(3, bool), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_line_longer_than_a_chunk(tmp_path: Path) -> None:
    text = "long " * 4_000_000
    path = file_of(tmp_path, json.dumps({"text": text}).encode() + b'\n{"text":"b"}')
    batches = read(collect(path))
    assert [batch.records.column("text").to_pylist() for batch in batches] == [[text], ["b"]]


def test_empty_file(tmp_path: Path) -> None:
    collection = collect(file_of(tmp_path, b""))
    assert read(collection) == []
    (path,) = collection.write_kept(np.zeros(0, bool), tmp_path / "out")
    assert path.read_bytes() == b""


@pytest.mark.parametrize("name", ["content", "Body", "raw_content", "txt"])
def test_the_likely_text_column_is_suggested_with_the_option(tmp_path: Path, name: str) -> None:
    path = file_of(tmp_path, b'{"id": 1, "%s": "a"}\n' % name.encode())
    with pytest.raises(ColumnError) as error:
        read(collect(path), Columns())
    hint = f"did you mean {name!r}? Then give --text {name} (in Python text={name!r})."
    assert error.value.hint == hint


@pytest.mark.parametrize("as_file", [True, False])
def test_lone_surrogates_are_rejected_in_files_as_in_lists(tmp_path: Path, as_file: bool) -> None:
    """They cannot be told apart as U+FFFD: texts would be identical, and ids would clash."""
    text = "a story of some words"
    rows = [
        {"id": "a", "text": f"{text} \ud800"},
        {"id": "x\udc00", "text": text},
        {"id": "b", "text": f"{text} \U0001f600"},
        {"id": "c", "text": "another", "note": "\ud800"},
    ]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = nd.dedup(path if as_file else rows)
    assert result.counts.sentence() == "4 documents = 2 kept + 0 duplicates + 2 rejected"
    told = result.decisions.filter(result.decisions["row"].to_numpy() <= 2).to_pylist()
    assert [row["id"] for row in told] == ["a", None]
    assert told[0]["reason"].startswith("text has a lone surrogate at ")
    assert told[1]["reason"].startswith("id has a lone surrogate at ")
    if as_file:
        assert told[0]["reason"].endswith(f"at byte {json.dumps(rows[0]).index(chr(92)) + 1}")
