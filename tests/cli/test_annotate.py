"""--annotate: all documents come out, with what was decided."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.sample import DOCUMENTS, Run, jsonl

DECISIONS = ["kept", "duplicate", "duplicate", "kept", "kept"]


def decisions(lines: str) -> list[str]:
    return [json.loads(line)["decision"] for line in lines.splitlines()]


@pytest.mark.parametrize("command", ["dedup", "find"])
def test_writes_annotated_instead_of_kept(
    run: Run, docs: Path, tmp_path: Path, command: str
) -> None:
    out = tmp_path / "out"
    for more in ([], ["--overwrite"]):
        done = run(command, docs, "-o", out, "--annotate", "--json", *more)
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["annotated"][0] == "cluster"
        assert f"Written to {out}: annotated.jsonl, report.html" in done.stderr
        assert decisions((out / "annotated.jsonl").read_text()) == DECISIONS
        assert not list(out.glob("kept.*"))
    assert run(command, docs, "-o", out, "--overwrite").exit_code == 0
    assert not list(out.glob("annotated.*"))


def test_to_stdout(run: Run) -> None:
    done = run("dedup", "-", "-o", "-", "--annotate", input=jsonl(DOCUMENTS))
    assert decisions(done.stdout) == DECISIONS


def test_says_that_names_were_taken(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    path.write_text(jsonl([{**document, "kind": "news"} for document in DOCUMENTS]))
    done = run("dedup", path, "-o", tmp_path / "out", "--annotate")
    assert "the added ones are neardup_cluster, neardup_kept_id" in done.stderr


def test_find_needs_a_folder(run: Run, docs: Path) -> None:
    done = run("find", docs, "--annotate")
    assert done.exit_code == 2
    assert "name a folder with -o" in done.stderr
