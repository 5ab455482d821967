"""--dry-run: figures, and nothing written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from cli.sample import DOCUMENTS, Run, jsonl
from neardup.cli.summary import estimate_lines, size
from neardup.engines.estimate.estimate import Estimate


def test_says_what_a_run_would_take(run: Run, docs: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    for command in (["dedup", docs], ["dedup", docs, "-o", tmp_path / "out"], ["find", docs]):
        done = run(*command, "--dry-run")
        assert done.exit_code == 0, done.stderr
        assert "documents   5 (all documents were read" in done.stdout
        assert "duplicates  2\n" in done.stdout
        assert done.stdout.endswith("Nothing was written.\n")
    assert sorted(tmp_path.iterdir()) == before


def test_the_json_twin(run: Run) -> None:
    done = run("dedup", "-", "--dry-run", "--json", "--annotate", input=jsonl(DOCUMENTS))
    found = json.loads(done.stdout)
    assert found["documents"] == found["sample_documents"] == 5
    assert found["duplicates_low"] == found["duplicates_high"] == 2
    assert found["seconds"] >= 0


def test_folders_and_csv(run: Run, tmp_path: Path) -> None:
    folder, table = tmp_path / "in", tmp_path / "in.csv"
    folder.mkdir()
    for document in DOCUMENTS:
        (folder / f"{document['id']}.txt").write_text(str(document["text"]))
    rows = "".join(f'{document["id"]},"{document["text"]}"\n' for document in DOCUMENTS)
    table.write_text("id,text\n" + rows)
    for given in (folder, table):
        done = run("dedup", given, "--dry-run")
        assert done.exit_code == 0, done.stderr
        assert "duplicates  2\n" in done.stdout


def test_how_sure_a_sample_is() -> None:
    found = Estimate(1000, 12.34, 2_500_000_000, 10**6, 10**5, 1, 20, 300, 50, 0.05, False)
    said = "\n".join(estimate_lines(found))
    assert "1,000 (from 50 documents, 5.0% of the input)" in said
    assert "20 if copies are near each other, up to 300 if they are anywhere" in said
    said_likely = "\n".join(estimate_lines(replace(found, duplicates_likely=150)))
    assert "about 150 if most copies come in twos" in said_likely
    assert "(20 to 300)" in said_likely
    assert "memory      2.5 GB" in said
    assert "1.0 MB, 100 KB of it while the run lasts" in said
    assert [size(n) for n in (7, 1500, 12_000)] == ["7 bytes", "1.5 KB", "12 KB"]
