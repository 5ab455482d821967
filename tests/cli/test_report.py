"""``neardup report``: the report of a finished run, where it is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.sample import Run


@pytest.fixture
def finished(run: Run, docs: Path, tmp_path: Path) -> Path:
    out = tmp_path / "out"
    assert run("dedup", docs, "--method", "shingles", "-o", out).exit_code == 0
    return out


def test_it_is_written_again(run: Run, finished: Path, tmp_path: Path) -> None:
    written = (finished / "report.html").read_bytes()
    (finished / "report.html").unlink()
    done = run("report", finished)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"Written to {finished / 'report.html'}.\n"
    assert (finished / "report.html").read_bytes() == written
    elsewhere = tmp_path / "there.html"
    assert run("report", finished, "-o", elsewhere, "--quiet").output == ""
    assert elsewhere.read_bytes() == written


def test_by_a_column(run: Run, finished: Path, tmp_path: Path) -> None:
    page = tmp_path / "by.html"
    assert run("report", finished, "--by", "site", "-o", page).exit_code == 0
    assert "<h2>By site</h2>" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "docs.jsonl"], "docs.jsonl cannot be the name of a report"),
        (["-o", "."], "cannot be the name of a report"),
        (["--by", "sight"], "'sight'"),
    ],
)
def test_what_cannot_be(
    run: Run,
    finished: Path,
    docs: Path,
    arguments: list[str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(docs.parent)
    before = docs.read_bytes()
    done = run("report", finished, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert "Hint: " in done.stderr
    assert docs.read_bytes() == before


def test_no_run(run: Run, tmp_path: Path) -> None:
    done = run("report", tmp_path)
    assert done.exit_code == 1
    assert "is not the folder of a finished run" in done.stderr
