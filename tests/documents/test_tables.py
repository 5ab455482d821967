"""Objects in memory: read through their own library, given back in their own type."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.documents import Collection, Columns, DocumentBatch, collect
from neardup.documents.memory_tables import pandas_source
from neardup.errors import ColumnError, InputError

ROWS = [{"id": f"d{i}", "text": f"text {i}", "n": i} for i in range(5)]
KEEP = np.array([True, False, True, True, False])


class Capsule:
    """Nothing but the protocol."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def read(given: Any, columns: Columns | None = None) -> DocumentBatch:
    (chunk,) = collect(given).chunks(columns)
    return chunk.read()


MAKERS = {
    "pandas": lambda: pd.DataFrame(ROWS, index=[f"i{i}" for i in range(5)]),
    "polars": lambda: pl.DataFrame(ROWS),
    "table": lambda: pa.Table.from_pylist(ROWS),
    "batch": lambda: pa.RecordBatch.from_pylist(ROWS),
    "capsule": lambda: Capsule(pa.Table.from_pylist(ROWS)),
    "reader": lambda: pa.Table.from_pylist(ROWS).to_reader(),
    "dicts": lambda: ROWS,
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_kind_gives_the_same_documents(name: str) -> None:
    batch = read(MAKERS[name](), Columns(extra=("n",)))
    assert batch.records.column("id").to_pylist() == [row["id"] for row in ROWS]
    assert batch.records.column("text").to_pylist() == [row["text"] for row in ROWS]
    assert batch.records.column("row").to_pylist() == [1, 2, 3, 4, 5]
    assert [int(n) for n in batch.records.column("n").to_pylist()] == [0, 1, 2, 3, 4]
    assert collect(MAKERS[name]()).texts("input", [5, 1]) == ["text 4", "text 0"]


@pytest.mark.parametrize("name", MAKERS)
def test_kept_is_of_the_type_that_came_in(name: str, tmp_path: Path) -> None:
    given = MAKERS[name]()
    collection = collect(given)
    kept = collection.kept(KEEP)
    assert isinstance(kept, pa.Table if name in ("capsule", "reader") else type(given))
    plain = {"pandas": lambda: kept.to_dict("records"), "polars": lambda: kept.to_dicts()}
    rows = plain[name]() if name in plain else kept if name == "dicts" else kept.to_pylist()
    assert rows == [ROWS[0], ROWS[2], ROWS[3]]
    (path,) = collection.write_kept(KEEP, tmp_path)
    if name == "dicts":
        assert [json.loads(line) for line in path.read_text().splitlines()] == rows
    else:
        assert pq.read_table(path).select(["id", "text", "n"]).to_pylist() == rows


def test_pandas_keeps_index_and_dtypes() -> None:
    frame = pd.DataFrame(
        {"text": ["a", None, "c"], "k": pd.Categorical(["x", "y", "x"])}, index=[7, 7, 9]
    )
    frame["t"] = pd.to_datetime(["2020-01-01"] * 3)
    kept = collect(frame).kept(np.array([True, False, True]))
    pd.testing.assert_frame_equal(kept, frame.iloc[[0, 2]])
    batch = read(frame)
    assert [(r.row, r.reason, r.id) for r in batch.rejected] == [(2, "text is null", "input:2")]


def test_pandas_objects_of_many_kinds() -> None:
    texts = ["a", 5, None, float("nan"), b"b\xff", "\ud800", ["x"], pd.NA]
    ids = [1, 2.5, True, None, "e", "f", "g", "h"]
    batch = read(
        pd.DataFrame({"text": pd.Series(texts, dtype=object), "id": pd.Series(ids, dtype=object)})
    )
    assert batch.records.to_pylist() == [{"row": 1, "id": "1", "text": "a"}]
    assert [(r.id, r.reason) for r in batch.rejected] == [
        ("2.5", "text is a number; expected a string"),
        (None, "id is true; expected a string or a number"),
        ("input:4", "text is null"),
        ("e", "text is not valid UTF-8 at byte 2"),
        ("f", "text has a lone surrogate at character 1"),
        ("g", "text is an array; expected a string"),
        ("h", "text is null"),
    ]


def test_extra_columns_have_one_type_over_all_chunks() -> None:
    source = pandas_source(pd.DataFrame({"text": ["a"] * 4, "d": [1, 2, "x", None]}))
    small = Collection([replace(source, chunk_rows=2)])
    batches = [chunk.read().records for chunk in small.chunks(Columns(extra=("d",)))]
    assert pa.Table.from_batches(batches).column("d").to_pylist() == ["1", "2", "x", None]
    columns = Columns(id="text", extra=("text",))
    assert next(small.chunks(columns)).read().records.column("id").to_pylist() == ["a", "a"]


def test_ids_of_many_types() -> None:
    uuid = "12345678-1234-5678-1234-567812345678"
    ids = {
        "1": pa.array([1.0]),
        "2020-01-01": pa.array([date(2020, 1, 1)]),
        "ab": pa.array([b"ab"], pa.binary(2)),
        uuid: pa.array([UUID(uuid).bytes], pa.uuid()),
        "input:1": pa.array([None]),
    }
    for expected, column in ids.items():
        batch = read(pa.table({"text": ["a"], "id": column}))
        assert batch.records.column("id").to_pylist() == [expected]


def test_lists_of_texts(tmp_path: Path) -> None:
    texts = ["a", "b\u2028", None, 3, "\ud800"]
    batch = read(texts)
    assert batch.records.column("id").to_pylist() == ["input:1", "input:2"]
    assert [r.reason for r in batch.rejected] == [
        "text is null",
        "text is a number; expected a string",
        "text has a lone surrogate at character 1",
    ]
    collection = collect(texts)
    assert collection.kept(np.array([0, 1, 0, 0, 1], bool)) == ["b\u2028", "\ud800"]
    (path,) = collection.write_kept(np.array([0, 1, 0, 0, 1], bool), tmp_path)
    assert [json.loads(line)["text"] for line in path.read_bytes().splitlines()] == [
        "b\u2028",
        "\ud800",
    ]
    with pytest.raises(ColumnError, match="'body' is not in a list of texts; it has 'text'"):
        read(texts, Columns(text="body"))


def test_lists_of_dicts() -> None:
    items = [
        {"text": "a", "id": 1, "d": 1.5},
        {"text": "b", "d": "x"},
        {"id": "c"},
        "d",
        {"text": "e", "id": []},
    ]
    batch = read(items, Columns(extra=("d",)))
    assert batch.records.to_pylist() == [
        {"row": 1, "id": "1", "text": "a", "d": "1.5"},
        {"row": 2, "id": "input:2", "text": "b", "d": "x"},
    ]
    assert [(r.row, r.id, r.reason) for r in batch.rejected] == [
        (3, "c", "text is missing"),
        (4, None, "document is a string; expected a dict"),
        (5, None, "id is an array; expected a string or a number"),
    ]
    with pytest.raises(
        ColumnError, match=r"'date' is not in the list of dicts; it has 'text', 'id', 'd'"
    ):
        read(items, Columns(extra=("date",)))


def test_empty_inputs() -> None:
    assert list(collect([]).chunks()) == []
    assert collect([]).kept(np.zeros(0, bool)) == []
    assert list(collect(pa.table({"text": pa.array([], pa.string())})).chunks()) == []
    with pytest.raises(ColumnError, match="it has no columns"):
        list(collect(pl.DataFrame()).chunks())


def test_chunked_tables_and_many_rows() -> None:
    table = pa.concat_tables([pa.table({"text": [str(i) for i in range(7_000)]})] * 3)
    batches = [chunk.read() for chunk in collect(table).chunks()]
    assert [batch.rows for batch in batches] == [10_000, 10_000, 1_000]
    assert batches[2].records.column("id")[0].as_py() == "input:20001"
    assert batches[1].records.column("text")[0].as_py() == "3000"


@pytest.mark.parametrize("given", [5, None, {"text": ["a"]}, pl.LazyFrame({"text": ["a"]})])
def test_what_cannot_be_read(given: object) -> None:
    with pytest.raises(InputError, match="Cannot read a"):
        collect(given)
    with pytest.raises(InputError, match="mixes Path objects"):
        collect(["a", Path("b")])


def test_only_what_is_used_is_imported() -> None:
    # Only up to the first batch: where pandas is installed, pyarrow itself imports it.
    code = (
        "import sys, neardup.documents as d; assert 'pyarrow' not in sys.modules; "
        "c = d.collect(['a']); "
        "assert not {'pandas', 'polars'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
