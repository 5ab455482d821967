"""--threshold auto on the command line: what is said of the cut and of faint pairs."""

from __future__ import annotations

import json
from pathlib import Path

from cli.sample import Run
from reference.scans import COLLECTION


def test_the_command_that_shows_the_weakest_pair_does_not_deny_it(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in COLLECTION))
    out = tmp_path / "out"
    done = run("dedup", file, "-o", out, "--method", "rareshingles", "--threshold", "auto")
    assert done.exit_code == 0, done.stderr
    assert "8 lower-scoring pairs were accepted as unusually similar." in done.stderr
    said = json.loads((out / "run.json").read_text())
    assert said["settings"]["threshold"] == "auto"
    command = done.stderr.rpartition("neardup compare ")[2].split()
    shown = run("compare", *command)
    assert "no duplicate" not in shown.stdout
    assert "thresholds of the two documents" in shown.stdout
    assert "duplicate (it is unusually similar)" in shown.stdout


def test_a_dry_run_takes_auto(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text("".join(json.dumps({"text": text}) + "\n" for text in COLLECTION))
    done = run("dedup", file, "--dry-run", "--method", "rareshingles", "--threshold", "auto")
    assert done.exit_code == 0, done.stderr
    assert "duplicates  8\n" in done.stdout
