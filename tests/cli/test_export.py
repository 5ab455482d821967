"""A run as a table for colleagues: every document once, copies that sum, no cell that acts."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow.parquet as pq
import pytest

import neardup as nd
from cli.sample import Run

TEXT = "The council of the town decided on Monday to rebuild the old bridge over the river {}."
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
ROWS: list[Any] = [
    {"id": "a", "title": "=HYPERLINK(1)", "url": "http://x/a", "text": TEXT.format("soon")},
    {"id": "-b", "title": "tab\x01 _x0041_ & <b>", "text": TEXT.format("soon")},
    {"id": "c", "title": None, "text": "A wholly different story about gardens in spring."},
    {"id": "d", "text": 7},
]


@pytest.fixture(scope="module")
def result() -> nd.Result:
    return nd.dedup(ROWS, method="shingles")


def sheet(path: Path, number: int = 1) -> list[list[str | None]]:
    """The cells of a sheet as a reader of workbooks takes them; a formula would be an ``f``."""
    with zipfile.ZipFile(path) as archive:
        root = ElementTree.fromstring(archive.read(f"xl/worksheets/sheet{number}.xml"))
    assert root.find(f".//{MAIN}f") is None
    return [
        [next((leaf.text for leaf in cell.iter() if leaf.text), None) for cell in row]
        for row in root.iter(f"{MAIN}row")
    ]


def test_every_document_is_one_row_and_copies_sum(result: nd.Result, tmp_path: Path) -> None:
    rows = pq.read_table(result.export(tmp_path / "list.parquet")).to_pylist()
    assert [(row["id"], row["decision"], row["copies"]) for row in rows] == [
        ("a", "kept", 2),
        ("-b", "duplicate", None),
        ("c", "kept", 1),
        ("d", "rejected", None),
    ]
    assert [row["title"] for row in rows] == [ROWS[0]["title"], ROWS[1]["title"], None, None]
    assert (rows[1]["kept_id"], rows[1]["kind"], rows[1]["score"]) == ("a", "identical", 1)
    other = [rows[1][f"kept_{name}"] for name in ("path", "title", "url", "source")]
    assert other == ["input", "=HYPERLINK(1)", "http://x/a", "input"]
    assert rows[0]["kept_path"] is None
    counts = result.counts
    assert sum(row["copies"] or 0 for row in rows) == counts.documents - counts.rejected


def test_no_cell_of_a_csv_file_is_a_formula(result: nd.Result, tmp_path: Path) -> None:
    with result.export(tmp_path / "list.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["title"] == "'=HYPERLINK(1)"
    assert rows[1]["id"] == "'-b"


def test_a_workbook_holds_texts_as_they_are(result: nd.Result, tmp_path: Path) -> None:
    path = result.export(tmp_path / "list.xlsx")
    head, *rows = sheet(path)
    title = head.index("title")
    assert [row[title] for row in rows[:2]] == ["=HYPERLINK(1)", "tab_x0001_ _x005F_x0041_ & <b>"]
    assert [row[head.index("copies")] for row in rows] == ["2", None, "1", None]
    assert sheet(path, 2) == [["cluster", "kept_id", "size", "weakest"], ["0", "a", "2", "1.0"]]
    assert path.read_bytes() == result.export(tmp_path / "again.xlsx").read_bytes()


def test_the_path_of_a_text_file_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("x.txt", "y.txt"):
        (tmp_path / "in" / name).write_text(TEXT.format("soon"))
    made = nd.dedup(tmp_path / "in").export(tmp_path / "list.parquet")
    assert [Path(path).name for path in pq.read_table(made)["path"].to_pylist()] == [
        "x.txt",
        "y.txt",
    ]


def test_a_run_writes_it_and_checks_it(run: Run, docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = run("dedup", docs, "-o", out, "--export", "csv", "--export", "xlsx")
    assert done.exit_code == 0
    assert "export.csv, export.xlsx" in done.stderr
    assert "export.xlsx" in (out / "checksums.sha256").read_text()
    later = tmp_path / "later.csv"
    assert run("report", out, "-o", later).exit_code == 0
    assert later.read_bytes() == (out / "export.csv").read_bytes()
    assert run("dedup", docs, "-o", out, "--overwrite").exit_code == 0
    assert not (out / "export.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "OUT/decisions.parquet"], "in the folder of a run"),
        (["-o", "docs.csv"], "is the input"),
        (["-o", "list.csv", "--title", "headline"], "'headline'"),
        (["-o", "list.csv", "--by", "site"], "--by is for pages"),
    ],
)
def test_what_is_refused(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs.csv").write_text("id,text\n1,one\n2,two\n")
    assert run("dedup", "docs.csv", "-o", "OUT").exit_code == 0
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    done = run("report", "OUT", *arguments)
    assert (done.exit_code, said in done.stderr) == (2, True)
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before


def test_a_table_needs_a_folder(run: Run, docs: Path) -> None:
    assert "--export needs a folder" in run("find", docs, "--export", "csv").stderr
