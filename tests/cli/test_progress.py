"""Progress: bars on a terminal, lines in a long log, silence on request."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cli.sample import Run
from neardup import progress
from neardup.progress import Silent, of_command


def work(shown: progress.Progress) -> None:
    shown.stage("reading", total_bytes=200)
    shown.advance(3, 50)
    shown.advance(3, 150)
    shown.stage("matching", unit="pairs")
    shown.advance(10)
    shown.finish()


def test_a_short_run_leaves_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    work(progress.Lines())
    assert capsys.readouterr() == ("", "")


def test_lines(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0)
    work(progress.Lines())
    out, said = capsys.readouterr()
    first, second, third = said.splitlines()
    assert out == ""
    assert first.startswith("reading: 25%, 3 documents, ")
    assert second.startswith("reading: 100%, 6 documents, ")
    assert third.startswith("matching: 10 pairs, ")


def test_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    shown = of_command(quiet=False)
    assert isinstance(shown, progress.Bars)
    work(shown)
    out, said = capsys.readouterr()
    assert out == ""
    assert "reading" in said
    assert "100%" in said


def test_finish_without_a_stage() -> None:
    progress.Bars().finish()


def test_quiet() -> None:
    assert isinstance(of_command(quiet=True), Silent)


def test_share_of_documents() -> None:
    assert progress.Stage("reading", total=4, done=1).share == 0.25
    assert progress.Stage("reading").share is None


def test_verbose_shows_the_log(run: Run, broken: Path) -> None:
    done = run("find", broken, "-v", "--quiet")
    said = done.stderr.splitlines()
    assert said[0].startswith("info: reading: 6 documents in ")
    assert said[1].startswith("info: matching: ")
    assert "warning: 4 documents were rejected; decisions say why" in said
    assert run("find", broken, "--quiet").stderr == ""
