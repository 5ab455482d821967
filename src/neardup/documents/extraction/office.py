"""The text of office files and books: .docx, .pptx, .odt, .odp and .epub, paragraph by paragraph.

All of them are ZIP archives of XML files (ECMA-376, ODF, EPUB). Only the parts that hold text are
opened, so macros, pictures and embedded files are never read. The parts of a file together unpack
to at most ``LARGEST`` bytes, so that an archive that unpacks to gigabytes costs no memory. Their
XML is parsed as any other: entities are refused. Deleted text that is tracked as a change,
comments, and fields such as the number of a slide are left out; notes follow the text.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from neardup.documents.encodings import OLE
from neardup.documents.extraction.page import Extracted, Meta, Page, decoded_html, visible_text
from neardup.documents.file_formats import DOCX, EPUB, ODF, PPTX
from neardup.documents.xml import Element, local, tree
from neardup.errors import UnreadableError

LARGEST = 64 << 20  # bytes of all parts; the text of a thousand pages takes ten
NAMES = {DOCX: "Word document", PPTX: "presentation", ODF: "OpenDocument file", EPUB: "EPUB book"}
_ENCRYPTED = "it is encrypted and needs a password"
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)


def extract_office(page: Page) -> Extracted:
    name = NAMES[page.kind]
    if not page.data:
        return Extracted(None, f"{name} is empty")
    try:
        with _opened(page.data) as archive:
            text, meta = _READERS[page.kind](Package(archive))
    except UnreadableError as error:
        return Extracted(None, f"{name} cannot be read: {error.reason}")
    except _BROKEN as error:
        return Extracted(None, f"{name} cannot be read: {error}")
    if not text.strip():
        return Extracted(None, f"{name} has no text", meta)
    return Extracted(text, None, meta, page.kind)


def _opened(data: bytes) -> zipfile.ZipFile:
    """Office encrypts a file by putting it into an OLE container, which was also the format of
    binary files (.doc, .ppt)."""
    if data.startswith(OLE):
        encrypted = "EncryptedPackage".encode("utf-16-le") in data
        raise _unreadable(
            _ENCRYPTED if encrypted else "it is a file of Office 97–2003; save it anew"
        )
    return zipfile.ZipFile(io.BytesIO(data))


def _unreadable(reason: str) -> UnreadableError:
    return UnreadableError(f"The file cannot be read: {reason}.", reason=reason)


class Package:
    """The parts of a file by name, up to a size of all of them."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._left = LARGEST

    def __contains__(self, name: str) -> bool:
        return name in self._archive.NameToInfo

    def data(self, name: str) -> bytes:
        if name not in self:
            raise _unreadable(f"it has no {name}")
        with self._archive.open(name) as stream:
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise _unreadable(f"its text unpacks to more than {LARGEST >> 20} MB")
        return data

    def root(self, name: str) -> Element:
        return tree(self.data(name))

    def optional(self, name: str) -> Element | None:
        return self.root(name) if name in self else None

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """The parts that an ECMA-376 part refers to: kind and name by the id of the relation."""
        folder, _, file = name.rpartition("/")
        root = self.optional(f"{folder}/_rels/{file}.rels")
        return {
            one.get("Id", ""): (one.get("Type", "").rpartition("/")[2], _joined(folder, target))
            for one in (() if root is None else root)
            if (target := one.get("Target")) and one.get("TargetMode") != "External"
        }


def _joined(folder: str, target: str) -> str:
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")


# ECMA-376: text is in elements ``t`` of paragraphs ``p``, in Word files and presentations.
_CORE = "docProps/core.xml"
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_NO_TEXT = ("del", "moveFrom", "fld", "Fallback")  # the last repeats a text box for old programs
_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def _docx(package: Package) -> tuple[str, Meta]:
    notes = ("word/footnotes.xml", "word/endnotes.xml")
    names = ["word/document.xml", *(name for name in notes if name in package)]
    lines = [line for name in names for line in _paragraphs(package.root(name))]
    return "\n".join(lines), _meta(package.optional(_CORE), "creator", "created")


def _pptx(package: Package) -> tuple[str, Meta]:
    """Slides in the order of the presentation, then the notes of the speaker."""
    start = "ppt/presentation.xml"
    related = package.related(start)
    listed = [one.get(_ID, "") for one in package.root(start).iter() if local(one) == "sldId"]
    slides = [related[id_][1] for id_ in listed if id_ in related]
    notes = [
        name
        for slide in slides
        for kind, name in package.related(slide).values()
        if kind == "notesSlide"
    ]
    lines = [line for name in (*slides, *notes) for line in _paragraphs(package.root(name))]
    return "\n".join(lines), _meta(package.optional(_CORE), "creator", "created")


