"""idf: tables are built, merged, shown and compared; what is wrong is one sentence."""

from __future__ import annotations

import builtins
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cli.sample import DOCUMENTS, Run, jsonl
from neardup.artefacts.artefact import resolved
from neardup.artefacts.idf import IdfNeed, load_idf
from neardup.documents import collect
from neardup.text.text_options import Text


def parts(tmp_path: Path, cut: int = 2) -> tuple[Path, Path]:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    first.write_text(jsonl(DOCUMENTS[:cut]))
    second.write_text(jsonl(DOCUMENTS[cut:]))
    return first, second


def build(run: Run, documents: Path, *options: object) -> Path:
    out = documents.with_suffix(".idf")
    done = run("idf", "build", documents, "-o", out, "--quiet", "--overwrite", *options)
    assert done.exit_code == 0, done.output
    assert done.output == ""
    return out


@pytest.mark.parametrize("filter_", ["words", "alpha", "alnum+"])
def test_a_built_table_is_the_one_counted_on_the_fly(run: Run, docs: Path, filter_: str) -> None:
    path = build(run, docs, "--filter", filter_, "--set", "text.case=keep")
    need = IdfNeed(None, filter_, Text(case="keep"))
    (chunk,) = collect(docs).chunks()
    counted = resolved([need], chunk.read().records)["idf"]
    assert need.load(path).digest == counted.digest


def test_neither_threads_nor_format_change_the_table(run: Run, docs: Path, tmp_path: Path) -> None:
    texts = tmp_path / "docs.csv"
    texts.write_text("body\n" + "".join(f"{d['text']}\n" for d in DOCUMENTS))
    expected = load_idf(build(run, docs)).digest
    assert load_idf(build(run, docs, "--workers", 1)).digest == expected
    assert load_idf(build(run, texts, "--text", "body")).digest == expected


def test_merged_is_counted_together(run: Run, docs: Path, tmp_path: Path) -> None:
    tables = [build(run, part) for part in parts(tmp_path)]
    out = tmp_path / "all.idf"
    done = run("idf", "merge", *tables, "-o", out, "--json", "--quiet")
    assert json.loads(done.stdout)["documents"] == 5
    assert load_idf(out).digest == load_idf(build(run, docs)).digest


def test_rare_terms_are_cut_after_merging(run: Run, docs: Path, tmp_path: Path) -> None:
    tables = [build(run, part) for part in parts(tmp_path)]
    out = tmp_path / "all.idf"
    assert run("idf", "merge", *tables, "-o", out, "--min-count", 3).exit_code == 0
    table = load_idf(out)
    assert table.documents == 5
    assert table.counts.min() == 3  # "quick" is in 2 + 1 documents
    assert table.digest == load_idf(build(run, docs, "--min-count", 3)).digest
    assert "each in 3 documents or more" in run("idf", "show", out).stdout


def test_a_cut_table_is_not_merged(run: Run, docs: Path, tmp_path: Path) -> None:
    cut = build(run, docs, "--min-count", 2)
    done = run("idf", "merge", cut, "-o", tmp_path / "out.idf")
    assert done.exit_code == 1
    assert "without --min-count" in done.stderr


def test_unlike_tables_are_refused(run: Run, tmp_path: Path) -> None:
    first, second = parts(tmp_path)
    tables = build(run, first), build(run, second, "--filter", "alpha")
    for command in (("merge", *tables, "-o", tmp_path / "out.idf"), ("compare", *tables)):
        done = run("idf", *command)
        assert done.exit_code == 1
        assert "different terms" in done.stderr
    assert not (tmp_path / "out.idf").exists()


def test_rejected_documents_are_said_and_not_counted(run: Run, broken: Path) -> None:
    out = broken.with_suffix(".idf")
    done = run("idf", "build", broken, "-o", out, "--json")
    said = json.loads(done.stdout)
    assert (said["documents"], said["rejected"], len(said["rejected_shown"])) == (2, 4, 3)
    assert "4 documents were rejected and not counted." in done.stderr
    assert "… and 1 more" in done.stderr


def test_the_limit_counts_rejected_ones(run: Run, broken: Path) -> None:
    done = run("idf", "build", broken, "-o", broken.with_suffix(".idf"), "--limit", 3, "--json")
    said = json.loads(done.stdout)
    assert (said["documents"], said["rejected"]) == (2, 1)


@pytest.mark.parametrize("content", ["", "\n\n", "not json\n"])
def test_nothing_to_count(run: Run, tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text(content)
    done = run("idf", "build", path, "-o", tmp_path / "out.idf")
    assert done.exit_code == 1
    assert "There is no document to count" in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["empty.jsonl"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--filter", "letters"], "expected 'words'"),
        (["--set", "words=3"], "text.case=keep"),
        (["--set", "text=3"], "text.case=keep"),
        (["--set", "text.cases=keep"], "did you mean 'case'?"),
        (["--set", "text.stop_words=english"], "neither stemmed nor left out"),
        (["--min-count", "0"], "min_count is 0"),
        (["--workers", "0"], "workers is 0"),
        (["--limit", "0"], "limit is 0"),
        (["--text", "body"], "Column 'body'"),
    ],
)
def test_what_build_refuses(run: Run, docs: Path, options: list[str], said: str) -> None:
    done = run("idf", "build", docs, "-o", docs.with_suffix(".idf"), *options)
    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert not docs.with_suffix(".idf").exists()


