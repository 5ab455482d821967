"""CSV and TSV files: what is read, what is rejected and why, what comes back byte for byte."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup import _native
from neardup.documents import Collection, Columns, DocumentBatch, collect
from neardup.documents import csv as native
from neardup.documents.csv import CsvSource
from neardup.errors import ColumnError, InputError, UsageError
from reference import csv as twin
from repeats import examples

steady = examples(60)
hostile = st.lists(
    st.sampled_from(
        [b'"', b'""', b",", b";", b"\n", b"\r", b"\r\n", b"a", b"\xff", b"\0", b"\xc3\xa9"]
    ),
    max_size=30,
).map(b"".join)


def read(collection: Collection, columns: Columns | None = None) -> list[DocumentBatch]:
    return [chunk.read() for chunk in collection.chunks(columns)]


def file_of(tmp_path: Path, data: bytes, name: str = "a.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def kept_bytes(collection: Collection, keep: np.ndarray) -> bytes:
    out = io.BytesIO()
    collection.write_kept_to(keep.astype(bool), out)
    return out.getvalue()


@given(hostile, st.sampled_from(",;"))
@steady
def test_the_scanner_equals_its_twin(data: bytes, sign: str) -> None:
    expected = twin.records(data, sign)
    found = native.scan(data, sign, [0, 2])
    assert found.starts.tolist() == [record.start for record in expected]
    assert found.widths.tolist() == [len(record.fields) for record in expected]
    assert found.open == bool(expected and expected[-1].open)
    everything = np.ones(len(expected), bool)
    for place, column in enumerate((0, 2)):
        values = [(*record.fields, b"", b"")[column] for record in expected]
        assert found.array(place, everything).to_pylist() == values
    end = _native.whole_csv_records(data, sign)
    assert end == 0 or data[end - 1 : end] == b"\n"
    last = expected[-1].start if expected else 0
    assert end in (0, last) or end > last


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=9), st.booleans())
@steady
def test_what_the_csv_module_writes_is_read(rows: list[list[str]], all_quoted: bool) -> None:
    out = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    csv.writer(out, quoting=quoting).writerows(rows)
    data = out.getvalue().encode("utf-8", "surrogatepass")
    found = [
        [f.decode("utf-8", "surrogatepass") for f in r.fields] for r in twin.records(data, ",")
    ]
    assert found == rows


def test_rows_ids_and_texts(tmp_path: Path) -> None:
    data = (
        b"\xef\xbb\xbfid,note,text\r\n"
        b'x,"1,2","say ""hi"",\r\nthen \xf0\x9f\x98\x80\0"\r\n'
        b"\r\n"
        b',,\r\n"",n,last'
    )
    path = file_of(tmp_path, data)
    (batch,) = read(collect(path), Columns(extra=("note",)))
    assert batch.records.to_pydict() == {
        "row": [1, 2, 3],
        "id": ["x", f"{path}:2", f"{path}:3"],
        "text": ['say "hi",\r\nthen 😀\0', "", "last"],
        "note": ["1,2", None, "n"],
    }
    assert (len(batch), batch.rejected) == (3, [])
    assert kept_bytes(collect(path), np.ones(3, bool)) == data
    assert kept_bytes(collect(path), np.array([0, 1, 0])) == b"\xef\xbb\xbfid,note,text\r\n,,\r\n"


def test_every_reason(tmp_path: Path) -> None:
    data = b'id,text\n1,a\n2\n3,b,c\n4,\xff\n\xff,d\n5,ok\n6,"never closed\n7,x\n'
    (batch,) = read(collect(file_of(tmp_path, data)))
    assert batch.records.column("id").to_pylist() == ["1", "5"]
    assert [(lost.row, lost.id, lost.reason) for lost in batch.rejected] == [
        (2, None, "record has 1 field; the header has 2"),
        (3, None, "record has 3 fields; the header has 2"),
        (4, "4", "text is not valid UTF-8 at byte 1"),
        (5, None, "id is not valid UTF-8 at byte 1"),
        (7, None, "record ends inside quotes: a quote is not closed"),
    ]
    assert batch.positions().tolist() == [0, 5]


@pytest.mark.parametrize("columns", [Columns(text="texd"), Columns(id="texd")])
def test_unknown_column_stops(tmp_path: Path, columns: Columns) -> None:
    path = file_of(tmp_path, b"Text,text,n\na,b,1\n")
    with pytest.raises(ColumnError, match=r"'texd' is not in .*; it has 'Text', 'text', 'n'"):
        read(collect(path), columns)


def test_a_column_that_stands_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match="more than once"):
        read(collect(file_of(tmp_path, b"text,text\na,b\n")))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"id;text\n1;a,b\n"),
        ("a.csv", b"id|text\n1|a,b\n"),
        ("a.csv", b'"id","text"\n1,"a,b"\n'),
        ("a.tsv", b"id\ttext\n1\ta,b\n"),
    ],
)
def test_delimiters(tmp_path: Path, name: str, data: bytes) -> None:
    collection = collect(file_of(tmp_path, data, name))
    (batch,) = read(collection)
    assert batch.records.to_pylist() == [{"row": 1, "id": "1", "text": "a,b"}]
    (kept,) = collection.write_kept(np.array([True]), tmp_path / "out")
    assert (kept.name, kept.read_bytes()) == (f"kept.{name[-3:]}", data)


@given(hostile, st.integers(1, 40), st.booleans(), st.data())
@steady
def test_chunk_size_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    size: int,
    mark: bool,
    draw: st.DataObject,
) -> None:
    body = (b"\xef\xbb\xbf" if mark else b"") + b"text,n\nfirst,1\n" + data
    path = file_of(tmp_path_factory.mktemp("f"), body)
    whole = Collection([CsvSource(path, "f")])
    small = Collection([CsvSource(path, "f", chunk_bytes=size)])
    (expected,) = read(whole)
    batches = read(small)
    assert (
        pa.Table.from_batches([b.records for b in batches]).to_pylist()
        == expected.records.to_pylist()
    )
    assert [lost for b in batches for lost in b.rejected] == expected.rejected
    count = len(expected)
    keep = np.array(draw.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    assert kept_bytes(small, keep) == kept_bytes(whole, keep)
    assert kept_bytes(small, np.ones(count, bool)) == body
    assert small.kept(keep).equals(whole.kept(keep))
    rows = expected.records.column("row").to_pylist()[::-1]
    assert small.texts("f", rows) == expected.records.column("text").to_pylist()[::-1]


def test_files_are_joined_under_one_header(tmp_path: Path) -> None:
    a = file_of(tmp_path, b"id,text\n1,a\n2,b", "a.csv")
    b = file_of(tmp_path, b'\xef\xbb\xbfid,"text"\r\n3,c\r\n', "b.csv")
    (path,) = collect([a, b]).write_kept(np.ones(3, bool), tmp_path / "out", one_file=True)
    assert path.read_bytes() == b"id,text\n1,a\n2,b\n3,c\r\n"
    other = file_of(tmp_path, b"text,id\na,1\n", "c.csv")
    with pytest.raises(InputError, match="their headers differ"):
        collect([a, other]).check_kept(one_file=True)
    lines = file_of(tmp_path, b'{"text":"a"}\n', "d.jsonl")
    with pytest.raises(UsageError, match="one stream"):
        collect([a, lines]).check_stream()


def test_compressed_and_without_records(tmp_path: Path) -> None:
    path = file_of(tmp_path, gzip.compress(b"id,text\n1,a\n2,b\n"), "a.csv.gz")
    collection = collect(path)
    assert [len(batch) for batch in read(collection)] == [2]
    assert collection.texts(str(path), [2, 1]) == ["b", "a"]
    (kept,) = collection.write_kept(np.zeros(2, bool), tmp_path / "out")
    assert (kept.name, gzip.decompress(kept.read_bytes())) == ("kept.csv.gz", b"id,text\n")
    for data in (b"", b"text\n"):
        empty = collect(file_of(tmp_path, data))
        assert read(empty) == []
        assert kept_bytes(empty, np.zeros(0, bool)) == data
        assert empty.kept(np.zeros(0, bool)).num_rows == 0


def test_of_a_cut_off_archive_what_can_be_read_is_read(tmp_path: Path) -> None:
    rows = [b'%d,"%d\nx"\n' % (i, i * 7919) for i in range(50_000)]
    packed = gzip.compress(b"id,text\n" + b"".join(rows))
    collection = collect(file_of(tmp_path, packed[:-9000], "a.csv.gz"))
    batches = read(collection)
    (lost,) = [lost for batch in batches for lost in batch.rejected]
    assert "file is truncated" in lost.reason
    assert sum(map(len, batches)) == lost.row < 50_001
    (kept,) = collection.write_kept(np.ones(lost.row, bool), tmp_path / "out")
    assert gzip.decompress(kept.read_bytes()) == b"id,text\n" + b"".join(rows[: lost.row - 1])
    assert collection.kept(np.ones(lost.row, bool)).num_rows == lost.row - 1
    assert collection.texts(collection.files[0], [lost.row, 1]) == ["", "0\nx"]


def test_a_field_longer_than_a_chunk(tmp_path: Path) -> None:
    text = 'a "long",\n' * 1_100_000
    data = b'id,text\n1,"%b"\n2,b\n' % text.replace('"', '""').encode()
    path = file_of(tmp_path, data)
    batches = read(collect(path))
    assert [t for b in batches for t in b.records.column("text").to_pylist()] == [text, "b"]
    assert kept_bytes(collect(path), np.ones(2, bool)) == data


def test_a_run_keeps_records_and_tables(tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine ten"
    path = file_of(tmp_path, f'id,text,n\na,"{words}",1\nb,{words},\xff\n'.encode("latin-1"))
    result = nd.dedup(str(path))
    assert result.kept.to_pylist() == [{"id": "a", "text": words, "n": "1"}]
    whole = collect(path).kept(np.ones(2, bool))
    assert whole.column("n").to_pylist() == ["1", "\ufffd"]


def test_a_document_in_place_of_a_header_is_hinted_at(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text(f'1,"{"some words " * 20}"\n', "utf-8")
    with pytest.raises(ColumnError, match="It is read as the header; put one before it") as refused:
        nd.dedup(path)
    assert len(str(refused.value)) < 500
