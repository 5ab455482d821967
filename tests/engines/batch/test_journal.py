"""A run that was interrupted goes on, and ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.sample import Run, run
from engines.batch.killing import content, write_shards
from neardup.engines.batch import intake, journal

pytestmark = pytest.mark.kills
__all__ = ["run"]
TESTS = Path(__file__).parents[2]


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    (tmp_path / "in").mkdir()
    return write_shards(tmp_path / "in")


class Counted:
    """The chunks that were read, and an interruption at one of the files of a journal."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chunks, self.files, self.stop = 0, 0, 0
        self.error: BaseException = KeyboardInterrupt()
        self._work, self._savez = intake._work, np.savez
        monkeypatch.setattr(intake, "_work", self._read)
        monkeypatch.setattr(np, "savez", self._save)

    def _read(self, *arguments: Any, **options: Any) -> Any:
        self.chunks += 1
        return self._work(*arguments, **options)

    def _save(self, *arguments: Any, **options: Any) -> None:
        self.files += 1
        if self.files == self.stop:
            raise self.error
        self._savez(*arguments, **options)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.mark.parametrize("options", [(), ("--method", "shingles", "--annotate"), ("--limit", 100)])
@pytest.mark.parametrize("stop", [1, 4, 7])
def test_it_goes_on_from_the_last_whole_piece(
    run: Run, shards: list[Path], tmp_path: Path, counted: Counted, stop: int, options: Any
) -> None:
    command = ("dedup", *shards, *options, "--workers", 1)
    assert run(*command, "-o", tmp_path / "whole").exit_code == 0
    read, counted.chunks, counted.stop = counted.chunks, 0, stop
    out = tmp_path / "out"
    stopped = run(*command, "-o", out, "--resume")
    if counted.files < stop:  # the limit came first
        assert stopped.exit_code == 0
        return
    assert stopped.exit_code == 130
    assert stopped.stderr.endswith(
        f"Interrupted; nothing was written to {out}; the same command goes on from here.\n"
    )
    assert not out.exists()
    counted.chunks = 0
    done = run(*command, "-o", out, "--resume")
    assert done.exit_code == 0, done.output
    assert counted.chunks == max(read - stop + 1, 0)
    assert content(out) == content(tmp_path / "whole")
    assert not list(tmp_path.glob(".*"))


