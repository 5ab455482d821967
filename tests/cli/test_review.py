"""``neardup review``: says its address, answers, and ends when it is told to."""

from __future__ import annotations

import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from cli.sample import Run


@pytest.fixture
def out(run: Run, docs: Path, tmp_path: Path) -> Path:
    assert run("dedup", docs, "-o", tmp_path / "out", "--method", "shingles").exit_code == 0
    return tmp_path / "out"


def test_it_says_where_it_is_and_stops_when_interrupted(out: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "neardup", "review", str(out), "--no-browser"]
    environment = {"TMPDIR": str(tmp_path), "PATH": ""}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout
        said = process.stdout.readline()
        address = said.removeprefix(f"Review of {out}: ").partition(" ")[0]
        with urllib.request.urlopen(f"{address}/index.json") as answer:
            assert b'"documents":5' in answer.read()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert list(tmp_path.glob("neardup-review-*")) == []
    assert not (out / "review").exists()


def test_what_cannot_be_reviewed_is_a_sentence(run: Run, out: Path, docs: Path) -> None:
    for arguments, sentence in (
        ((docs.parent,), "is not the folder of a finished run"),
        ((docs,), "is no SQLite database"),
        ((docs.parent / "nothing",), "expected the folder of a run or the store of an index"),
        ((out, "--host", "0.0.0.0"), "is for this machine only"),
        ((out, "--port", "70000"), "70000 is not in the range"),
    ):
        done = run("review", *arguments, "--no-browser")
        assert done.exit_code != 0
        assert sentence in done.stderr


def test_changes_by_hand_count_when_a_policy_is_applied(run: Run, out: Path) -> None:
    from neardup.runs.changes import ChangeLog

    log = ChangeLog(out)
    log.add(["edited"], "keep")
    done = run("apply", out, "--action", "default=drop")
    assert "5 documents = 4 kept + 0 linked + 0 merged + 1 dropped" in done.stdout
    assert "1 change made in review is included; --no-changes ignores it." in done.stdout
    done = run("apply", out, "--action", "default=drop", "--no-changes")
    assert "5 documents = 3 kept + 0 linked + 0 merged + 2 dropped" in done.stdout
