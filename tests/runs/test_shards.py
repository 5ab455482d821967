"""Several input files come back as files of the same names, one input file as ``kept.*``."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import neardup as nd
from cli.sample import Run, edited, run
from neardup.errors import KeptError
from neardup.runs.result import Result
from neardup.runs.run_folder import kept_file_names

__all__ = ["run"]
NAMES = [f"part-{n}.jsonl.gz" for n in range(8)]


@pytest.fixture
def shards(tmp_path: Path) -> list[Path]:
    """Each has a document of its own and a copy of one that all of them have."""
    (tmp_path / "in").mkdir()
    paths = [tmp_path / "in" / name for name in NAMES]
    for n, path in enumerate(paths):
        own = " ".join(f"{word}{n}" for word in edited(n).split())
        rows = [{"id": f"{n}", "text": own}, {"id": f"copy{n}", "text": edited(1)}]
        path.write_bytes(gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return paths


def ids(path: Path) -> list[str]:
    lines = gzip.decompress(path.read_bytes()).splitlines()
    return [json.loads(line)["id"] for line in lines]


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.gz"))


def test_eight_files_give_eight_files(run: Run, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("dedup", *shards, "-o", out)
    assert done.exit_code == 0, done.output
    assert "kept/, report.html" in done.stderr
    assert files(out) == [f"kept/{name}" for name in NAMES]
    assert [ids(out / "kept" / name) for name in NAMES] == [
        [f"{n}", *(["copy0"] if n == 0 else [])] for n in range(8)
    ]
    assert kept_file_names(Result.load(out).info) == files(out)
    assert "kept/ (8 files)" in (out / "report.html").read_text("utf-8")
    assert run("verify", out).exit_code == 0
    assert run("dedup", *shards, "-o", out, "--overwrite", "--one-file").exit_code == 0
    assert files(out) == ["kept.jsonl.gz"]
    assert len(ids(out / "kept.jsonl.gz")) == 9
    assert run("dedup", shards[0], "-o", out, "--overwrite").exit_code == 0
    assert files(out) == ["kept.jsonl.gz"]


def test_policies_and_annotations_too(run: Run, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("dedup", *shards, "-o", out, "--annotate")
    assert files(out) == [f"annotated/{name}" for name in NAMES]
    assert ids(out / "annotated" / NAMES[3]) == ["3", "copy3"]
    planned = run("apply", out, "--action", "default=drop", "--dry-run").output
    assert "documents/part-0.jsonl.gz, documents/part-1.jsonl.gz" in planned
    assert run("apply", out, "--action", "default=drop").exit_code == 0
    assert ids(out / "applied/1/documents" / NAMES[3]) == ["3"]
    assert ids(out / "applied/1/dropped" / NAMES[3]) == ["copy3"]
    assert run("undo", out).exit_code == 0
    assert not (out / "applied").exists()


def test_a_run_is_built_on_the_files(run: Run, shards: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("dedup", *shards, "-o", out)
    assert nd.dedup(shards, against=out).counts.duplicates == 16


def test_names_that_clash_are_told_apart(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("2023/a.jsonl", "2024/a.jsonl", "2024/b.csv")]
    for n, path in enumerate(paths):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'{{"text": "text {n}"}}\n' if n < 2 else "text\nsomething else\n")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text("a text")
    folder = nd.dedup(paths).save(tmp_path / "out")
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"kept/2023/a.jsonl", "kept/2024/a.jsonl", "kept/b.csv"} <= kept
    mixed = nd.dedup([*paths, tmp_path / "texts"]).save(tmp_path / "mixed")
    assert (mixed / "kept.files" / "2024" / "a.jsonl").read_bytes() == paths[1].read_bytes()
    assert (mixed / "kept" / "a.txt").read_text() == "a text"
    assert (mixed / "kept.txt").exists()


def test_kept_files_are_not_replaced_by_a_run_on_them(
    run: Run, shards: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run("dedup", *shards, "-o", out)
    done = run("dedup", out / "kept" / NAMES[0], "-o", out, "--overwrite")
    assert done.exit_code == 2
    assert "lies in the output folder" in done.stderr
    assert ids(out / "kept" / NAMES[0]) == ["0", "copy0"]


def test_a_file_that_changed_leaves_no_kept_files(shards: list[Path], tmp_path: Path) -> None:
    result = nd.dedup(shards)
    shards[5].write_bytes(gzip.compress(b'{"id": "9", "text": "new"}\n'))
    with pytest.raises(KeptError):
        result.save(tmp_path / "out")
    assert (tmp_path / "out" / "run.json").exists()
    assert not (tmp_path / "out" / "kept").exists()
