"""The text of a PDF, page by page, without headers and footers (pypdfium2).

A line at the edge of a page is a header or footer if the same line, apart from digits, is at this
edge of at least three pages and of three in ten: running heads of left and right pages are each on
half of them. A line without letters must have a single number, the page number, so that rows of
tables stay. If a line ends with a letter and a hyphen and the next one begins with a small letter,
both are joined to one word. This also removes the hyphen of a compound word that is broken there,
which no rule can distinguish.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from neardup.documents.extraction.page import Extracted, Meta, Page

EDGE, FEWEST_PAGES, SHARE = 3, 3, 0.3
# pdfium returns U+FFFE, or U+0002, for a hyphen that it considers a line break.
_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010\u0002\ufffe]\s*\n\s*(?=[^\W\d_])")
_DIGITS = re.compile(r"\d+")
_STAMP = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
NO_TEXT = "PDF has no text: its pages may be pictures, which need OCR first"


def extract_pdf(page: Page) -> Extracted:
    import pypdfium2 as pdfium

    try:
        document = pdfium.PdfDocument(page.data)
    except pdfium.PdfiumError as error:
        return Extracted(None, _why(str(error)))
    try:
        texts = list(_page_texts(document))
        meta = _meta(document)
    finally:
        document.close()
    if not any(map(str.strip, texts)):
        return Extracted(None, NO_TEXT, meta)
    return Extracted(joined_pages(texts), None, meta, "pdf")


def _why(said: str) -> str:
    if "password" in said.lower():
        return "PDF is encrypted: it needs a password"
    return f"PDF cannot be read: {said.rstrip('.')}"


def _page_texts(document: Any) -> Iterator[str]:
    """The text of each page; a broken page has none, and the others are read."""
    import pypdfium2 as pdfium

    for number in range(len(document)):
        try:
            page = document[number]
            text = page.get_textpage().get_text_bounded()
        except pdfium.PdfiumError:
            text = ""
        yield text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", " ")


def _meta(document: Any) -> Meta:
    values = {name: value.replace("\0", "").strip() for name, value in _metadata(document).items()}
    stamp = _STAMP.match(values.get("CreationDate", ""))
    date = "-".join(part or "01" for part in stamp.groups()) if stamp else None
    return Meta(title=values.get("Title") or None, author=values.get("Author") or None, date=date)


def _metadata(document: Any) -> dict[str, str]:
    try:
        return dict(document.get_metadata_dict())
    except (UnicodeDecodeError, ValueError):  # strings in no encoding
        return {}


def joined_pages(texts: Sequence[str]) -> str:
    """One text, without headers and footers, with broken words joined."""
    pages = [[line.strip() for line in text.split("\n") if line.strip()] for text in texts]
    left = "\n\n".join("\n".join(lines) for lines in without_edges(pages) if lines)
    return _BROKEN_WORD.sub(_rejoined, left)


def _rejoined(broken: re.Match[str]) -> str:
    return "" if broken.string[broken.end()].islower() else broken[0]


def without_edges(pages: Sequence[list[str]]) -> Iterator[list[str]]:
    """The lines of each page without those that are repeated at its edges."""
    full = [lines for lines in pages if lines]
    needed = max(FEWEST_PAGES, SHARE * len(full))
    top = _repeated(full, needed, 1)
    bottom = _repeated(full, needed, -1)
    for lines in pages:
        last = len(lines) - EDGE
        yield [
            line
            for i, line in enumerate(lines)
            if not (i < EDGE and _folded(line) in top)
            and not (i >= last and _folded(line) in bottom)
        ]


def _repeated(pages: Sequence[list[str]], needed: float, step: int) -> set[str]:
    seen = Counter(
        line for lines in pages for line in {_folded(edge) for edge in lines[::step][:EDGE]}
    )
    return {line for line, count in seen.items() if count >= needed and _may_go(line)}


def _folded(line: str) -> str:
    return _DIGITS.sub("#", " ".join(line.lower().split()))


def _may_go(folded: str) -> bool:
    return any(sign.isalpha() for sign in folded) or folded.count("#") <= 1
