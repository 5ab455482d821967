"""Where a run may be written, and what is left when it does not come to its end."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cli.sample import DOCUMENTS, Run
from neardup.draft import Draft


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


def test_a_name_of_a_file_gets_the_kept_documents_and_nothing_else(
    run: Run, docs: Path, tmp_path: Path
) -> None:
    run("dedup", docs, "-o", tmp_path / "out")
    kept = (tmp_path / "out/kept.jsonl").read_bytes()
    done = run("dedup", docs, "-o", tmp_path / "deep/kept.ndjson")
    assert done.exit_code == 0
    assert (
        f"Written to {tmp_path}/deep/kept.ndjson: the kept documents, without a run" in done.stderr
    )
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["kept.ndjson"]
    assert (tmp_path / "deep/kept.ndjson").read_bytes() == kept
    run("dedup", docs, "-o", tmp_path / "kept.jsonl.gz")
    assert gzip.decompress((tmp_path / "kept.jsonl.gz").read_bytes()) == kept


def test_a_file_is_not_written_over(run: Run, docs: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text("mine")
    done = run("dedup", docs, "-o", file)
    assert done.exit_code == 2
    assert "kept.jsonl already exists. Hint: name another file with -o" in done.stderr
    assert file.read_text() == "mine"
    assert run("dedup", docs, "-o", file, "--overwrite").exit_code == 0
    assert file.read_text().count("\n") == 3


def test_a_table_in_one_file(run: Run, tmp_path: Path) -> None:
    table = pa.Table.from_pylist(DOCUMENTS)
    pq.write_table(table, tmp_path / "in.parquet")
    assert run("dedup", tmp_path / "in.parquet", "-o", tmp_path / "kept.parquet").exit_code == 0
    assert pq.read_table(tmp_path / "kept.parquet").equals(table.take([0, 3, 4]))
    both = ("--annotate", "--overwrite")
    run("dedup", tmp_path / "in.parquet", "-o", tmp_path / "kept.parquet", *both)
    assert pq.read_table(tmp_path / "kept.parquet")["decision"].to_pylist().count("kept") == 3


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("kept.parquet", "are written as they came, as .jsonl; "),
        ("kept.csv.gz", "Hint: name a file that ends in .jsonl, or a folder, with -o."),
        ("kept.txt", "has the name of a file in a format that runs do not write."),
        ("report.html", "has the name of a file in a format that runs do not write."),
    ],
)
def test_a_file_of_another_format_is_refused_before_any_work(
    run: Run, docs: Path, tmp_path: Path, out: str, said: str
) -> None:
    done = run("dedup", docs, "-o", tmp_path / out)
    assert done.exit_code == 2
    assert said in done.stderr
    assert not (tmp_path / out).exists()


def test_of_a_folder_no_single_file_is_written(run: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.txt").write_text("a")
    done = run("dedup", tmp_path / "in", "-o", tmp_path / "kept.jsonl")
    assert "Hint: name a folder with -o." in done.stderr
    found = run("find", docs, "-o", tmp_path / "pairs.jsonl")
    assert found.exit_code == 2
    assert "its pairs.parquet lists the pairs" in found.stderr
    assert not (tmp_path / "pairs.jsonl").exists()


def test_a_folder_may_be_named_as_it_likes(run: Run, docs: Path, tmp_path: Path) -> None:
    assert run("dedup", docs, "-o", tmp_path / "run.v2").exit_code == 0
    (tmp_path / "old.jsonl").mkdir()
    assert run("dedup", docs, "-o", tmp_path / "old.jsonl").exit_code == 0
    assert (tmp_path / "old.jsonl/run.json").exists()


def test_a_file_is_no_folder(run: Run, docs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file" in run("dedup", docs, "-o", tmp_path / "file").stderr


@pytest.mark.parametrize(
    "where", ["neardup.engines.execution.execute", "neardup.runs.run_folder.write_run"]
)
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
    def fail(_: object, draft: Draft, **__: object) -> None:
        folder = draft.path
        (folder / "kept.jsonl").write_text("half")
        (folder / "artefacts").mkdir()
        (folder / "artefacts" / "half").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("neardup.runs.run_folder.write_run", fail)
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
    before = {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()}
    monkeypatch.setattr("neardup.runs.run_folder.write_table", interrupt)
    done = run("dedup", docs, "-o", out, "--overwrite")
    assert done.stderr == f"Interrupted; {out} holds the earlier run.\n"
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs.jsonl", "out"]


@pytest.mark.parametrize("name", ["out", "kept.jsonl"])
def test_a_place_that_cannot_be_written_is_named(
    run: Run, docs: Path, tmp_path: Path, name: str
) -> None:
    """A file in the way stands for missing rights, which root does not lack."""
    (tmp_path / "way").write_text("mine")
    place = tmp_path / "way" / name
    done = run("dedup", docs, "-o", place)
    assert done.exit_code == 2
    assert f"{place} cannot be written: " in done.stderr
    assert "Hint: " in done.stderr
    assert "lock" not in done.stderr
