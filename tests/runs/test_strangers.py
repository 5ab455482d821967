"""The folder of a run that somebody else made, and folders of documents that somebody else sent."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

import neardup as nd
from neardup.errors import ChangedError, InputError, KeptError
from neardup.runs.checksums import write_checksums
from neardup.runs.run_info import TRUST

TEXT = "The council met on Monday and decided to repair the old bridge over the river. "
ROWS = [{"id": f"d{n}", "text": TEXT * 3 + f"Item {n}."} for n in range(3)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return nd.dedup(path).save(tmp_path / "run")


def rewritten(run: Path, path: str) -> nd.Result:
    info = json.loads((run / "run.json").read_text("utf-8"))
    info["inputs"][0]["path"] = path
    (run / "run.json").write_text(json.dumps(info), "utf-8")
    write_checksums(run)
    return nd.Result.load(run)


@pytest.mark.parametrize("place", ["s3://bucket/documents.jsonl", "https://example.org/a.jsonl"])
def test_a_run_makes_no_connection(run: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TRUST, raising=False)
    result = rewritten(run, place)
    with pytest.raises(InputError, match=f"not opened because a file names it. Hint: .*{TRUST}=1"):
        result.collection()
    assert result.explain("d1").kept_id == "d0"
    result.report(run / "report.html")


def test_a_run_waits_for_no_pipe(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(TRUST, raising=False)
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(InputError, match="not opened"):
        rewritten(run, str(tmp_path / "pipe.jsonl")).collection()


def test_a_run_shows_no_file_that_it_was_not_made_from(run: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    rows = [{**row, "text": f"a secret text {n}"} for n, row in enumerate(ROWS)]
    secret.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    result = rewritten(run, str(secret))
    page = result.report(tmp_path / "report.html").read_text("utf-8")
    assert "secret text" not in page
    assert "secret text" not in str(result.explain("d1"))


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (tmp_path / "outside.txt").write_text("a text outside of the folder")
    (folder / "inside.txt").write_text("a text inside of the folder")
    (folder / "out.txt").symlink_to(tmp_path / "outside.txt")
    (folder / "within.txt").symlink_to(folder / "inside.txt")
    result = nd.dedup(folder, method="exact")
    assert result.counts.rejected == 1
    assert result.counts.duplicates == 1
    reasons = result.decisions["reason"].to_pylist()
    assert any(f"link leads out of the folder, to {tmp_path}" in reason for reason in reasons)


def test_a_change_that_leaves_size_and_time_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    before = path.stat()
    result = nd.dedup(path, method="exact")
    with path.open("r+b") as file:  # the same file, in place
        file.seek(30)
        file.write(b"#")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises((ChangedError, KeptError), match="was changed"):
        result.save(tmp_path / "out")


def test_a_list_as_csv_has_no_formulas(tmp_path: Path) -> None:
    from neardup.runs.grouped_list import write_list

    rows = [{"id": "=cmd|' /C calc'!A0", "text": TEXT, "rank": -3}, {"id": "-b", "text": "@x"}]
    write_list(nd.group(rows), tmp_path / "list.csv")
    with (tmp_path / "list.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert "'=cmd|' /C calc'!A0" in cells
    assert "-3" in cells
    assert not [cell for cell in cells if cell[:1] in "=+@" and cell]
