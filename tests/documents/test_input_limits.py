"""Limits: what is too long or unpacks to too much is rejected with its place, the rest is read."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup as nd
from neardup.documents import open_files
from neardup.documents.open_files import Limits
from neardup.documents.parquet import ParquetSource
from neardup.plan import limits_of
from neardup.settings import Settings

GOOD = [{"id": f"g{n}", "text": f"document number {n} about {n * 7} things"} for n in range(3)]


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.jsonl"
    path.write_bytes(lines(*GOOD))
    return path


def rejected(result: nd.Result) -> list[tuple[int, str]]:
    rows = result.decisions.to_pylist()
    return [(row["row"], row["reason"]) for row in rows if row["decision"] == "rejected"]


def test_settings_and_reader_have_the_same_defaults() -> None:
    assert limits_of(Settings()) == Limits()


@pytest.mark.parametrize("chunk", [None, 1])
def test_a_long_line_is_one_rejected_row(tmp_path: Path, chunk: int | None) -> None:
    path, long = tmp_path / "a.jsonl", {"id": "long", "text": "x" * 2_500_000}
    path.write_bytes(lines(GOOD[0], long, GOOD[1], {**long, "id": "end"}) + lines(GOOD[2]))
    result = nd.dedup(path, max_document="1MB", workers=chunk)
    assert [row for row, _ in rejected(result)] == [2, 4]
    assert "line has 2.5 MB; the limit is 1 MB (max_document)" in rejected(result)[0][1]
    folder = result.save(tmp_path / "out")
    assert (folder / "kept.jsonl").read_bytes() == lines(*GOOD)
    assert nd.Result.load(folder).kept["id"].to_pylist() == ["g0", "g1", "g2"]


def test_a_line_at_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    row = lines({"id": "x", "text": ""})
    for over in (0, 1):
        text = "x" * (1_000_000 - len(row) + 1 + over)
        path.write_bytes(lines({"id": "x", "text": text}) + lines(*GOOD))
        assert nd.dedup(path, max_document=1_000_000).counts.rejected == over


def test_the_last_line_without_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(*GOOD) + b"x" * 3_000_000)
    assert [row for row, _ in rejected(nd.dedup(path, max_document="1MB"))] == [4]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_bomb_costs_only_itself(
    pack: Any, tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size above which the ratio counts is lowered, so that the test is quick."""
    monkeypatch.setattr(open_files, "FREE_BYTES", 1_000_000)
    path = tmp_path / f"bomb.jsonl.{'gz' if pack is gzip.compress else 'bz2'}"
    path.write_bytes(pack(lines(GOOD[0]) + b"\0" * 8_000_000 + b"\n" + lines(GOOD[1])))
    result = nd.dedup([path, good], max_ratio=100)
    ((row, reason),) = rejected(result)
    assert row == 2
    assert "unpacks to more than 100 times its size (max_ratio); the rest is lost" in reason
    assert result.counts.documents == 5
    result.save(tmp_path / "out")


def test_a_file_above_its_limit_is_read_up_to_there(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(
        gzip.compress(lines(*({"id": f"n{n}", "text": f"{n} " * 90} for n in range(9000))))
    )
    result = nd.dedup([path, good], max_file="1MB", method="exact")
    ((row, reason),) = rejected(result)
    assert 2000 < row < 9000
    assert "more than 1 MB (max_file)" in reason


def test_an_open_quote_costs_the_rest_of_its_file(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('id,text\na,one text\nb,"' + "line\n" * 600_000)
    result = nd.dedup([good, path], max_document="1MB")
    ((row, reason),) = rejected(result)
    assert row == 2
    assert "look for a quote that is not closed" in reason


def test_a_table_of_a_million_columns(tmp_path: Path, good: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",".join(f"c{n}" for n in range(1_000_000)) + "\n")
    ((_, reason),) = rejected(nd.dedup([good, path]))
    assert "its header has 1,000,000 columns; the limit is 100,000" in reason


def test_a_large_file_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "good.txt").write_text("a text of its own")
    with (tmp_path / "texts" / "sparse.txt").open("wb") as file:
        file.truncate(3_000_000_000)
    ((_, reason),) = rejected(nd.dedup(tmp_path / "texts"))
    assert reason == "file has 3 GB; the limit is 100 MB (max_document)"


def test_a_row_group_that_unpacks_to_too_much(
    tmp_path: Path, good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_files, "FREE_BYTES", 1_000_000)
    path = tmp_path / "bomb.parquet"
    table = pa.table({"id": ["a", "b"], "text": ["x" * 4_000_000, "y" * 4_000_000]})
    schema = table.schema
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as out:
        out.write_table(pa.table({"id": ["c"], "text": ["one short text"]}, schema=schema))
        out.write_table(table)
    result = nd.dedup([path, good], max_ratio=50)
    assert [row for row, _ in rejected(result)] == [2, 3]
    assert "row group 2: file unpacks to more than 50 times" in rejected(result)[0][1]
    assert result.counts.documents == 6


def test_a_long_value_that_a_dictionary_repeats(tmp_path: Path) -> None:
    """One megabyte, repeated by 2,000 rows of a few bytes each, is read a few rows at a time."""
    path = tmp_path / "a.parquet"
    entries = pa.array([0] * 2000, pa.int32())
    texts = pa.DictionaryArray.from_arrays(entries, ["x " * 1_000_000])
    pq.write_table(pa.table({"text": texts}), path, compression="zstd", store_schema=False)
    source = ParquetSource(path, path.as_posix())
    with source.opened() as parquet:
        assert source._batch_rows(parquet, [0]) < 300
    result = nd.dedup(path, method="exact")
    assert result.counts.documents == 2000
    assert result.counts.rejected > 1800
    assert "unpacks to more than 2,000 times its size" in rejected(result)[0][1]


def test_a_long_text_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["a", "b"], "text": ["x" * 2_000_000, "short text"]}), path)
    assert rejected(nd.dedup(path, max_document="1MB")) == [
        (1, "text has 2 MB; the limit is 1 MB (max_document)")
    ]
