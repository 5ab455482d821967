"""group: a list on the terminal, as JSON, as a file."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from cli.sample import DOCUMENTS, Run, jsonl

SHOWN = """\
1  fox
   2  copy  1.0000  identical
   3  edited  0.8378  revision
4  other
5  short  too_short
"""


def test_the_list(run: Run, docs: Path) -> None:
    done = run("group", docs)
    assert done.exit_code == 0
    assert done.stdout == SHOWN
    assert done.stderr == "5 results = 3 groups + 2 under them\n"


def test_collapsed_and_by_date(run: Run, docs: Path) -> None:
    done = run("group", docs, "--collapse", "--representative", "last", "--date", "day")
    assert done.stdout.splitlines()[0] == "3  edited  +2"
    newest = run("group", docs, "--collapse", "--representative", "newest", "--date", "day")
    assert newest.stdout == done.stdout
    titled = run("group", docs, "--collapse", "--title", "site")
    assert titled.stdout.splitlines()[0] == "1  fox  a  +2"


def test_stdin(run: Run) -> None:
    assert run("group", "-", input=jsonl(DOCUMENTS)).stdout == SHOWN


def test_json(run: Run, docs: Path) -> None:
    said = json.loads(run("group", docs, "--json").stdout)
    assert (said["results"], said["groups"]) == (5, 3)
    assert [row["indent"] for row in said["list"]] == [0, 1, 1, 0, 0]
    assert [{k: row[k] for k in DOCUMENTS[0]} for row in said["list"]] == DOCUMENTS


def test_to_stdout_and_files(run: Run, docs: Path, tmp_path: Path) -> None:
    done = run("group", docs, "-o", "-")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["id"] for line in lines] == ["fox", "copy", "edited", "other", "short"]
    for name, read in (("x.parquet", pq.read_table), ("x.csv", pyarrow.csv.read_csv)):
        assert run("group", docs, "-o", tmp_path / name).exit_code == 0
        assert read(tmp_path / name)["position"].to_pylist() == [1, 2, 3, 4, 5]
    assert run("group", docs, "-o", tmp_path / "x.jsonl", "--collapse").exit_code == 0
    written = (tmp_path / "x.jsonl").read_text().splitlines()
    assert [json.loads(line)["copies"] for line in written] == [2, 0, 0]


def test_the_method(run: Run, docs: Path) -> None:
    strict = run("group", docs, "--method", "exact")
    assert "3  edited\n" in strict.stdout
    loose = run("group", docs, "--threshold", "0.9", "--set", "words=1")
    assert "   3  edited" in loose.stdout


def test_refused(run: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("")
    for options, said in [
        (["-o", tmp_path / "x.txt"], "expected .jsonl, .csv, .xlsx, .parquet"),
        (["-o", docs], "is the list itself"),
        (["-o", tmp_path / "there.csv"], "is already there"),
        (["-o", tmp_path / "no" / "x.csv"], "is no folder"),
        (["--json", "-o", "-"], "give one of them"),
        (["--rank", "site"], "has to be numbers"),
        (["--representative", "first"], "--date COLUMN"),
    ]:
        done = run("group", docs, *options)
        assert done.exit_code == 2, options
        assert said in done.stderr


@pytest.mark.parametrize("form", ["x.csv", "x.parquet"])
def test_other_formats_in(run: Run, docs: Path, tmp_path: Path, form: str) -> None:
    assert run("group", docs, "-o", tmp_path / form).exit_code == 0
    assert run("group", tmp_path / form, "--rank", "position").stdout == SHOWN


def test_an_empty_file_is_an_empty_list(run: Run, tmp_path: Path) -> None:
    for name in ("x.jsonl", "x.csv"):
        (tmp_path / name).write_text("id,text\n" if name.endswith("csv") else "")
        done = run("group", tmp_path / name)
        assert done.exit_code == 0, done.stderr
        assert "0 results" in done.stdout + done.stderr


def test_the_row_that_cannot_be_read_is_named(run: Run, tmp_path: Path) -> None:
    """Not an earlier one that only has no text: that would stay in the list."""
    file = tmp_path / "x.jsonl"
    file.write_text('{"id": "a", "text": "one"}\n{"id": "b"}\nnot json\n')
    done = run("group", file)
    assert done.exit_code == 1
    assert "row 3: line is not" in done.stderr
    file.write_text('{"id": "a", "text": "one"}\n{"id": "b"}\n')
    assert run("group", file).exit_code == 0


ANSWER = {
    "hits": {
        "hits": [
            {"_id": f"a{i}", "_source": {"contenu": one["text"], "mots": ["x", str(i)]}}
            for i, one in enumerate(DOCUMENTS)
        ]
    }
}


def test_the_answer_of_a_search_engine(run: Run, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(ANSWER), "utf-8")
    for names, hint in [
        (["--text", "contenu"], "Hint: did you mean '_source.contenu'?"),
        (["--text", "_source.contenu", "--id", "mots"], "Hint: did you mean '_source.mots'?"),
        ([], "or of '_source.contenu', '_source.mots' with --text"),
    ]:
        assert hint in run("group", tmp_path / "answer.json", *names).stderr
    (tmp_path / "usual.json").write_text(json.dumps(ANSWER).replace("contenu", "body"), "utf-8")
    assert "Then give --text _source.body " in run("group", tmp_path / "usual.json").stderr
    names = ["--text", "_source.contenu", "--id", "_id"]
    done = run("group", tmp_path / "answer.json", *names, "-o", tmp_path / "x.csv")
    assert done.exit_code == 0, done.stderr
    table = pyarrow.csv.read_csv(tmp_path / "x.csv")
    assert table["_source.contenu"][0].as_py() == DOCUMENTS[0]["text"]
    assert table["_source.mots"][1].as_py() == '["x", "1"]'
    assert run("group", tmp_path / "answer.json", *names, "-o", tmp_path / "x.xlsx").exit_code == 0


def test_a_csv_comes_and_goes_as_csv(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{one['id']},{one['text']}\n" for one in DOCUMENTS if "," not in one["text"])
    (tmp_path / "in.csv").write_text(f"id,text\n{rows}", "utf-8")
    done = run("group", tmp_path / "in.csv", "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr
    assert len(pyarrow.csv.read_csv(tmp_path / "out.csv")) == rows.count("\n")


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_a_list_in_another_encoding_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    """Its letters would be lost, and with them the scores."""
    row = b'{"id": "1", "text": "caf\xe9 au lait"}\n'
    (tmp_path / name).write_bytes(b"id,text\n1,caf\xe9 au lait\n" if name == "in.csv" else row)
    done = run("group", tmp_path / name)
    assert done.exit_code == 1
    assert "convert the file to UTF-8" in done.stderr
