"""Folders and files of pages, and columns that hold HTML, from input to kept output."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import neardup as nd
from documents.pages import ARTICLE, OTHER, plain_skin, rich_skin
from neardup.documents import Columns, collect
from neardup.documents.extraction.extractor import Extraction
from neardup.errors import ColumnError

FILES = {
    "a.html": plain_skin().encode(),
    "b/c.HTM": rich_skin().encode("cp1252"),
    "b/empty.html": b"",
    "notes.txt": "\n".join(OTHER).encode(),
    "other.xhtml": rich_skin(OTHER, "Swallows").encode("utf-16"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(data)
    return tmp_path / "in"


@pytest.mark.parametrize("how", [None, "resiliparse"])
@pytest.mark.parametrize("workers", [1, 2])
def test_one_article_in_two_skins(folder: Path, how: str | None, workers: int) -> None:
    result = nd.dedup(folder, method="shingles", threshold=0.8, extract=how, workers=workers)
    decided = {row["id"]: row["kept_id"] or row["reason"] for row in result.decisions.to_pylist()}
    assert decided == {
        "a.html": "representative",
        "b/c.HTM": "a.html",
        "b/empty.html": "page has no text",
        "notes.txt": "representative",
        "other.xhtml": "notes.txt",
    }
    assert result.info["extracted"] == {how or "trafilatura": 3}
    assert result.info["settings"]["extract"] == how
    (kept, _) = result.kept.to_pylist()
    assert (kept["title"], kept["author"]) == ("Harbour closed", "Ada Brown")


def test_kept_pages_are_copies_and_a_run_is_read_back(folder: Path, tmp_path: Path) -> None:
    nd.dedup(folder, method="shingles", extract="resiliparse").save(tmp_path / "out")
    assert (tmp_path / "out/kept/a.html").read_bytes() == FILES["a.html"]
    assert (tmp_path / "out/kept.txt").read_text() == "a.html\nnotes.txt\n"
    again = nd.Result.load(tmp_path / "out")
    assert ARTICLE[0] in again.kept.to_pylist()[0]["text"]
    assert again.collection().extractor.extraction.how == "resiliparse"


def test_policies_read_what_pages_say(folder: Path) -> None:
    (folder / "b/c.HTM").write_text(plain_skin().replace("2024-03-05", "2025-01-01"))
    result = nd.dedup(folder, keep="newest", date="date", within="lang", method="shingles")
    first = result.duplicates.select(["id", "kept_id"]).to_pylist()[0]
    assert first == {"id": "a.html", "kept_id": "b/c.HTM"}
    with pytest.raises(ColumnError, match="Column 'publisher' is not in the folder"):
        nd.dedup(folder, within="publisher")


def test_without_extraction_pages_are_text(folder: Path) -> None:
    (batch,) = [c.read() for c in collect(folder, extraction=Extraction("none")).chunks()]
    assert batch.records["text"].to_pylist()[0] == plain_skin()
    with pytest.raises(ColumnError, match="'title' is not in"):
        list(collect(folder, extraction=Extraction("none")).chunks(Columns(extra=("title",))))


def test_single_files_and_globs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    given = [Path("a.html"), Path("b/*.HTM"), Path("../in/other.xhtml")]
    result = nd.dedup(given, method="shingles", extract="all-text", threshold=0.3)
    assert result.decisions["id"].to_pylist() == ["a.html", "b/c.HTM", "../in/other.xhtml"]
    result.save(tmp_path / "out")
    assert (tmp_path / "out/kept.txt").read_text() == "a.html\nin/other.xhtml\n"
    assert (tmp_path / "out/kept/in/other.xhtml").read_bytes() == FILES["other.xhtml"]
    again = nd.Result.load(tmp_path / "out")
    assert again.kept.column("id").to_pylist() == ["a.html", "../in/other.xhtml"]


@pytest.mark.parametrize("form", ["jsonl", "parquet", "list"])
def test_columns_of_html(tmp_path: Path, form: str) -> None:
    rows = [
        {"id": "a", "html": plain_skin()},
        {"id": "b", "html": rich_skin()},
        {"id": "c", "html": "<script>x</script>"},
        {"id": "d", "html": None},
        {"id": "e", "html": rich_skin(OTHER)},
    ]
    path = tmp_path / f"crawl.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif form == "parquet":
        pa.parquet.write_table(pa.Table.from_pylist(rows), path)
    given = rows if form == "list" else path
    result = nd.dedup(given, text="html", extract="resiliparse", method="shingles")
    assert result.duplicates["id"].to_pylist() == ["b"]
    reasons = {row["id"]: row["reason"] for row in result.decisions.to_pylist()}
    assert (reasons["c"], reasons["d"]) == ("page has no text", "html is null")
    kept = result.kept if form == "list" else result.kept.to_pylist()
    assert [row["html"] for row in kept] == [rows[0]["html"], rows[4]["html"]]
    assert (
        "Section number"
        not in result.collection().texts(
            result.decisions["file"][0].as_py(), [2], Columns(text="html")
        )[0]
    )


def test_copies_never_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, data in (("x/a.html", ARTICLE), ("y/x/a.html", OTHER)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(plain_skin(data))
    monkeypatch.chdir(tmp_path / "y")
    result = nd.dedup([Path("x/a.html"), Path("../x/a.html")], extract="all-text")
    result.save(tmp_path / "out")
    assert (tmp_path / "out/kept.txt").read_text() == "x/a.html\nx/2-a.html\n"
    assert ARTICLE[0] in (tmp_path / "out/kept/x/2-a.html").read_text()


def test_annotated_pages_are_listed(folder: Path, tmp_path: Path) -> None:
    from neardup.runs.annotation import annotating

    annotating(nd.dedup(folder, method="shingles", extract="all-text")).save(tmp_path / "out")
    lines = (tmp_path / "out/annotated.files.jsonl").read_text().splitlines()
    assert len(lines) == len(FILES)


def test_chunks_and_passes_do_not_matter(folder: Path) -> None:
    from neardup.documents.folder import FolderSource

    texts = []
    for size in (1, 1 << 30):
        source = FolderSource(folder, "in", chunk_bytes=size)
        batches = [chunk.read() for chunk in source.chunks(Columns())]
        texts.append([text for batch in batches for text in batch.records["text"].to_pylist()])
    assert texts[0] == texts[1]
    keep = np.ones(len(FILES), bool)
    assert collect(folder).kept(keep).column("text").to_pylist()[0] == texts[0][0]