def test_a_second_reading_is_no_reason_to_match_again(
    run: Run, shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ("dedup", *shards, "-o", tmp_path / "out", "--resume")
    with monkeypatch.context() as patch:
        patch.setattr("neardup.runs.run_folder.run_page", None)  # a failure at the very end
        assert run(*command).exit_code == 1
    with monkeypatch.context() as patch:
        patch.setattr("neardup.engines.batch.batch_run.decide_intake", None)
        assert run(*command).exit_code == 0
    run("dedup", *shards, "-o", tmp_path / "whole")
    assert content(tmp_path / "out") == content(tmp_path / "whole")


def test_what_a_decision_is_told_with_is_kept_too(
    run: Run, shards: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents that were not compared with all that they met are reported after a resume too."""
    command = ("dedup", *shards, "-o", tmp_path / "out", "--resume")
    keep_decided = journal.Journal.keep_decided
    with monkeypatch.context() as patch:
        patch.setattr(
            journal.Journal,
            "keep_decided",
            lambda self, outcome, plan: keep_decided(self, replace(outcome, capped=7), plan),
        )
        patch.setattr("neardup.runs.run_folder.run_page", None)  # a failure at the very end
        assert run(*command).exit_code == 1
    assert run(*command).exit_code == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["capped"] == 7


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("threshold", "since: threshold was auto and is 0.9. Hint:"),
        ("input", "part-2.jsonl is another or has changed"),
        ("same size and time", "part-2.jsonl is another or has changed"),
        ("less", "part-5.jsonl"),
    ],
)
def test_what_changed_is_refused(
    run: Run, shards: list[Path], tmp_path: Path, counted: Counted, change: str, named: str
) -> None:
    out, counted.stop = tmp_path / "out", 3
    run("dedup", *shards, "-o", out, "--resume")
    options: list[object] = []
    if change == "threshold":
        options = ["--threshold", 0.9]
    elif change == "input":
        shards[2].write_text(shards[2].read_text() + '{"id": "new", "text": "new"}\n')
    elif change == "same size and time":
        times = shards[2].stat()
        shards[2].write_text(shards[2].read_text().replace("word", "WORD"))
        os.utime(shards[2], ns=(times.st_atime_ns, times.st_mtime_ns))
    else:
        shards = shards[:5]
    done = run("dedup", *shards, "-o", out, "--resume", *options)
    assert done.exit_code == 2
    assert "cannot go on, because of what changed since: " in done.stderr
    assert named in done.stderr
    (hidden,) = tmp_path.glob(".out*")
    assert f"remove {hidden} to start" in done.stderr
    assert not out.exists()


def test_a_full_disk_and_a_file_that_vanished_can_be_mended(
    run: Run, shards: list[Path], tmp_path: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, command = tmp_path / "out", ("dedup", *shards, "-o", tmp_path / "out", "--resume")
    counted.stop, counted.error = 2, OSError(28, "No space left on device")
    full = run(*command)
    assert (full.exit_code, out.exists()) == (1, False)
    assert "No space left on device" in full.stderr
    away = shards[4].rename(tmp_path / "away.jsonl")
    gone = run(*command)
    assert (gone.exit_code, out.exists()) == (1, False)
    assert "part-4.jsonl" in gone.stderr
    away.rename(shards[4])
    keep = journal.Journal.keep_taken

    def vanish(*arguments: Any) -> Any:
        if shards[5].exists():
            shards[5].rename(away)
        return keep(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(journal.Journal, "keep_taken", vanish)
        gone = run(*command, "--workers", 1)
    assert (gone.exit_code, out.exists()) == (1, False)
    assert "part-5.jsonl" in gone.stderr
    away.rename(shards[5])
    assert run(*command).exit_code == 0
    run("dedup", *shards, "-o", tmp_path / "whole")
    assert content(out) == content(tmp_path / "whole")


def test_folders_and_pipes(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for name in ("a", "b"):
        (tmp_path / "in" / f"{name}.txt").write_text("one text of a folder " * 9)
    command = ("dedup", tmp_path / "in", "-o", tmp_path / "out", "--resume")
    with monkeypatch.context() as patch:
        patch.setattr("neardup.runs.run_folder.run_page", None)
        assert run(*command).exit_code == 1
    (tmp_path / "in" / "b.txt").write_text("another text of a folder " * 9)
    assert "what changed since" in run(*command).stderr
    piped = run("dedup", "-", "-o", tmp_path / "out", "--resume", input='{"text": "a"}\n')
    assert piped.exit_code == 2
    assert "which a pipe cannot" in piped.stderr
    to_file = run("dedup", tmp_path / "in", "-o", tmp_path / "out.jsonl", "--resume")
    assert "--resume needs a folder" in to_file.stderr


def test_a_damaged_journal_is_one_sentence(
    run: Run, shards: list[Path], tmp_path: Path, counted: Counted
) -> None:
    counted.stop = 3
    command = ("dedup", *shards, "-o", tmp_path / "out", "--resume")
    run(*command)
    (piece,) = tmp_path.glob(".out*/1.npz")
    data = bytearray(piece.read_bytes())
    data[len(data) // 2] ^= 1
    piece.write_bytes(data)
    done = run(*command)
    assert done.exit_code == 1
    assert f"{piece} is damaged" in done.stderr


def test_killed_at_seeded_moments() -> None:
    command = [sys.executable, "-m", "engines.batch.killing", "--kills", "12", "--seed", "7"]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert '"kills": 1' in done.stdout
