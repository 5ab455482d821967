"""Merged metadata in every format: only what is empty changes, everything else stays as it came."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import api as nd
from neardup.documents.csv import Header
from neardup.runs.filled_sources import filled_lines
from neardup.runs.filled_values import csv_text, filled_record, json_value, replaced, table_value

TEXT = " ".join(f"w{i}" for i in range(30))
OTHER = " ".join(f"v{i}" for i in range(30))
DOCS: list[dict[str, Any]] = [
    {"id": "a", "text": TEXT, "author": None, "title": "kept, so", "year": 0},
    {"id": "b", "text": OTHER, "author": None, "title": None, "year": None},
    {"id": "c", "text": TEXT, "author": 'Zoë "Z", Esq.', "title": "other", "year": 7},
    {"id": "d", "text": OTHER + ".", "author": None, "title": "second\nline", "year": None},
    {"id": "e", "text": OTHER.upper(), "author": "e", "title": "third", "year": 9},
]
FILLED = [
    DOCS[0] | {"author": 'Zoë "Z", Esq.'},
    DOCS[1] | {"title": "second\nline", "author": "e", "year": 9},
]
POLICY = {"default": "merge", "contains": "merge"}


def table() -> pa.Table:
    types = [("id", pa.string()), ("text", pa.string())]
    more = [("author", pa.dictionary(pa.int32(), pa.string())), ("title", pa.large_string())]
    fields = [pa.field(*one) for one in [*types, *more, ("year", pa.int16())]]
    return pa.Table.from_pylist(DOCS, pa.schema(fields, metadata={"made": "here"}))


def as_csv(delimiter: str = ",") -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, DOCS[0], delimiter=delimiter)
    writer.writeheader()
    writer.writerows(DOCS)
    return out.getvalue()


def as_jsonl() -> str:
    return "".join(json.dumps(document) + "\n" for document in DOCS)


def write_arrow(path: Path) -> None:
    with pa.ipc.new_file(path, table().schema) as out:
        out.write_table(table())


def read_arrow(path: Path) -> list[dict[str, Any]]:
    read = pa.ipc.open_file(path).read_all()
    assert read.schema.equals(table().schema, check_metadata=True)
    return read.to_pylist()


def read_parquet(path: Path) -> list[dict[str, Any]]:
    read = pq.read_table(path)
    assert read.schema.equals(table().schema, check_metadata=True)
    return read.to_pylist()


def read_csv(path: Path, delimiter: str = ",") -> list[dict[str, Any]]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter=delimiter))
    return [
        {**{k: v or None for k, v in r.items()}, "year": int(r["year"]) if r["year"] else None}
        for r in rows
    ]


def read_jsonl(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


FORMATS: dict[str, tuple[Callable[[Path], object], Callable[[Path], list[dict[str, Any]]]]] = {
    "jsonl": (lambda p: p.write_text(as_jsonl()), lambda p: read_jsonl(p.read_text("utf-8"))),
    "jsonl.gz": (
        lambda p: p.write_bytes(gzip.compress(as_jsonl().encode())),
        lambda p: read_jsonl(gzip.decompress(p.read_bytes()).decode()),
    ),
    "csv": (lambda p: p.write_bytes(as_csv().encode()), read_csv),
    "tsv": (lambda p: p.write_bytes(as_csv("\t").encode()), lambda p: read_csv(p, "\t")),
    "parquet": (lambda p: pq.write_table(table(), p), read_parquet),
    "arrow": (write_arrow, read_arrow),
}


@pytest.mark.parametrize("name", FORMATS)
def test_files(name: str, tmp_path: Path) -> None:
    write, read = FORMATS[name]
    write(tmp_path / f"in.{name}")
    made = nd.dedup(tmp_path / f"in.{name}", text="text").apply(POLICY)
    made.write(tmp_path / "applied")
    assert read(tmp_path / "applied" / f"documents.{name}") == FILLED
    assert read(tmp_path / "applied" / f"merged.{name}") == DOCS[2:]
    fills = made.actions["fills"].to_pylist()
    assert fills[0] == [{"field": "author", "from": "c"}]
    assert sorted((one["field"], one["from"]) for one in fills[1]) == [
        ("author", "e"),
        ("title", "d"),
        ("year", "e"),
    ]
    assert sorted(made.names()) == sorted(path.name for path in (tmp_path / "applied").iterdir())


def test_a_folder_has_no_metadata(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for document in DOCS:
        (tmp_path / "in" / f"{document['id']}.txt").write_text(document["text"])
    made = nd.dedup(tmp_path / "in").apply(POLICY)
    made.write(tmp_path / "applied")
    names = sorted(path.name for path in (tmp_path / "applied" / "merged").iterdir())
    assert names == ["c.txt", "d.txt", "e.txt"]
    assert (tmp_path / "applied" / "documents.txt").read_text() == "a.txt\nb.txt\n"
    assert sorted(made.names()) == sorted(path.name for path in (tmp_path / "applied").iterdir())


def test_tables_in_memory_come_back_as_they_are() -> None:
    frame = nd.dedup(pl.from_arrow(table())).apply(POLICY).documents
    assert frame.to_dicts() == FILLED
    assert frame.schema == pl.from_arrow(table()).schema
    given = pd.DataFrame(DOCS).set_axis([10, 20, 30, 40, 50]).convert_dtypes()
    frame = nd.dedup(given).apply(POLICY).documents
    assert list(frame.index) == [10, 20]
    assert frame.dtypes.equals(given.dtypes)
    assert frame["author"].tolist() == ['Zoë "Z", Esq.', "e"]
    assert frame["year"].tolist() == [0, 9]
    made = nd.dedup(table()).apply(POLICY).documents
    assert made.schema.equals(table().schema, check_metadata=True)
    assert made.to_pylist() == FILLED
    batch = table().combine_chunks().to_batches()[0]
    assert nd.dedup(batch).apply(POLICY).documents.to_pylist() == FILLED


def test_datasets() -> None:
    given = datasets.Dataset.from_list(DOCS)
    made = nd.dedup(given).apply(POLICY).documents
    assert made.features == given.features
    assert made.to_list() == FILLED


def test_formats_together(tmp_path: Path) -> None:
    """A value goes where there is a place for it, in the form of that place."""
    (tmp_path / "a.csv").write_bytes(f"id,text,year\na,{TEXT},\nb,{OTHER},\n".encode())
    rows = [
        {"id": "c", "text": TEXT, "year": [1], "author": "c"},
        {"id": "d", "text": TEXT, "year": 1999},
        {"id": "e", "text": OTHER, "year": {"x": 1}},
    ]
    (tmp_path / "b.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = nd.dedup([tmp_path / "a.csv", tmp_path / "b.jsonl"]).apply(POLICY)
    made.write(tmp_path / "applied")
    expected = f"id,text,year\na,{TEXT},1999\nb,{OTHER},\n"
    assert (tmp_path / "applied" / "documents" / "a.csv").read_text() == expected
    assert (tmp_path / "applied" / "merged" / "b.jsonl").read_bytes() == (
        tmp_path / "b.jsonl"
    ).read_bytes()


def test_another_encoding(tmp_path: Path) -> None:
    lines = f"id;text;author\r\na;{TEXT};\r\nb;{TEXT};Zoë\r\nc;{OTHER};\r\n"
    (tmp_path / "a.csv").write_bytes(lines.encode("latin-1"))
    made = nd.dedup(tmp_path / "a.csv", encoding="latin-1").apply(POLICY)
    made.write(tmp_path / "applied")
    expected = f"id;text;author\r\na;{TEXT};Zoë\r\nc;{OTHER};\r\n"
    assert (tmp_path / "applied" / "documents.csv").read_bytes() == expected.encode("latin-1")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
NAMES = st.text(max_size=3)


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES), st.sampled_from([None, 1]))
def test_lines_get_exactly_the_fields(
    document: dict[str, Any], fields: dict[str, Any], indent: int | None
) -> None:
    line = json.dumps(document, indent=indent).replace("\n", "\t") + " \r"
    made = filled_lines(line.encode(), {0: fields}).decode("utf-8", "surrogatepass")
    assert json.loads(made) == {**document, **fields}
    assert list(json.loads(made))[: len(document)] == list(document)


def test_lines_keep_their_bytes() -> None:
    line = b'\xef\xbb\xbf { "n" : 1.50, "x":"" ,"big":%s,"x" : null, "s":"\\u00e9\\ud800"} ' % (
        b"9" * 5000
    )
    expected = line.replace(b"null", b'"Zo\xc3\xab"').replace(b"} ", b', "new": [1]} ')
    assert filled_lines(line, {0: {"x": "Zoë", "new": [1]}}) == expected
    lines = b'{}\n\n{"b":{"a":0}}\n{"a":""}'
    made = filled_lines(lines, {0: {"a": 1}, 2: {"a": "\ud800"}})
    assert made == b'{"a": 1}\n\n{"b":{"a":0}}\n{"a":"\\ud800"}'


@given(st.lists(st.text(alphabet='ab,"\n\r é'), min_size=3, max_size=3), st.text(alphabet=',"\nb'))
def test_records_get_exactly_the_field(values: list[str], value: str) -> None:
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL).writerow(values)
    header = Header(b"x,y,z\n", ["x", "y", "z"], ",")
    made = filled_record(out.getvalue().encode(), header, {"y": value}, None).decode()
    assert made.endswith("\r\n")
    assert next(csv.reader(io.StringIO(made, newline=""))) == [values[0], value, values[2]]


def test_what_has_no_place() -> None:
    assert csv_text([1], None) is csv_text({}, None) is csv_text("…", "latin-1") is None
    assert csv_text(True, None) == "true"
    assert json_value({"x": float("nan")}) is json_value(b"bytes") is json_value({1, 2}) is None
    assert table_value("12", pa.int16()) == 12
    assert table_value("x", pa.int16()) is table_value(70_000, pa.int16()) is None
    assert table_value("a", pa.dictionary(pa.int8(), pa.string())) == "a"


@pytest.mark.parametrize("type_", [pa.string_view(), pa.string(), pa.timestamp("ns")])
def test_tables_of_any_type(type_: pa.DataType) -> None:
    value: Any = 5 if pa.types.is_timestamp(type_) else "x"
    column = pa.chunked_array([pa.array([value], type_), pa.array([None, value], type_)])
    made = replaced(pa.table({"a": column}), {1: {"a": value}})["a"]
    assert made.type == type_
    assert made.combine_chunks().equals(pa.array([value] * 3, type_))
