"""Hugging Face datasets and DuckDB relations, where they are installed."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.documents import Collection, Columns, collect
from neardup.documents.lists import ListSource, SpooledRows
from neardup.errors import ColumnError

WORDS = "one two three four five six seven eight nine ten"
ROWS = [
    {"id": 3, "text": WORDS, "more": [1]},
    {"id": 1, "text": 'say "hi",\n\0😀', "more": None},
    {"id": 2, "text": WORDS + "!", "more": []},
    {"id": 4, "text": None, "more": []},
]


def test_dataset_gives_a_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS).select([1, 2, 0, 3])  # an order beside the table
    result = nd.dedup(rows)
    assert isinstance(result.kept, datasets.Dataset)
    assert result.kept.features == rows.features
    assert result.kept["id"][:] == [1, 2]
    assert collect(rows).texts("input", [2, 4]) == [WORDS + "!", ""]
    result.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "kept.parquet").column("id").to_pylist() == [1, 2]
    with pytest.raises(ColumnError, match="'body' is not in"):
        list(collect(rows).chunks(Columns("body")))


def test_splits_are_compared_with_each_other_and_stay_apart() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS)
    splits = datasets.DatasetDict(train=rows.select([0, 1]), test=rows.select([2]))
    kept = nd.dedup(splits).kept
    assert isinstance(kept, datasets.DatasetDict)
    assert {name: split["id"][:] for name, split in kept.items()} == {"train": [3, 1], "test": []}
    annotated = nd.dedup(splits).annotated
    assert isinstance(annotated, datasets.DatasetDict)
    assert annotated["test"]["kept_id"][:] == ["3"]
    flowing = datasets.IterableDatasetDict(
        {name: split.to_iterable_dataset() for name, split in splits.items()}
    )
    assert nd.dedup(flowing).kept == {"train": ROWS[:2], "test": []}


def test_a_stream_is_filtered_by_an_index() -> None:
    """Row by row, as a streaming dataset is used."""
    datasets = pytest.importorskip("datasets")
    stream = datasets.Dataset.from_list(ROWS[:3]).to_iterable_dataset()
    with nd.Index.open("memory:", method="exact") as index:
        kept = stream.filter(lambda row: index.add(row) is None)
        assert [row["id"] for row in kept] == [3, 1]


def test_iterable_dataset_gives_a_list() -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_list(ROWS).to_iterable_dataset()
    assert nd.dedup(rows).kept == ROWS[:2]


def test_iterable_dataset_is_not_held_in_memory(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    source = collect(datasets.Dataset.from_list(ROWS).to_iterable_dataset()).sources[0]
    assert isinstance(source, ListSource)
    assert isinstance(source.items, SpooledRows)
    nd.dedup(Collection([source])).save(tmp_path / "out")
    lines = (tmp_path / "out" / "kept.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == ROWS[:2]


def test_spooled_rows_are_on_disk() -> None:
    tracemalloc.start()
    spooled = SpooledRows({"text": f"{i} " * 100_000} for i in range(200))
    assert sum(len(row["text"]) for row in spooled) > 40_000_000
    assert tracemalloc.get_traced_memory()[1] < 8_000_000
    tracemalloc.stop()
    path = spooled._path
    assert path.exists()
    del spooled
    assert not path.exists()


@given(st.lists(st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.binary())))
def test_spooled_rows_are_a_list(rows: list[Any]) -> None:
    spooled = SpooledRows(iter(rows))
    assert list(spooled) == rows
    assert len(spooled) == len(rows)
    assert spooled[1:3] == rows[1:3]
    assert spooled[::-2] == rows[::-2]
    assert [spooled[-i - 1] for i in range(len(rows))] == rows[::-1]
    with pytest.raises(IndexError):
        spooled[len(rows)]


def test_duckdb_relation_gives_a_table() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select * from (values (1, 'a'), (2, 'b')) t(id, text) order by id")
    kept = collect(relation).kept(np.array([False, True]))
    assert kept.to_pylist() == [{"id": 2, "text": "b"}]
    assert duckdb.from_arrow(kept).fetchall() == [(2, "b")]
