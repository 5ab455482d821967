"""``neardup evaluate --plant``: a folder of files in, a setting out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.sample import Run
from planting.test_plant import documents


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "letters"
    place.mkdir()
    for doc in documents(30):
        (place / f"{doc['id']}.txt").write_text(doc["text"])
    return place


def test_a_folder_of_files_gets_a_setting(folder: Path, run: Run, tmp_path: Path) -> None:
    done = run("evaluate", "--plant", folder, "--sample", 5, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "Recall of edited copies" in done.stdout
    assert "neardup dedup" in done.stdout
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    assert data["recommended"]["command"] in done.stdout
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count('<svg class="chart') == 2
    assert "<script" not in page


def test_edits_thresholds_and_seed(folder: Path, run: Run) -> None:
    asked = ["--edit", "ocr=0.1", "--edit", "case", "--thresholds", ".5,.7", "--sample", 4]
    asked += ["--method", "shingles"]
    done = run("evaluate", "--plant", folder, *asked, "--seed", 3, "--json")
    data = json.loads(done.stdout)
    assert [(e["edit"], e["rate"]) for e in data["edits"]] == [
        ("ocr", 0.1),
        ("case", 0.1),
        ("case", 1.0),
    ]
    assert [cut["value"] for cut in data["cuts"]] == [0.5, 0.7, 0.8]
    assert (data["seed"], data["per_edit"]) == (3, 4)
    again = run("evaluate", "--plant", folder, *asked, "--seed", 3, "--json")
    assert again.stdout == done.stdout


def test_mistakes_are_sentences(folder: Path, run: Run, docs: Path) -> None:
    done = run("evaluate", "--plant", folder, "--edit", "ocr=2")
    assert done.exit_code == 2
    assert "The rate of ocr is '2'" in done.stderr
    (folder / "short.jsonl").write_text('{"text": "too short"}\n')
    done = run("evaluate", "--plant", folder / "short.jsonl")
    assert done.exit_code == 1
    assert "No document has the 20 words" in done.stderr
    assert run("evaluate", "--plant", docs, "--sample", 2).exit_code == 0
