"""Word files → text: paragraphs and notes, and no archive that fills the memory."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

import neardup as nd
from neardup.documents.extraction.docx import LARGEST, NO_TEXT, extract_docx
from neardup.documents.extraction.page import DOCX, Page

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
CORE = (
    '<c:coreProperties xmlns:c="c" xmlns:dc="dc" xmlns:t="t"><dc:title>Harbour</dc:title>'
    "<dc:creator>Ada Brown</dc:creator><t:created>2024-03-05T10:00:00Z</t:created>"
    "</c:coreProperties>"
)


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, **parts: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {W}>{body}</w:document>")
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/") + ".xml", text)
    return data.getvalue()


def test_paragraphs_runs_notes_and_metadata() -> None:
    body = (
        "<w:body><w:p><w:r><w:t>The pier </w:t></w:r><w:r><w:t>is closed</w:t><w:tab/>"
        "<w:t>today.</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        f"<w:tbl><w:tr><w:tc>{paragraph('A cell.')}</w:tc></w:tr></w:tbl></w:body>"
    )
    notes = f"<w:footnotes {W}>{paragraph('A note.')}</w:footnotes>"
    found = extract_docx(
        Page(DOCX, docx(body, word__footnotes=notes, docProps__core=CORE)),
    )
    assert found.text == "The pier is closed\ttoday.\nA cell.\nA note."
    assert found.meta[:3] == ("Harbour", "Ada Brown", "2024-03-05")


ENTITY = '<!DOCTYPE d [<!ENTITY a "b">]>'


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"no archive", "not a zip file"),
        (docx(""), NO_TEXT),
        (docx(" " * (LARGEST + 1)), "more than 64 MB"),
        (docx("")[:-40], "not a zip file"),
        (docx("</w:document>"), "not valid XML"),
        (
            docx(paragraph("A."), word__footnotes=f"{ENTITY}<w:footnotes {W}>&a;</w:footnotes>"),
            "entity",
        ),
    ],
)
def test_what_cannot_be_read_has_a_reason(data: bytes, reason: str) -> None:
    found = extract_docx(Page(DOCX, data))
    assert found.text is None
    assert reason in (found.reason or "")


def test_a_folder_of_word_and_text_files(tmp_path: Path) -> None:
    text = " ".join(f"word{n}" for n in range(40))
    (tmp_path / "a.docx").write_bytes(docx(f"<w:body>{paragraph(text)}</w:body>"))
    (tmp_path / "b.txt").write_text(text, "utf-8")
    (tmp_path / "c.docx").write_bytes(b"broken")
    result = nd.dedup(tmp_path)
    assert (result.counts.kept, result.counts.duplicates, result.counts.rejected) == (1, 1, 1)
