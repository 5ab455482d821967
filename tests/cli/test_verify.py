"""``neardup verify`` says what is damaged, and other commands refuse it with a sentence."""

from __future__ import annotations

import json
from pathlib import Path

from cli.sample import Run


def test_a_run_and_an_index(run: Run, docs: Path, tmp_path: Path) -> None:
    out, store = tmp_path / "out", tmp_path / "index.db"
    assert run("dedup", docs, "-o", out).exit_code == 0
    assert run("index", "build", store, docs).exit_code == 0
    done = run("verify", out, store)
    assert done.exit_code == 0
    assert done.stdout.count("no damage found") == 2
    (out / "kept.jsonl").write_bytes((out / "kept.jsonl").read_bytes() + b"\n")
    (out / "pairs.parquet").unlink()
    done = run("verify", out, "--json")
    assert done.exit_code == 1
    (verified,) = json.loads(done.stdout)["verified"]
    assert [fault.rpartition("/")[2] for fault in verified["faults"]] == [
        "kept.jsonl: its content is not what was written.",
        "pairs.parquet: it is missing.",
    ]
    refused = run("report", out)
    assert refused.exit_code == 1
    assert "pairs.parquet is damaged: it is missing. Hint:" in refused.stderr


def test_what_is_neither(run: Run, tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing", Path(__file__)):
        done = run("verify", place)
        assert done.exit_code == 1, place
        assert "unexpected" not in done.stdout + done.stderr


def test_every_place_is_reported_once(run: Run, docs: Path, tmp_path: Path) -> None:
    """Neither does a missing place hide the others, nor is one fault printed twice."""
    out, text = tmp_path / "out", tmp_path / "notes.txt"
    run("dedup", docs, "-o", out)
    text.write_text("notes " * 500)
    done = run("verify", tmp_path / "missing", text, out)
    assert done.exit_code == 1
    assert f"{tmp_path / 'missing'} does not exist." in done.stdout
    assert done.stdout.count(f"{text} is no SQLite database.") == 1
    assert f"{text} is damaged: 1 fault." in done.stdout
    assert f"{out}: " in done.stdout
    assert "no damage found" in done.stdout
