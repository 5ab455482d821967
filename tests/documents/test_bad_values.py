"""One bad value costs its row, not the run."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import neardup as nd
from neardup.cli import main

TEXTS = [f"the text of document {n}, which has {n * 13} words of its own" for n in range(4)]
IDS = [f"d{n}" for n in range(4)]


def rejected(result: nd.Result) -> dict[int, str]:
    rows = result.decisions.to_pylist()
    return {row["row"]: row["reason"] for row in rows if row["decision"] == "rejected"}


def broken_strings() -> pa.Array:
    """Strings of which the third is no UTF-8: Parquet and Arrow files may hold such."""
    data = pa.array([b"2024-01-01", b"2024-01-02", b"2024-\xff-03", b"2024-01-04"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 4, data.buffers())


def broken_dictionary(dictionary: pa.Array) -> pa.Array:
    indices = pa.array(np.array([0, 1, 99, 1], np.int32))
    return pa.DictionaryArray.from_arrays(indices, dictionary, safe=False)


@pytest.mark.parametrize("form", ["parquet", "arrow", "memory"])
def test_a_date_that_is_no_text(form: str, tmp_path: Path) -> None:
    table = pa.table({"id": IDS, "text": TEXTS, "date": broken_strings()})
    result = nd.dedup(written(table, form, tmp_path), date="date", keep="newest")
    assert rejected(result) == {3: "date is not valid UTF-8 at byte 6"}
    assert result.counts.kept == 3


@pytest.mark.parametrize("form", ["arrow", "memory"])
@pytest.mark.parametrize("column", ["text", "id", "date"])
def test_an_entry_that_a_dictionary_does_not_have(form: str, column: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"id": IDS, "text": TEXTS, "date": ["2024-01-01"] * 4}
    columns[column] = broken_dictionary(pa.array(["2024-01-01", "2024-01-02"]))
    given = written(pa.table(columns), form, tmp_path)
    result = nd.dedup(given, date="date", keep="newest")
    reasons = rejected(result)
    assert reasons[3] == f"{column} has entry 99 of a dictionary of 2"
    assert result.counts.documents == 4
    assert form == "memory" or result.save(tmp_path / "out")


def written(table: pa.Table, form: str, folder: Path) -> Any:
    path = folder / f"a.{form}"
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "arrow":
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as out:
            out.write_table(table)
    else:
        return table
    return path


@pytest.mark.parametrize("command", ["group", "evaluate"])
def test_deeply_nested_json_is_refused_with_a_sentence(command: str, tmp_path: Path) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    lines = [f'{{"id": "{id_}", "text": "one two three {id_}"}}\n' for id_ in "abc"]
    documents, pairs = tmp_path / "documents.jsonl", tmp_path / "pairs.jsonl"
    documents.write_text("".join(lines) + f'{{"id": "d", "text": "x", "more": {deep}}}\n')
    pairs.write_text(f'{{"a": "a", "b": "b", "label": {deep}}}\n')
    arguments = {"group": [], "evaluate": ["--pairs", str(pairs)]}[command]
    done = CliRunner().invoke(main, [command, str(documents), *arguments])
    assert done.exit_code == 1
    assert "unexpected" not in done.stderr
    assert "Hint:" in done.stderr


def damaged_column(path: Path, group: int, column: str) -> None:
    """A page of one column of a row group that cannot be unpacked."""
    index = pq.read_metadata(path).row_group(group)
    names = [index.column(i).path_in_schema for i in range(index.num_columns)]
    chunk = index.column(names.index(column))
    data = bytearray(path.read_bytes())
    middle = chunk.data_page_offset + chunk.total_compressed_size // 2
    data[middle : middle + 40] = bytes(40)
    path.write_bytes(data)


@pytest.mark.parametrize("target", ["out", "kept.parquet"])
def test_a_damaged_page_of_a_column_that_is_not_compared(target: str, tmp_path: Path) -> None:
    path, out = tmp_path / "a.parquet", tmp_path / target
    choose = random.Random(5)
    rows = [" ".join(choose.choices([f"word{n}" for n in range(999)], k=30)) for _ in range(240)]
    other = pa.array([f"{n * 7919 % 1000003} {n * 104729 % 1000003}" for n in range(len(rows))])
    table = pa.table({"id": [str(n) for n in range(len(rows))], "text": rows, "other": other})
    pq.write_table(table, path, row_group_size=100, compression="zstd", use_dictionary=False)
    damaged_column(path, 1, "other")
    done = CliRunner().invoke(main, ["dedup", str(path), "-o", str(out)])
    assert done.exit_code == 1
    assert "rows 101 to 200 were written without a value of 'other'" in done.stderr
    kept = pq.read_table(out / "kept.parquet" if target == "out" else out)
    places = [int(i) for i in kept["id"].to_pylist()]
    assert places
    assert kept["text"].to_pylist() == [rows[i] for i in places]
    expected = [None if 100 <= i < 200 else other[i].as_py() for i in places]
    assert kept["other"].to_pylist() == expected
    if target == "out":
        result = nd.Result.load(out)
        assert result.counts.kept == len(places)
        assert result.counts.documents == len(rows)
