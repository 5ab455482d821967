"""Hugging Face datasets and DuckDB relations, where they are installed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.documents import Columns, collect
from neardup.errors import ColumnError, InputError

WORDS = "one two three four five six seven eight nine ten"
ROWS = [
    {"id": 3, "text": WORDS, "more": [1]},
    {"id": 1, "text": 'say "hi",\n\0😀', "more": None},
    {"id": 2, "text": WORDS + "!", "more": []},
    {"id": 4, "text": None, "more": []},
]


def test_dataset_gives_a_dataset(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset.from_list(ROWS).select([1, 2, 0, 3])  # an order beside the table
    result = nd.dedup(given)
    assert isinstance(result.kept, datasets.Dataset)
    assert result.kept.features == given.features
    assert result.kept["id"][:] == [1, 2]
    assert collect(given).texts("input", [2, 4]) == [WORDS + "!", ""]
    result.save(tmp_path / "out")
    assert pq.read_table(tmp_path / "out" / "kept.parquet").column("id").to_pylist() == [1, 2]
    with pytest.raises(ColumnError, match="'body' is not in"):
        list(collect(given).chunks(Columns("body")))
    with pytest.raises(InputError, match="Cannot read a DatasetDict") as error:
        collect(datasets.DatasetDict(train=given))
    assert "split" in (error.value.hint or "")


def test_iterable_dataset_gives_a_list() -> None:
    datasets = pytest.importorskip("datasets")
    given = datasets.Dataset.from_list(ROWS).to_iterable_dataset()
    assert nd.dedup(given).kept == ROWS[:2]


def test_duckdb_relation_gives_a_table() -> None:
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select * from (values (1, 'a'), (2, 'b')) t(id, text) order by id")
    kept = collect(relation).kept(np.array([False, True]))
    assert kept.to_pylist() == [{"id": 2, "text": "b"}]
    assert duckdb.from_arrow(kept).fetchall() == [(2, "b")]
