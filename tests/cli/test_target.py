"""Where a run may be written, and what is left when it does not come to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.sample import Run


def test_a_finished_run_is_not_written_over(run: Run, docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("dedup", docs, "-o", out)
    before = (out / "run.json").read_bytes()
    done = run("dedup", docs, "-o", out)
    assert done.exit_code == 2
    assert "already holds a finished run" in done.stderr
    assert (out / "run.json").read_bytes() == before


def test_overwrite_leaves_nothing_of_the_run_before(run: Run, docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("dedup", docs, "-o", out)
    (out / "notes.txt").write_text("mine")
    assert run("find", docs, "-o", out, "--overwrite").exit_code == 0
    assert not (out / "kept.jsonl").exists()
    assert (out / "notes.txt").read_text() == "mine"


def test_other_files_are_not_written_among(run: Run, docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert run("dedup", docs, "-o", out).exit_code == 0
    full = tmp_path / "full"
    full.mkdir()
    (full / "notes.txt").write_text("mine")
    done = run("dedup", docs, "-o", full)
    assert done.exit_code == 2
    assert "already holds files" in done.stderr


@pytest.mark.parametrize("out", ["docs.jsonl", "docs.jsonl/out", "."])
def test_the_output_is_not_the_input(run: Run, docs: Path, tmp_path: Path, out: str) -> None:
    before = docs.read_bytes()
    done = run("dedup", docs, "-o", tmp_path / out, "--overwrite")
    assert done.exit_code == 2
    assert "Hint: name another folder" in done.stderr
    assert docs.read_bytes() == before


def test_a_file_is_no_folder(run: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file" in run("dedup", docs, "-o", tmp_path / "file").stderr


@pytest.mark.parametrize("where", ["neardup.api.execute", "neardup.outputs.folder.save"])
def test_interrupted(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, interrupt)
    out = tmp_path / "new" / "out"
    done = run("dedup", docs, "-o", out)
    assert done.exit_code == 130
    assert done.stderr == f"Interrupted; nothing was written to {out}.\n"
    assert not (tmp_path / "new").exists()


def test_a_failed_run_leaves_an_empty_folder_empty(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: object, folder: Path, **__: object) -> None:
        (folder / "kept.jsonl").write_text("half")
        (folder / "artefacts").mkdir()
        (folder / "artefacts" / "half").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neardup.outputs.folder.save", fail)
    out = tmp_path / "out"
    out.mkdir()
    assert run("dedup", docs, "-o", out).exit_code == 1
    assert list(out.iterdir()) == []


def test_interrupted_while_writing_over(
    run: Run, docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    run("dedup", docs, "-o", out)
    monkeypatch.setattr("neardup.outputs.folder.write_table", interrupt)
    done = run("dedup", docs, "-o", out, "--overwrite")
    assert done.stderr == f"Interrupted; {out} does not hold a finished run.\n"
    assert not (out / "run.json").exists()