def test_nothing_is_written_over(run: Run, docs: Path, tmp_path: Path) -> None:
    table = build(run, docs)
    for out, said in (
        (table, "--overwrite"),
        (tmp_path, "is a folder"),
        (tmp_path / "no" / "t.idf", "no folder"),
        (docs, "is also an input"),
    ):
        done = run("idf", "build", docs, "-o", out)
        assert done.exit_code == 2
        assert said in done.stderr
    twice = run("idf", "merge", table, table, "-o", tmp_path / "two.idf")
    assert "named twice" in twice.stderr


def test_show(run: Run, docs: Path) -> None:
    table = build(run, docs)
    said = json.loads(run("idf", "show", table, "--json", "-n", 2).stdout)
    assert (said["documents"], said["digest"]) == (5, load_idf(table).digest)
    assert [len(said[name]) for name in ("rarest", "most_common")] == [2, 2]
    asked = json.loads(run("idf", "show", table, "--term", "fox", "--term", "no", "--json").stdout)
    assert [(row["term"], row["documents"]) for row in asked["asked"]] == [("fox", 3), ("no", 0)]
    assert "not in the table" in run("idf", "show", table, "--term", "no").stdout


@pytest.mark.parametrize("content", [None, b"", b"{}", b"ARROW1\0\0garbage"])
def test_what_is_no_table(run: Run, tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "t.idf"
    if content is not None:
        path.write_bytes(content)
    for command in (("show", path), ("compare", path, path), ("merge", path, "-o", "x.idf")):
        done = run("idf", *command)
        assert done.exit_code == 1
        assert "neardup idf build" in done.stderr


@pytest.mark.parametrize("said", [b"no json", b'{"format": 2}', b'{"format": 1}', b"{}", b"[]"])
def test_an_arrow_file_of_something_else(run: Run, tmp_path: Path, said: bytes) -> None:
    path = tmp_path / "t.idf"
    table = pa.table({"a": [1]}).replace_schema_metadata({b"neardup idf": said})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    done = run("idf", "show", path)
    assert done.exit_code == 1
    assert "neardup idf build" in done.stderr


def test_a_cut_off_or_changed_table(run: Run, docs: Path) -> None:
    table = build(run, docs)
    whole = table.read_bytes()
    table.write_bytes(whole[: len(whole) // 2])
    assert run("idf", "show", table).exit_code == 1
    table.write_bytes(whole.replace(b"quick", b"quack"))
    assert "has changed since it was saved" in run("idf", "show", table).stderr


def test_compare(run: Run, docs: Path, tmp_path: Path) -> None:
    before, after = build(run, parts(tmp_path, 3)[0]), build(run, docs)
    said = json.loads(run("idf", "compare", before, after, "--json").stdout)
    assert said["common_terms"] == said["a"]["terms"]
    assert "stability" not in said
    options = ("--stability", docs, "--within", "site", "-n", 3, "--json", "--quiet")
    found = json.loads(run("idf", "compare", before, after, *options).stdout)["stability"]
    assert found["documents"] == 5
    assert [row["n"] for row in found["changed"]] == [1, 2, 3]
    assert {name: one["documents"] for name, one in found["within"].items()} == {"a": 2, "b": 3}
    # "other" and "short" have terms only in the table of all
    assert found["within"]["b"]["changed"][0]["as_set"] >= 2 / 3
    assert "set changes" in run("idf", "compare", before, after, "--stability", docs).stdout


def test_a_table_agrees_with_itself(run: Run, docs: Path) -> None:
    table = build(run, docs)
    options = ("--stability", docs, "--json", "--quiet")
    said = json.loads(run("idf", "compare", table, table, *options).stdout)
    assert said["spearman"] == 1
    assert all(row["as_list"] == row["as_set"] == 0 for row in said["stability"]["changed"])


def test_an_undefined_correlation_is_said(run: Run, tmp_path: Path) -> None:
    flat = tmp_path / "flat.jsonl"
    flat.write_text(jsonl([{"text": "fox dog"}]))
    table = build(run, flat)
    assert "all common terms are equally rare" in run("idf", "compare", table, table).stdout
    assert json.loads(run("idf", "compare", table, table, "--json").stdout)["spearman"] is None


@pytest.mark.parametrize("form", ["svg", "png", "html"])
@pytest.mark.parametrize("documents", [True, False])
def test_a_figure(run: Run, docs: Path, tmp_path: Path, form: str, documents: bool) -> None:
    table, out = build(run, docs), tmp_path / f"figure.{form}"
    options = ("--stability", docs, "--within", "site") if documents else ()
    done = run("idf", "compare", table, table, *options, "-o", out)
    assert done.exit_code == 0, done.output
    begins = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!doctype html>"}[form]
    assert out.read_bytes().startswith(begins)
    if form == "html":
        assert b'src="https://' not in out.read_bytes()


def test_a_figure_that_cannot_be_drawn(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = build(run, docs)
    assert ".svg, .png, .html" in run("idf", "compare", table, table, "-o", "a.gif").stderr
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "vl_convert":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    done = run("idf", "compare", table, table, "-o", tmp_path / "a.png")
    assert done.exit_code == 2
    assert "pip install 'neardup[plots]'" in done.stderr


def test_within_needs_documents(run: Run, docs: Path) -> None:
    table = build(run, docs)
    assert "--stability" in run("idf", "compare", table, table, "--within", "site").stderr


def test_an_unknown_command_of_the_group(run: Run) -> None:
    assert "did you mean 'build'?" in run("idf", "biuld").stderr
