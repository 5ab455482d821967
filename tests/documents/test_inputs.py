"""Several inputs in one run: their names, the column ``source``, kept documents by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from cli.sample import Run, run
from neardup.documents import collect
from neardup.errors import ColumnError, InputError, SettingsError

__all__ = ["run"]  # a fixture
TEXT = " ".join(f"word{i}" for i in range(30))
OTHER = " ".join(f"other{i}" for i in range(30))


def rows(name: str, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"{name}-{i}", "text": text, **more} for i, text in enumerate((TEXT, OTHER))]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The same two documents in every form."""
    table = pa.Table.from_pylist(rows("q"))
    paths = {name: tmp_path / name for name in ("j.jsonl", "c.csv", "q.parquet", "a.arrow", "f")}
    paths["j.jsonl"].write_text("".join(json.dumps(row) + "\n" for row in rows("j")))
    paths["c.csv"].write_text(
        "id,text\n" + "".join(f"c-{i},{t}\n" for i, t in ((0, TEXT), (1, OTHER)))
    )
    pq.write_table(table, paths["q.parquet"])
    with pa.ipc.new_file(paths["a.arrow"], table.schema) as out:
        out.write_table(pa.Table.from_pylist(rows("a")))
    paths["f"].mkdir()
    for i, text in enumerate((TEXT, OTHER)):
        (paths["f"] / f"f-{i}.txt").write_text(text)
    return paths


def kept_sources(result: nd.Result) -> list[str]:
    decided = result.decisions.to_pylist()
    return [row["source"] for row in decided if row["decision"] == "kept"]


@pytest.mark.parametrize("first", ["j", "c", "q", "a", "f"])
def test_every_form_has_a_source(files: dict[str, Path], first: str) -> None:
    result = nd.dedup(list(files.values()), keep=f"source:{first}")
    assert result.decisions["source"].to_pylist() == [n for n in "jcqaf" for _ in range(2)]
    assert kept_sources(result) == [first, first]
    apart = nd.dedup(list(files.values()), within="source")
    assert apart.counts.duplicates == 0
    assert apart.rethreshold(0.9).decisions["source"].equals(apart.decisions["source"])


def test_a_dict_names_inputs_of_any_kind(files: dict[str, Path], tmp_path: Path) -> None:
    named = {
        "wire": files["j.jsonl"],
        "archive": pd.DataFrame(rows("p")),
        "texts": [TEXT, OTHER],
        "shelf": str(files["q.parquet"]),
        "polars": pl.DataFrame(rows("l")),
        "both": [files["c.csv"], files["f"]],
    }
    result = nd.dedup(named, keep="source:polars")
    assert kept_sources(result) == ["polars", "polars"]
    assert list(result.kept) == list(named)
    assert isinstance(result.kept["archive"], pd.DataFrame)
    assert result.kept["polars"].equals(named["polars"])
    assert result.kept["texts"] == []
    assert [result.kept[name].num_rows for name in ("wire", "shelf", "both")] == [0, 0, 0]
    assert result.decisions["file"].to_pylist()[2:6] == ["archive"] * 2 + ["texts"] * 2
    assert result.explain("texts:1").kept_id == "l-0"
    result.save(tmp_path / "out")
    kept = pq.read_table(tmp_path / "out" / "kept.parquet")
    assert kept["id"].to_pylist() == ["l-0", "l-1"]


def test_tables_beside_parquet_files(files: dict[str, Path], tmp_path: Path) -> None:
    named = {"frame": pd.DataFrame(rows("p", n=1)), "file": files["q.parquet"]}
    for either in (named, dict(reversed(named.items()))):
        folder = tmp_path / next(iter(either))
        nd.dedup(either, within="source").save(folder)
        kept = pq.read_table(folder / "kept.parquet").sort_by("id")
        assert kept["id"].to_pylist() == ["p-0", "p-1", "q-0", "q-1"]
        assert kept["n"].to_pylist() == [1, 1, None, None]
    nd.dedup(named).save(tmp_path / "all", annotate=True)
    assert pq.read_table(tmp_path / "all" / "annotated.parquet").num_rows == 4


def test_a_run_of_named_files_is_read_back(files: dict[str, Path], tmp_path: Path) -> None:
    named = {"one": files["j.jsonl"], "two": [files["q.parquet"], files["c.csv"]]}
    result = nd.dedup(named, keep="source:two")
    result.save(tmp_path / "out")
    again = nd.Result.load(tmp_path / "out")
    assert again.decisions.equals(result.decisions)
    assert again.kept == result.kept
    assert [entry["source"] for entry in again.info["inputs"]] == ["one", "two", "two"]


def test_own_values_win(tmp_path: Path) -> None:
    (tmp_path / "j.jsonl").write_text(
        json.dumps({"text": TEXT, "source": "own"}) + "\n" + json.dumps({"text": OTHER}) + "\n"
    )
    tables = {
        "numbers": pa.table({"text": [TEXT, OTHER], "source": [7, None]}),
        "words": pa.table(
            {"text": [TEXT, OTHER], "source": pa.array(["own", None]).dictionary_encode()}
        ),
        "dicts": [{"text": TEXT, "source": "own"}, {"text": OTHER, "source": None}],
        "lines": tmp_path / "j.jsonl",
    }
    none = nd.dedup({**tables, "none": [{"text": TEXT, "source": None}]}, within="source")
    assert none.decisions["decision"].to_pylist()[-1] == "kept"
    own = nd.dedup(tables, within="source")
    assert own.decisions["decision"].to_pylist() == [
        *("kept", "kept"), *("kept", "duplicate"), *["duplicate", "duplicate"] * 2,
    ]  # fmt: skip
    assert nd.dedup(tables, keep="source:7").decisions["decision"].to_pylist()[0] == "kept"


