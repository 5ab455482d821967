"""What goes into an extraction and what comes out of it.

All the text of an HTML page, menus and notices too: what stands between the tags.

Linear in the length of the page whatever it holds, which no parser of trees is: a million open
tags, or a million paragraphs, take as long as text of their length. So it serves where others give
up. Scripts, styles and comments are left out; block elements end a line.

The encoding of an HTML page: by byte order mark, server, meta tag, else as for text files.

The order is that of the HTML standard, with one exception: what is valid UTF-8 beyond ASCII is
UTF-8, whatever was stated, because text in another encoding is so by accident hardly ever, and a
wrong label is common. A label that the bytes contradict counts as none.
"""

from __future__ import annotations

import codecs
import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from neardup.documents.encodings import Decoded, decoded

HTML, PDF, TEXT = "html", "pdf", "text"
KINDS = {".html": HTML, ".htm": HTML, ".xhtml": HTML, ".xht": HTML, ".pdf": PDF}
META = ("title", "author", "date", "url", "lang")
ALL_TEXT = "all-text"
HOWS = ("trafilatura", "resiliparse", ALL_TEXT, "none")


class Meta(NamedTuple):
    """What a page says about itself; ``date`` is that of publication, as YYYY-MM-DD."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    url: str | None = None
    lang: str | None = None

    def over(self, other: Meta) -> Meta:
        """The same, with what is missing here as it is there."""
        return Meta(*(mine or theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Page:
    """``charset``: the encoding that was stated outside of the bytes, by a user or a server;
    ``sure``: by a user, so that nothing else is tried."""

    kind: str
    data: bytes
    charset: str | None = None
    sure: bool = False
    url: str | None = None

    def digest(self, how: str) -> bytes:
        """The same page, extracted the same way."""
        said = repr((how, self.kind, self.charset, self.sure, self.url)).encode()
        return hashlib.blake2b(
            self.data, digest_size=16, key=hashlib.sha256(said).digest()
        ).digest()


NOTHING = Meta()


@dataclass(frozen=True)
class Extracted:
    """The text, or the reason why there is none. ``how``: by what it was found."""

    text: str | None
    reason: str | None = None
    meta: Meta = NOTHING
    how: str | None = None
    encoding: str | None = None


_NAME = re.compile(r"/?(?:\w+:)?([a-zA-Z][a-zA-Z0-9]*)")  # XHTML may have prefixes
# A browser, too, takes all that follows for a part of one of these that is not closed.
_HIDDEN = ("script", "style", "noscript", "iframe", "title")
_END = {tag: re.compile(f"</{tag}", re.IGNORECASE) for tag in _HIDDEN}
_BLOCKS = re.compile(
    "address|article|aside|blockquote|br|dd|details|div|dl|dt|fieldset|figcaption|figure|footer|"
    "form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|table|td|th|tr|ul"
)
_SPACES = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def visible_text(page: str) -> str:
    joined = "".join(_pieces(page))
    text = _SPACES.sub(" ", html.unescape(joined))
    return _LINES.sub("\n", text).strip()


def _pieces(page: str) -> Iterator[str]:
    at = 0
    while (begin := page.find("<", at)) >= 0:
        yield page[at:begin]
        name = _NAME.match(page, begin + 1)
        if page.startswith("<!--", begin):
            at = _after(page, "-->", begin + 4)
        elif name is None and not page.startswith(("<!", "<?", "</"), begin):
            yield "<"  # a sign, not a tag
            at = begin + 1
        else:
            tag = name[1].lower() if name else ""
            at = _after(page, ">", begin + 1)
            if tag in _END and page[begin + 1] != "/":
                end = _END[tag].search(page, at)
                at = _after(page, ">", end.end()) if end else len(page)
            yield "\n" if _BLOCKS.fullmatch(tag) else ""
    yield page[at:]


def _after(page: str, sign: str, start: int) -> int:
    found = page.find(sign, start)
    return found + len(sign) if found >= 0 else len(page)


HEAD = 4096  # the standard looks into 1,024 bytes; comments before the tag are common
_META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{2,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{2,40})""", re.IGNORECASE)
# Browsers read these labels as the larger set (WHATWG Encoding, §4.2).
_LARGER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}


def decoded_html(data: bytes, charset: str | None = None, *, sure: bool = False) -> Decoded:
    """``charset``: as the server, or if ``sure`` the user, has it. Bytes that are in no encoding
    at all become U+FFFD: a page has text in spite of them."""
    if sure:
        return decoded(data, charset)
    labels = [known(label) for label in (charset, *_labels(data))]
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        found = decoded(data)
        return found if found.text is not None else _replaced(data, "utf-8")
    if not any(label and label.startswith(("iso2022", "hz", "utf-16")) for label in labels):
        try:  # those are ASCII to the eye
            return Decoded(data.decode(), None, "utf-8")
        except UnicodeDecodeError:
            pass
    for label in filter(None, labels):
        try:
            return Decoded(data.decode(label), None, label)
        except (UnicodeDecodeError, UnicodeError):
            continue
    return _guessed(data, next(filter(None, labels), None))


def _labels(data: bytes) -> list[str]:
    head = data[:HEAD]
    return [m[1].decode("ascii", "replace") for m in (_XML.search(head), _META.search(head)) if m]


def known(label: str | None) -> str | None:
    """The codec that a label means; None if there is none that makes text."""
    try:
        name = codecs.lookup(label).name if label else None
        if name:
            "".encode(name)  # not every codec makes text: base64, zip
    except (LookupError, UnicodeError, ValueError):
        return None
    return _LARGER.get(name, name) if name else None


def _guessed(data: bytes, label: str | None) -> Decoded:
    """Nearly what was stated, else what the detector says."""
    if label:
        text = data.decode(label, "replace")
        if text.count("�") * 100 <= len(text):
            return Decoded(text, None, label)
    found = decoded(data.replace(b"\0", b" "))
    return found if found.text is not None else _replaced(data, "utf-8")


def _replaced(data: bytes, encoding: str) -> Decoded:
    return Decoded(data.decode(encoding, "replace"), None, encoding)
