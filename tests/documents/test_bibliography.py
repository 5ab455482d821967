"""References beside a folder of papers, joined to their files, and exported for Zotero."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from cli.sample import Run, run
from documents.extraction.test_pdf import pdf
from documents.pages import ARTICLE, OTHER
from neardup.documents import Columns, collect
from neardup.documents.bibliography import bibtex, references, without_latex
from repeats import examples

__all__ = ["run"]  # a fixture
BIB = r"""% a library
@string{jh = "Journal of Harbours"}
@comment{ nothing }
@article{roe2024, title = {The {Harbour} of M{\"u}nchen \& {\O}rsted},
  author = "Roe, J. and Doe, K.", journal = jh # ", Series " # {B}, year = 2024,
  doi = {10.1234/HARBOUR.5},
  file = {Full Text:files/12/Roe - 2024.pdf:application/pdf;Snapshot:files/13/a.html:text/html}}
@misc{roe-preprint, title={The Harbour}, author={Roe, J.}, journal={arXiv preprint}, year=2023,
  doi={10.48550/arXiv.2301.00001}}
@book{swallows, title = {Swallows}, year = {2020}, note = {read}}
@article{broken, title = {never closed
@article{after, title = {After}}
"""
RIS = """TY  - JOUR
ID  - roe2024
TI  - The Harbour
AU  - Roe, J.
AU  - Doe, K.
PY  - 2024/03/05/
DO  - https://doi.org/10.1234/harbour.5
L1  - C:\\papers\\Roe - 2024.pdf
ER  -
TY  - JOUR
TI  - without an end
"""
CSL: list[Any] = [
    {
        "id": "roe2024",
        "type": "article-journal",
        "title": "The Harbour",
        "author": [{"family": "Roe", "given": "J."}, {"literal": "The Council"}, 7],
        "issued": {"date-parts": [[2024, 3, 5]]},
        "DOI": "10.1234/harbour.5",
        "file": "Roe - 2024.pdf",
    },
    "no item",
]


@pytest.fixture
def library(tmp_path: Path) -> Path:
    top = tmp_path / "library"
    (top / "files/12").mkdir(parents=True)
    (top / "files/12/Roe - 2024.pdf").write_bytes(pdf(ARTICLE))
    arxiv = ("doi:10.48550/arXiv.2301.00001 " + ARTICLE[0], *ARTICLE[1:])
    (top / "paper.pdf").write_bytes(pdf(arxiv))
    (top / "swallows.pdf").write_bytes(pdf(OTHER))
    (top / "library.bib").write_text(BIB)
    return top


def about(folder: Path) -> dict[str, dict[str, Any]]:
    names = Columns(extra=("title", "author", "date", "url"))
    batches = [chunk.read() for chunk in collect(folder).chunks(names)]
    return {row["id"]: row for batch in batches for row in batch.records.to_pylist()}


def test_metadata_is_joined_by_file_name_key_and_doi(library: Path) -> None:
    found = about(library)
    assert set(found) == {"files/12/Roe - 2024.pdf", "paper.pdf", "swallows.pdf"}
    roe = found["files/12/Roe - 2024.pdf"]
    assert (roe["title"], roe["author"]) == ("The Harbour of München & Ørsted", "Roe, J.; Doe, K.")
    assert (roe["date"], roe["url"]) == ("2024", "https://doi.org/10.1234/harbour.5")
    assert found["paper.pdf"]["date"] == "2023"  # by the DOI on its first page
    assert found["swallows.pdf"]["title"] == "Swallows"  # by its key


@pytest.mark.parametrize(
    ("lines", "date", "year"),
    [
        ("PY  - 2021\nDA  - 2021/03/04", "2021-03-04", "2021"),
        ("DA  - 2021/03/04/\nPY  - 2021", "2021-03-04", "2021"),
        ("PY  - 2021\nDA  - 2020/12", "2020-12", "2021"),
        ("PY  - 2021/05\nDA  - May 2021", "2021-05", "2021"),
        ("DA  - 2021/03/04", "2021-03-04", "2021"),
    ],
)
def test_the_fuller_date_of_a_ris_record_wins(lines: str, date: str, year: str) -> None:
    [one], _ = references("a.ris", f"TY  - JOUR\nTI  - A\n{lines}\nER  - \n".encode())
    assert (one.fields["date"], one.fields["year"]) == (date, year)


def test_the_kept_papers_are_a_list_that_links_the_preprint(
    library: Path, tmp_path: Path, run: Run
) -> None:
    out = tmp_path / "out"
    done = run("dedup", library, "-o", out, "--export", "bibtex", "--export", "ris")
    assert done.exit_code == 0, done.output
    assert "export.bib, export.ris" in done.output
    kept, lost = references("export.bib", (out / "export.bib").read_bytes())
    assert (lost, {one.key for one in kept}) == (0, {"roe2024", "swallows"})
    roe = next(one for one in kept if one.key == "roe2024")
    assert roe.fields["journal"] == "Journal of Harbours, Series B"
    assert r"M{\"u}nchen" in roe.written["title"]  # as written
    assert roe.fields["note"].startswith("Preprint: paper.pdf, doi:10.48550/arxiv.2301.00001")
    assert roe.files == (str(library / "files/12/Roe - 2024.pdf"),)
    assert next(one for one in kept if one.key == "swallows").fields["note"] == "read"
    listed, lost = references("export.ris", (out / "export.ris").read_bytes())
    assert (lost, listed[0].fields["author"]) == (0, "Roe, J. and Doe, K.")
    later = tmp_path / "later.bib"
    assert run("report", out, "-o", later).exit_code == 0
    assert later.read_bytes() == (out / "export.bib").read_bytes()


@pytest.mark.parametrize(
    ("name", "content"), [("a.ris", RIS), ("a.json", json.dumps(CSL)), ("a.bib", BIB)]
)
def test_the_same_reference_in_every_format(library: Path, name: str, content: str) -> None:
    (library / "library.bib").unlink()
    (library / name).write_text(content)
    roe = about(library)["files/12/Roe - 2024.pdf"]
    assert roe["title"].startswith("The Harbour")
    assert roe["author"].startswith("Roe, J.; ")
    assert roe["url"] == "https://doi.org/10.1234/harbour.5"
    known, lost = references(name, content.encode())
    assert (known[0].key, known[0].doi, lost) == ("roe2024", "10.1234/harbour.5", 1)


def test_documents_without_references_are_listed_by_what_they_state(tmp_path: Path) -> None:
    rows = [
        {"id": "a b", "title": "A {brace} & 100%", "author": "Roe; Doe", "date": "2024-01-02",
         "text": ARTICLE[0], "url": "https://doi.org/10.1000/a_b?c=%20&d~e"},
        {"id": "c", "text": ARTICLE[0]},
        {"id": "a_b", "text": OTHER[0], "title": "}\n@article{evil, title={x}}"},
    ]  # fmt: skip
    path = nd.dedup(rows).export(tmp_path / "list.bib")
    kept, lost = references(path.name, path.read_bytes())
    assert (lost, [one.key for one in kept]) == (0, ["a_b", "a_b-2"])
    first = kept[0].fields
    assert (first["title"], first["author"]) == ("A (brace) & 100%", "Roe and Doe")
    assert first["url"] == rows[0]["url"]
    assert "url = {https://doi.org/10.1000/a_b?c=%20&d~e}" in path.read_text()
    assert (first["year"], first["note"]) == ("2024", "Copy: c, identical, score 1.00")
    assert kept[1].fields["title"] == ") @article(evil, title=(x))"


def test_a_list_without_papers_or_without_references_is_a_text(library: Path) -> None:
    (library / "empty.bib").write_text("no entry at all")
    (library / "cut.json").write_text('[{"type": "book", "title": ')
    assert {"empty.bib", "cut.json"} <= set(about(library))
    for path in library.rglob("*.pdf"):
        path.unlink()
    (library / "library.bib").rename(library / "alone.bib")
    assert nd.dedup(library, method="exact").decisions["id"].to_pylist() == [
        "alone.bib",
        "cut.json",
        "empty.bib",
    ]


@examples(60)
@given(st.text(st.sampled_from('@article{}(),="#\\ \n%aé1:;'), max_size=80))
def test_any_text_is_read_and_written_again(text: str) -> None:
    known, _ = references("a.bib", ("@article{k, title = {" + text).encode())
    for one in known:
        again, lost = references("b.bib", bibtex(one, {"note": text}).encode())
        assert (lost, [other.key for other in again]) == (0, [one.key])
    references("a.ris", text.encode())
    without_latex(text)


def test_a_library_in_an_archive(library: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "library"), "zip", library)
    found = about(Path(archive))
    assert set(found) == {"files/12/Roe - 2024.pdf", "paper.pdf", "swallows.pdf"}
    assert found["swallows.pdf"]["title"] == "Swallows"
