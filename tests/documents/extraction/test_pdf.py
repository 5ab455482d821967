"""PDF → text: pages without their headers and footers, words whole, whatever is broken."""

from __future__ import annotations

import datetime
import random
from pathlib import Path

import pytest
from fpdf import FPDF
from fpdf.enums import EncryptionMethod

import neardup as nd
from documents.pages import ARTICLE, OTHER, plain_skin
from neardup.documents.extraction.extractor import Extractor
from neardup.documents.extraction.page import Page
from neardup.documents.extraction.pdf import NO_TEXT, extract_pdf, joined_pages, without_edges
from neardup.documents.file_formats import PDF


class Paper(FPDF):
    head: str = ""

    def header(self) -> None:
        if self.head:
            self.set_font("helvetica", size=8)
            self.cell(0, 10, f"{self.head} {self.page_no()} of 9", new_x="LMARGIN", new_y="NEXT")

    def footer(self) -> None:
        if self.head:
            self.set_y(-15)
            self.set_font("helvetica", size=8)
            self.cell(0, 10, f"- {self.page_no()} -")


def pdf(parts: tuple[str, ...] = ARTICLE, head: str = "", password: str | None = None) -> bytes:
    made = Paper()
    made.head = head
    made.set_title("Harbour closed")
    made.set_author("Ada Brown")
    made.set_creation_date(datetime.datetime(2024, 3, 5, tzinfo=datetime.UTC))
    for part in parts:
        made.add_page()
        made.set_font("helvetica", size=12)
        if part:
            made.multi_cell(0, 6, part)
    if password:
        made.set_encryption("owner", password, encryption_method=EncryptionMethod.AES_128)
    return bytes(made.output())


def words(text: str | None) -> list[str]:
    return (text or "").split()


def test_headers_and_footers_go() -> None:
    found = extract_pdf(Page(PDF, pdf(head="The Coast, report, page")))
    assert words(found.text) == words(" ".join(ARTICLE))
    assert found.meta[:3] == ("Harbour closed", "Ada Brown", "2024-03-05")


def test_two_pages_cannot_say_what_repeats() -> None:
    found = extract_pdf(Page(PDF, pdf(ARTICLE[:2], "The Coast, page")))
    assert "The Coast, page 2 of 9" in (found.text or "")


@pytest.mark.parametrize(
    ("pages", "left"),
    [
        ([["Report 1", "a"], ["Report 2", "b"], ["Report 3", "c"]], [["a"], ["b"], ["c"]]),
        # Left and right pages have their own; one page has none.
        (
            [["L 2", "a"], ["c", "R"], ["L 4", "b"], ["d", "R"], ["L 6", "e"], ["f", "R"], ["g"]],
            [["a"], ["c"], ["b"], ["d"], ["e"], ["f"], ["g"]],
        ),
        # Rows of a table stay, the number of a page goes.
        ([["1 2", "3"], ["4 5", "6"], ["7 8", "9"]], [["1 2"], ["4 5"], ["7 8"]]),
        ([["a"], ["b"], []], [["a"], ["b"], []]),
    ],
)
def test_what_is_a_header(pages: list[list[str]], left: list[list[str]]) -> None:
    assert list(without_edges(pages)) == left


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("the infor-\nmation", "the information"),
        ("the infor\ufffe\nmation", "the information"),
        ("Rhine-\nWestphalia", "Rhine-\nWestphalia"),
        ("pages 3-\n5", "pages 3-\n5"),
        ("a -\nlist", "a -\nlist"),
    ],
)
def test_broken_words(text: str, joined: str) -> None:
    assert joined_pages([text]) == joined


def test_what_has_no_text_or_is_locked_says_so() -> None:
    assert extract_pdf(Page(PDF, pdf(("", "")))).reason == NO_TEXT
    locked = extract_pdf(Page(PDF, pdf(password="secret")))
    assert (locked.text, locked.reason) == (None, "PDF is encrypted: it needs a password")
    assert extract_pdf(Page(PDF, b"")).reason == (
        "PDF cannot be read: Failed to load document (PDFium: Data format error)"
    )


def test_broken_files_never_end_a_run() -> None:
    whole, draw = pdf(head="The Coast"), random.Random(7)
    broken = [whole[: draw.randrange(len(whole))] for _ in range(60)]
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.choice([1, 5, 50])):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        broken.append(bytes(data))
    found = Extractor().texts([Page(PDF, data) for data in broken])
    assert len(found) == len(broken)
    assert all((one.text is None) == (one.reason is not None) for one in found)


def test_one_text_as_page_and_as_paper(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.html").write_text(plain_skin())
    (tmp_path / "in/b.pdf").write_bytes(pdf(head="The Coast, page"))
    (tmp_path / "in/c.pdf").write_bytes(pdf(OTHER))
    (tmp_path / "in/d.pdf").write_bytes(b"%PDF-1.4 broken")
    result = nd.dedup(tmp_path / "in", method="shingles", threshold=0.7)
    assert result.duplicates.select(["id", "kept_id"]).to_pylist() == [
        {"id": "b.pdf", "kept_id": "a.html"}
    ]
    assert result.counts.rejected == 1
    result.save(tmp_path / "out")
    assert (tmp_path / "out/kept/c.pdf").read_bytes() == (tmp_path / "in/c.pdf").read_bytes()
