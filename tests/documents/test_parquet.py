"""Parquet files: needed columns in, whole rows out with the schema they had."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.documents import Collection, Columns, collect, parquet
from neardup.documents.parquet import ParquetSource
from neardup.errors import ColumnError, InputError, UsageError


def file_of(tmp_path: Path, table: pa.Table, name: str = "a.parquet", **options: object) -> Path:
    pq.write_table(table, tmp_path / name, **options)
    return tmp_path / name


def records(collection: Collection, columns: Columns | None = None) -> pa.Table:
    return pa.Table.from_batches([c.read().records for c in collection.chunks(columns)])


TYPES = [
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.dictionary(pa.int32(), pa.string()),
]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_every_kind_of_text_column(tmp_path: Path, type_: pa.DataType) -> None:
    texts = pa.array(["é", "b", "é", None]).cast(pa.string())
    column = texts.dictionary_encode() if pa.types.is_dictionary(type_) else texts.cast(type_)
    path = file_of(tmp_path, pa.table({"text": column, "id": [1, 2, None, 4]}))
    collection = collect(path)
    (chunk,) = collection.chunks()
    batch = chunk.read()
    assert batch.records.to_pydict() == {
        "row": [1, 2, 3],
        "id": ["1", "2", f"{path}:3"],
        "text": ["é", "b", "é"],
    }
    assert [(r.row, r.id, r.reason) for r in batch.rejected] == [(4, "4", "text is null")]
    assert collection.texts(str(path), [3, 2]) == ["é", "b"]


@pytest.mark.parametrize("as_string", [False, True])
def test_invalid_utf8_is_rejected(tmp_path: Path, as_string: bool) -> None:
    column = pa.array([b"ok", b"a\xffb"], pa.binary())
    column = column.cast(pa.string(), safe=False) if as_string else column
    pa.Array.validate(column)
    path = file_of(tmp_path, pa.table({"text": column}))
    (chunk,) = collect(path).chunks()
    batch = chunk.read()
    assert batch.records.column("text").to_pylist() == ["ok"]
    assert [r.reason for r in batch.rejected] == ["text is not valid UTF-8 at byte 2"]


def test_schema_metadata_and_codec_come_back(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False, metadata={"unit": "n"}),
            pa.field("text", pa.large_string()),
            pa.field("kind", pa.dictionary(pa.int32(), pa.string())),
            pa.field("tags", pa.list_(pa.struct([("a", pa.int8())]))),
            pa.field("at", pa.timestamp("us", "UTC")),
        ],
        metadata={"huggingface": "{}"},
    )
    rows = [
        {"id": i, "text": str(i), "kind": "ab"[i % 2], "tags": [{"a": i % 9}], "at": i}
        for i in range(100)
    ]
    table = pa.Table.from_pylist(rows, schema)
    path = file_of(tmp_path, table, row_group_size=7, compression="gzip")
    keep = np.arange(100) % 3 == 0
    collection = Collection([ParquetSource(path, "f", chunk_rows=5)])
    (kept,) = collection.write_kept(keep, tmp_path / "out")
    back = pq.ParquetFile(kept)
    assert back.schema_arrow.equals(pq.read_schema(path), check_metadata=True)
    assert back.read().equals(table.filter(pa.array(keep)))
    assert back.metadata.row_group(0).column(0).compression == "GZIP"
    assert back.metadata.num_row_groups == 1
    assert collection.kept(keep).equals(
        pq.read_table(path).filter(pa.array(keep)), check_metadata=True
    )


def test_chunk_size_does_not_matter(tmp_path: Path) -> None:
    table = pa.table({"text": [str(i) for i in range(50)], "when": list(range(50))})
    path = file_of(tmp_path, table, row_group_size=9)
    columns = Columns(extra=("when",))
    small = records(Collection([ParquetSource(path, "f", chunk_rows=4)]), columns)
    assert small.equals(records(Collection([ParquetSource(path, "f")]), columns))
    assert small.column("when").type == pa.int64()
    assert small.column("id").to_pylist()[-1] == "f:50"


def test_unlike_schemas_are_unified(tmp_path: Path) -> None:
    a = file_of(tmp_path, pa.table({"text": ["a"], "n": pa.array([1], pa.int32())}), "a.parquet")
    schema = pa.schema(
        [pa.field("m", pa.string(), nullable=False), ("n", pa.int64()), ("text", pa.string())]
    )
    b = file_of(
        tmp_path, pa.Table.from_pylist([{"m": "x", "n": 2, "text": "b"}], schema), "b.parquet"
    )
    collection = collect([a, b])
    collection.check_kept(one_file=True)
    (kept,) = collection.write_kept(np.array([True, True]), tmp_path / "out", one_file=True)
    expected = {"text": ["a", "b"], "n": [1, 2], "m": [None, "x"]}
    assert pq.read_table(kept).to_pydict() == expected
    assert collection.kept(np.array([True, True])).to_pydict() == expected


def test_schemas_that_clash_name_files_and_field(tmp_path: Path) -> None:
    a = file_of(tmp_path, pa.table({"text": ["a"], "n": [1]}), "a.parquet")
    b = file_of(tmp_path, pa.table({"text": ["b"], "n": [[1]]}), "b.parquet")
    with pytest.raises(
        InputError, match=r"a\.parquet and .*b\.parquet .* column 'n' has the types"
    ):
        collect([a, b]).check_kept(one_file=True)


def test_wrong_columns(tmp_path: Path) -> None:
    path = file_of(tmp_path, pa.table({"txt": ["a"], "n": [1], "b": [True]}))
    with pytest.raises(
        ColumnError, match=r"'text' is not in .* it has 'txt', 'n', 'b'.*did you mean 'txt'"
    ):
        records(collect(path))
    with pytest.raises(ColumnError, match="has the type int64; expected strings"):
        records(collect(path), Columns(text="n"))
    with pytest.raises(ColumnError, match="has the type bool; expected strings or numbers"):
        records(collect(path), Columns(text="txt", id="b"))


def test_broken_file_and_stream_output(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    with pytest.raises(InputError, match=r"Cannot read .*x\.parquet"):
        collect(tmp_path / "x.parquet")
    path = file_of(tmp_path, pa.table({"text": ["a"]}))
    with pytest.raises(UsageError, match="only lines"):
        collect(path).write_kept_to(np.array([True]), None)  # type: ignore[arg-type]


def test_no_rows(tmp_path: Path) -> None:
    path = file_of(tmp_path, pa.table({"text": pa.array([], pa.string())}))
    collection = collect(path)
    assert list(collection.chunks()) == []
    (kept,) = collection.write_kept(np.zeros(0, bool), tmp_path / "out")
    assert pq.read_table(kept).num_rows == 0


def test_formats_may_alternate(tmp_path: Path) -> None:
    a = file_of(tmp_path, pa.table({"text": ["a", "b"]}), "a.parquet")
    lines = tmp_path / "b.jsonl"
    lines.write_bytes(b'{"text":"c"}\n{"text":"d"}\n')
    c = file_of(tmp_path, pa.table({"text": ["e"]}), "c.parquet")
    keep = np.array([0, 1, 1, 0, 1], bool)
    out = collect([a, lines, c]).write_kept(keep, tmp_path / "out", one_file=True)
    assert [path.name for path in out] == ["kept.parquet", "kept.jsonl"]
    assert pq.read_table(out[0]).column("text").to_pylist() == ["b", "e"]
    assert out[1].read_bytes() == b'{"text":"c"}\n'


def test_the_work_is_linear_in_the_row_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row groups are read one by one; each looks into its own dictionary only."""
    asked: list[pa.Array] = []
    monkeypatch.setattr(parquet, "LARGE_BATCH", 1)
    monkeypatch.setattr(parquet, "longest_entry", lambda column: asked.append(column) or 0)
    path = file_of(tmp_path, pa.table({"text": ["a"] * 40}), row_group_size=1)
    assert ParquetSource(path, str(path)).trial(np.inf).share == 1
    assert len(asked) == 40