def test_names_from_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ("a/part.jsonl", "b/part.jsonl.gz", "v1.2/x.txt", "news.2024.jsonl.xz", "c.jsonl")
    for name in names[:1] + names[2:3] + names[4:]:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(json.dumps({"text": name}) + "\n")
    Path("d").mkdir()
    Path("d/part.jsonl").write_text("")
    several = collect(
        [Path(n) for n in ("a/part.jsonl", "d/part.jsonl", "v1.2", "c.jsonl", "*/p*")]
    )
    assert several.inputs.names == ("a/part.jsonl", "d/part.jsonl", "v1.2", "c")
    assert collect("*/*.jsonl").inputs.names == ("*/*.jsonl", "*/*.jsonl")
    assert not collect("*/*.jsonl").inputs.offered


def test_one_input_without_a_name_has_no_source(files: dict[str, Path]) -> None:
    with pytest.raises(ColumnError, match="'source' is not in"):
        nd.dedup(files["j.jsonl"], keep="source:a")
    with pytest.raises(ColumnError, match="'source' is not in"):
        nd.dedup(rows("a"), within="source")
    assert set(nd.dedup(files["j.jsonl"]).decisions["source"].to_pylist()) == {"j"}
    assert set(nd.dedup(rows("a")).decisions["source"].to_pylist()) == {"input"}


def test_what_cannot_be_named(files: dict[str, Path]) -> None:
    for mistaken in ({"id": "1", "text": TEXT}, {"text": [TEXT]}, {1: [TEXT]}):
        with pytest.raises(InputError, match="a dict names inputs"):
            nd.dedup(mistaken)
    assert nd.dedup({}).kept == {}
    twice = {"a": files["j.jsonl"], "b": files["j.jsonl"]}
    with pytest.raises(InputError, match="given twice, as 'a' and as 'b'"):
        nd.dedup(twice)
    with pytest.raises(SettingsError, match="prefers 'x', but the inputs are 'a', 'b'"):
        nd.dedup({"a": files["j.jsonl"], "b": [TEXT]}, keep="source:x")
    with pytest.raises(InputError, match="Two inputs are called"):
        nd.dedup({str(files["j.jsonl"]): [TEXT], "b": files["j.jsonl"]})


def test_references_need_no_source(files: dict[str, Path]) -> None:
    named = {"a": files["j.jsonl"], "b": files["c.csv"]}
    references = [files["q.parquet"]]
    assert nd.dedup(named, keep="source:b", against=references).counts.duplicates == 4
    with pytest.raises(ColumnError, match=r"'source' is not in .*q\.parquet"):
        nd.dedup(named, within="source", against=references)


def test_command(run: Run, files: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run(
        *("dedup", files["j.jsonl"], files["f"], "-o", out, "--keep", "source:best,j"),
        *("--source", f"best={files['c.csv']}", "--source", f"rest={tmp_path}/*.parquet"),
    )
    assert done.exit_code == 0, done.output
    result = nd.Result.load(out)
    assert result.decisions["source"].to_pylist() == [
        n for n in ("j", "f", "best", "rest") for _ in range(2)
    ]
    assert kept_sources(result) == ["best", "best"]
    explicit = run(
        "find", files["j.jsonl"], "--source", f"x={files['j.jsonl']}", "-o", tmp_path / "x"
    )
    assert explicit.exit_code == 0, explicit.output
    assert set(nd.Result.load(tmp_path / "x").decisions["source"].to_pylist()) == {"x"}
    wrong = run("dedup", "--source", "x", "-o", out).stderr
    assert "expected NAME=INPUT" in wrong
    assert "--keep x:a,b" in wrong
    wrong = run("clean", "--source", "x=a.jsonl", "-o", out, "b.jsonl").stderr
    assert "here it takes the column" in wrong
    assert "Missing argument" in run("dedup", "-o", tmp_path / "new").stderr
    estimate = run("dedup", files["j.jsonl"], files["q.parquet"], "--dry-run", "--json",
                   "--keep", "source:q")  # fmt: skip
    assert json.loads(estimate.stdout)["documents"] == 4


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=8), st.permutations("abc"))
def test_the_column_is_as_good_as_the_names(sources: list[str], order: list[str]) -> None:
    """Documents with their own column, or apart under names: the same are kept."""
    documents = [{"id": f"{i}", "text": TEXT, "source": s} for i, s in enumerate(sources)]
    keep = "source:" + ",".join(order)
    whole = nd.dedup(documents, keep=keep)
    apart = {
        name: [{"id": d["id"], "text": TEXT} for d in documents if d["source"] == name]
        for name in dict.fromkeys(sources)
    }
    kept = nd.dedup(apart, keep=keep).kept
    assert [d["id"] for some in kept.values() for d in some] == [d["id"] for d in whole.kept]


def test_a_named_input_that_cannot_be_read(files: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 and no more")
    inputs = {"bad": tmp_path / "bad.parquet", "good": files["j.jsonl"]}
    result = nd.dedup(inputs, keep="source:bad,good", within="source")
    lost = result.decisions.to_pylist()[0]
    assert (lost["source"], lost["row"], lost["decision"]) == ("bad", 1, "rejected")
    assert (result.kept["bad"].num_rows, result.kept["good"].num_rows) == (0, 2)
    result.save(tmp_path / "out")
    again = nd.Result.load(tmp_path / "out")
    assert list(again.kept) == ["bad", "good"]
    assert again.kept["good"].equals(result.kept["good"])
    with pytest.raises(InputError, match="Cannot read"):
        nd.dedup({"bad": inputs["bad"]})
    with pytest.raises(InputError, match="Cannot read"):
        nd.dedup(files["j.jsonl"], against=[f"{tmp_path}/*.parquet"])
