"""--against: a new dump, an old run, and what is told about it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from cli.sample import DOCUMENTS, Run, edited, jsonl


def test_a_run_is_built_on_without_its_documents(run: Run, docs: Path, tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    assert run("dedup", docs, "-o", old, "--signatures").exit_code == 0
    (old / "kept.jsonl").unlink()
    again = jsonl([{**DOCUMENTS[0], "id": "again"}, {"id": "other", "text": "nothing like it"}])
    done = run("dedup", "-", "-o", new, "--against", old, "--json", input=again)
    assert json.loads(done.stdout)["counts"]["duplicates"] == 1
    assert "weakest pair" not in done.stderr
    rows = pq.read_table(new / "decisions.parquet").to_pylist()
    assert [(row["id"], row["kept_id"], row["ref"]) for row in rows] == [
        ("again", f"ref:{DOCUMENTS[0]['id']}", True),
        ("other", None, False),
    ]
    assert json.loads((new / "run.json").read_text("utf-8"))["against"] == [str(old)]


def test_a_reference_can_be_looked_at(run: Run, docs: Path, tmp_path: Path) -> None:
    new = tmp_path / "new.jsonl"
    new.write_text(jsonl([{"id": "x", "text": edited(7)}]))
    said = run("dedup", new, "-o", tmp_path / "out", "--against", docs).stderr
    command = said.partition("Look at the weakest pair: neardup ")[2].split()
    assert command[-2:] == ["ref:fox", "x"]
    assert " + edit7\n" in run(*command).stdout


def test_without_signatures_the_kept_files_serve(run: Run, docs: Path, tmp_path: Path) -> None:
    run("dedup", docs, "-o", tmp_path / "old")
    assert not (tmp_path / "old" / "signatures.arrow").exists()
    text = jsonl([{"id": "x", "text": DOCUMENTS[0]["text"]}])
    done = run("find", "-", "--against", tmp_path / "old", "--json", input=text)
    assert json.loads(done.stdout)["counts"]["duplicates"] == 1


def test_other_settings_are_refused_before_the_input_is_read(
    run: Run, docs: Path, tmp_path: Path
) -> None:
    run("dedup", docs, "-o", tmp_path / "old", "--method", "shingles", "--signatures")
    asked = ("--method", "shingles", "--set", "words=3")
    done = run("find", docs, "--against", tmp_path / "old", *asked)
    assert done.exit_code == 1
    assert "they differ in words. Hint: " in done.stderr


def test_the_edited_one_is_found(run: Run, docs: Path) -> None:
    text = jsonl([{"id": "e", "text": edited(1)}])
    done = run("find", "-", "--against", docs, "--json", input=text)
    assert json.loads(done.stdout)["counts"]["duplicates"] == 1


def test_an_annotated_run_stands_for_its_kept_documents(
    run: Run, docs: Path, tmp_path: Path
) -> None:
    run("dedup", docs, "-o", tmp_path / "old", "--annotate", "--signatures")
    text = jsonl([{"id": "x", "text": edited(2)}])
    done = run("dedup", "-", "-o", tmp_path / "new", "--against", tmp_path / "old", input=text)
    assert done.exit_code == 0
    rows = pq.read_table(tmp_path / "new" / "decisions.parquet").to_pylist()
    assert [row["kept_id"] for row in rows] == ["ref:fox"]
    run("dedup", docs, "-o", tmp_path / "bare", "--annotate")
    refused = run("find", "-", "--against", tmp_path / "bare", input=text)
    assert refused.exit_code == 1
    assert "no signatures.arrow" in refused.stderr
    assert "--signatures" in refused.stderr