def _paragraphs(element: Element) -> Iterator[str]:
    """A paragraph inside another one, as in a text box, is a line of its own."""
    for child in element:
        if local(child) == "p" and (line := "".join(_pieces(child))).strip():
            yield line
        if local(child) not in _NO_TEXT:
            yield from _paragraphs(child)


def _pieces(paragraph: Element) -> Iterator[str]:
    for child in paragraph:
        name = local(child)
        if name == "t":
            yield child.text or ""
        elif name in _SIGNS:
            yield _SIGNS[name]
        elif name != "p" and name not in _NO_TEXT:
            yield from _pieces(child)


def _meta(root: Element | None, author: str, date: str) -> Meta:
    values = {} if root is None else {local(e): (e.text or "").strip() for e in root.iter()}
    return Meta(
        title=values.get("title") or None,
        author=values.get(author) or values.get("creator") or None,
        date=values.get(date, "")[:10] or None,
        lang=values.get("language") or None,
    )


# OpenDocument: paragraphs and headings have text between their elements.
_LINES = ("p", "h")
_HIDDEN = ("tracked-changes", "annotation", "note-citation", "page-number")


def _odf(package: Package) -> tuple[str, Meta]:
    if "encrypted-package" in package or _is_encrypted(package):
        raise _unreadable(_ENCRYPTED)
    notes: list[str] = []
    lines = list(_odf_lines(package.root("content.xml"), notes))
    meta = _meta(package.optional("meta.xml"), "initial-creator", "creation-date")
    return "\n".join((*lines, *notes)), meta


def _is_encrypted(package: Package) -> bool:
    root = package.optional("META-INF/manifest.xml")
    return root is not None and any(local(one) == "encryption-data" for one in root.iter())


def _odf_lines(element: Element, notes: list[str]) -> Iterator[str]:
    for child in element:
        name = local(child)
        if name in _LINES:
            if (line := "".join(_odf_pieces(child, notes))).strip():
                yield line
        elif name not in _HIDDEN:
            yield from _odf_lines(child, notes)


def _odf_pieces(element: Element, notes: list[str]) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        name = local(child)
        if name == "s":
            yield " "
        elif name in ("tab", "line-break"):
            yield "\t" if name == "tab" else "\n"
        elif name in ("note", "frame"):
            notes += list(_odf_lines(child, notes))
        elif name not in _HIDDEN:
            yield from _odf_pieces(child, notes)
        yield child.tail or ""


# EPUB: pages of XHTML in the order of the spine.
_FONTS = re.compile(r"idpf\.org/2008/embedding|adobe\.com/pdf/enc#RC")  # obscured, not encrypted


def _epub(package: Package) -> tuple[str, Meta]:
    """All text of its pages. The table of contents is left out, and so is a page that the file
    lists but does not have."""
    container = package.root("META-INF/container.xml")
    places = [one.get("full-path", "") for one in container.iter() if local(one) == "rootfile"]
    if not places:
        raise _unreadable("its container names no book")
    book = package.root(places[0])
    pages = [page for page in _spine(book, posixpath.dirname(places[0])) if page in package]
    if not set(pages).isdisjoint(_locked(package)):
        raise _unreadable("it is encrypted (DRM)")
    texts = (visible_text(decoded_html(package.data(page)).text or "") for page in pages)
    return "\n".join(filter(None, texts)), _meta(book, "creator", "date")


def _spine(book: Element, folder: str) -> Iterator[str]:
    items = {one.get("id"): one for one in book.iter() if local(one) == "item"}
    for one in book.iter():
        item = items.get(one.get("idref")) if local(one) == "itemref" else None
        if item is not None and "nav" not in item.get("properties", "").split():
            yield _joined(folder, unquote(item.get("href", "")))


def _locked(package: Package) -> set[str]:
    root = package.optional("META-INF/encryption.xml")
    return {
        _joined("", unquote(one.get("URI", "")))
        for data in (() if root is None else root.iter())
        if local(data) == "EncryptedData" and not _FONTS.search(_algorithm(data))
        for one in data.iter()
        if local(one) == "CipherReference"
    }


def _algorithm(data: Element) -> str:
    methods = (e for e in data.iter() if local(e) == "EncryptionMethod")
    return next((one.get("Algorithm", "") for one in methods), "")


_READERS: dict[str, Callable[[Package], tuple[str, Meta]]] = {
    DOCX: _docx,
    PPTX: _pptx,
    ODF: _odf,
    EPUB: _epub,
}
