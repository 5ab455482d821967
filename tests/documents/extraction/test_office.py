"""Office files and books → text, and no archive that fills the memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import neardup as nd
from documents.extraction.office_files import (
    CORE,
    W,
    docx,
    epub,
    odt,
    package,
    paragraph,
    pptx,
    rtf,
    slide,
)
from documents.extraction.test_pdf import pdf
from documents.pages import ARTICLE, OTHER, plain_skin
from neardup.documents.encodings import OLE
from neardup.documents.extraction.office import LARGEST
from neardup.documents.extraction.page import Extracted, Page
from neardup.documents.extraction.rtf import DEEPEST
from neardup.documents.extraction.worker import extract
from neardup.documents.file_formats import DOCX, EPUB, ODF, PPTX, RTF

META = ("Harbour", "Ada Brown", "2024-03-05")


def read(kind: str, data: bytes) -> Extracted:
    return extract(Page(kind, data), "all-text")


def test_word_paragraphs_runs_notes_and_metadata() -> None:
    body = (
        "<w:body><w:p><w:r><w:t>The pier </w:t></w:r><w:r><w:t>is closed</w:t><w:tab/>"
        "<w:t>today.</w:t></w:r><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
        f"<w:tbl><w:tr><w:tc>{paragraph('A cell.')}</w:tc></w:tr></w:tbl>"
        f"<w:p><w:Choice>{paragraph('A box.')}</w:Choice>"
        f"<w:Fallback>{paragraph('A box.')}</w:Fallback></w:p></w:body>"
    )
    notes = f"<w:footnotes {W}>{paragraph('A note.')}</w:footnotes>"
    found = read(DOCX, docx(body, word__footnotes=notes, docProps__core=CORE))
    assert found.text == "The pier is closed\ttoday.\nA cell.\nA box.\nA note."
    assert found.meta[:3] == META


def test_slides_come_in_the_order_of_the_presentation_and_notes_after_them() -> None:
    found = read(PPTX, pptx([["First slide.", "Its text."], ["Second slide."]], "Say hello."))
    assert found.text == "First slide.\nIts text.\nSecond slide.\nSay hello."
    assert found.meta[:3] == META


def test_opendocument_headings_notes_and_metadata_without_deleted_text() -> None:
    body = (
        "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
        "<text:h>Harbour</text:h><text:p>The pier<text:s text:c='2'/><text:span>is</text:span>"
        " closed.<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>A note.</text:p></text:note-body></text:note> Today.</text:p>"
        "<text:list><text:list-item><text:p>A point.</text:p></text:list-item></text:list>"
    )
    meta = (
        '<m xmlns:dc="dc" xmlns:e="e"><dc:title>Harbour</dc:title><dc:creator>Last</dc:creator>'
        "<e:initial-creator>Ada Brown</e:initial-creator>"
        "<e:creation-date>2024-03-05T10:00:00</e:creation-date></m>"
    )
    found = read(ODF, odt(body, meta=meta))
    assert found.text == "Harbour\nThe pier is closed. Today.\nA point.\nA note."
    assert found.meta[:3] == META


def test_chapters_of_a_book_in_order_without_its_table_of_contents() -> None:
    found = read(EPUB, epub(["<h1>One</h1><p>The pier &amp; the bay.</p>", "<p>Two.</p>"]))
    assert found.text == "One\nThe pier & the bay.\nTwo."
    assert (*found.meta[:3], found.meta.lang) == (*META, "en")


def test_rtf_characters_notes_and_metadata_without_what_is_not_text() -> None:
    body = (
        r"\pard{\*\bkmkstart Gone}The \b pier\b0  is caf\'e9 \u8212? \u-10179?\u-8704? closed\tab "
        "now.\\par\r\n{\\pict\\wmetafile8 0102}{\\f1 \\'cf\\'e8\\'f0} {\\field{\\*\\fldinst "
        r"HYPERLINK}{\fldrslt a link}}{\deleted gone}{\footnote A note.}\par\bin5 }}}}}\{end\}"
    )
    found = read(RTF, rtf(body))
    assert found.text == "The pier is café — 😀 closed\tnow.\nПир a link\n{end}\nA note."
    assert found.meta[:3] == META


ENTITY = '<!DOCTYPE d [<!ENTITY a "b">]>'
LOCK = (
    "<encryption><EncryptedData><EncryptionMethod Algorithm='{}'/><CipherData>"
    "<CipherReference URI='{}'/></CipherData></EncryptedData></encryption>"
)
LOCKED = '<manifest><file-entry><encryption-data checksum="a"/></file-entry></manifest>'
CHAPTER = "OPS/Text/ch%201.xhtml"
NO_BOOK: dict[str, str | bytes] = {"META-INF/container.xml": "<container/>"}


@pytest.mark.parametrize(
    ("kind", "data", "reason"),
    [
        (DOCX, b"no archive", "not a zip file"),
        (DOCX, b"", "Word document is empty"),
        (DOCX, docx(""), "has no text"),
        (DOCX, lambda: docx(" " * (LARGEST + 1)), "more than 64 MB"),
        (DOCX, docx("")[:-40], "not a zip file"),
        (DOCX, docx("</w:document>"), "not valid XML"),
        (DOCX, docx("", word__footnotes=f"{ENTITY}<w:footnotes {W}>&a;</w:footnotes>"), "entity"),
        (DOCX, OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted and needs a password"),
        (DOCX, OLE + b"WordDocument", "Office 97"),
        (ODF, b"", "OpenDocument file is empty"),
        (PPTX, package({"a": "b"}), "no ppt/presentation.xml"),
        (PPTX, lambda: pptx([["a" * (LARGEST // 2)], ["b" * (LARGEST // 2)]]), "more than 64 MB"),
        (ODF, odt("", **{"META-INF__manifest": LOCKED}), "encrypted and needs a password"),
        (ODF, package({"encrypted-package": b"\1\2"}), "encrypted and needs a password"),
        (ODF, odt("<text:p>" * 300 + "</text:p>" * 300), "200 levels deep"),
        (EPUB, epub(["a"], **{"META-INF__encryption": LOCK.format("x", CHAPTER)}), "DRM"),
        (EPUB, package(NO_BOOK), "names no book"),
        (EPUB, epub([]), "has no text"),
        (RTF, b"plain", "does not begin"),
        (RTF, rtf(""), "has no text"),
        (RTF, b"{\\rtf1" + b"{" * (DEEPEST + 1), "inside each other"),
    ],
)
def test_what_cannot_be_read_has_a_reason(
    kind: str, data: bytes | Callable[[], bytes], reason: str
) -> None:
    """Large files are functions, so that only this test makes them."""
    found = read(kind, data() if callable(data) else data)
    assert found.text is None
    assert reason in (found.reason or "")


def test_obscured_fonts_are_no_encryption() -> None:
    fonts = LOCK.format("http://www.idpf.org/2008/embedding", "OPS/font.otf")
    assert read(EPUB, epub(["A page."], **{"META-INF__encryption": fonts})).text == "A page."


def test_macros_are_left_alone() -> None:
    data = docx(paragraph("Text."), word__vbaProject="Sub AutoOpen()")
    assert read(DOCX, data).text == "Text."


def files_of(parts: tuple[str, ...]) -> dict[str, bytes]:
    text = "\n\n".join(parts)
    return {
        "docx": docx("<w:body>" + "".join(map(paragraph, parts)) + "</w:body>"),
        "docm": docx("".join(map(paragraph, parts)), word__vbaProject="Sub AutoOpen()"),
        "odt": odt("".join(f"<text:p>{part}</text:p>" for part in parts)),
        "epub": epub(["".join(f"<p>{part}</p>" for part in parts)]),
        "rtf": rtf(r"\par ".join(parts)),
        "pptx": pptx([[part] for part in parts]),
        "html": plain_skin(parts).encode(),
        "txt": text.encode(),
    }


def test_one_text_in_all_formats_is_one_document_and_broken_files_are_rejected(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    formats = files_of(ARTICLE) | {"pdf": pdf(ARTICLE)}
    for ending, data in formats.items():
        (folder / f"a.{ending}").write_bytes(data)
        if ending not in ("html", "txt"):  # any bytes are a page or a text
            (folder / f"broken.{ending}").write_bytes(b"\0\1" * 20)
    (folder / "other.odt").write_bytes(files_of(OTHER)["odt"])
    result = nd.dedup(folder)
    counts = result.counts
    assert (counts.kept, counts.duplicates) == (2, len(formats) - 1)
    assert counts.rejected == len(formats) - 2
    result.save(tmp_path / "out")
    kept = sorted(path.name for path in (tmp_path / "out" / "kept").iterdir())
    assert kept == ["a.docm", "other.odt"]
    assert (tmp_path / "out/kept/a.docm").read_bytes() == formats["docm"]


def test_a_presentation_without_the_parts_it_names_is_rejected() -> None:
    data = package({"ppt/presentation.xml": slide(["no list of slides"])})
    assert read(PPTX, data).reason == "presentation has no text"
