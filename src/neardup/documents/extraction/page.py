"""The input and the result of an extraction, the encoding of a page, and all its text.

``visible_text`` extracts everything between the tags of an HTML page, including menus and notices,
but no scripts, styles and comments; block elements end a line. It is linear in the length of any
page, which no tree parser is: a million open tags take as long as text of the same length. It is
therefore used if other extractors fail.

The encoding of a page is determined by byte order mark, server, meta tag, or else as for text
files. This is the order of the HTML standard, with one exception: valid UTF-8 beyond ASCII is
always UTF-8, because text in a different encoding is hardly ever valid UTF-8 by accident, while
wrong labels are common. A label that the bytes contradict is ignored.
"""

from __future__ import annotations

import codecs
import hashlib
import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import NamedTuple

from neardup.classes import dataclass
from neardup.documents.encodings import Decoded, decoded

META = ("title", "author", "date", "url", "lang")


class Meta(NamedTuple):
    """The metadata of a page; ``date`` is that of publication, as YYYY-MM-DD."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    url: str | None = None
    lang: str | None = None

    def over(self, other: Meta) -> Meta:
        """The same metadata, with missing values from the other."""
        return Meta(*(mine or theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Page:
    """``charset`` is the encoding that a user or a server stated outside of the bytes; ``sure``: a
    user stated it, so that no other is tried."""

    kind: str
    data: bytes
    charset: str | None = None
    sure: bool = False
    url: str | None = None

    def digest(self, how: str) -> bytes:
        """A digest of the page and the way it is extracted."""
        key = repr((how, self.kind, self.charset, self.sure, self.url)).encode()
        return hashlib.blake2b(self.data, digest_size=16, key=hashlib.sha256(key).digest()).digest()


NOTHING = Meta()


@dataclass(frozen=True)
class Extracted:
    """The text, or the reason why there is none. ``how`` names the extractor that found it."""

    text: str | None
    reason: str | None = None
    meta: Meta = NOTHING
    how: str | None = None
    encoding: str | None = None
    more: Mapping[str, str | int | None] = field(
        default_factory=dict
    )  # columns beside the metadata


_NAME = re.compile(r"/?(?:\w+:)?([a-zA-Z][a-zA-Z0-9]*)")  # XHTML may have prefixes
# As in a browser, an element of these that is not closed includes all that follows.
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
            yield "<"  # a character, not a tag
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
    place = page.find(sign, start)
    return place + len(sign) if place >= 0 else len(page)


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
    """``charset`` is stated by the server, or if ``sure`` by the user. Bytes that are invalid in
    every encoding become U+FFFD, because the page has text nevertheless."""
    if sure:
        return decoded(data, charset)
    labels = [known(label) for label in (charset, *_labels(data))]
    if data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        detected = decoded(data)
        return detected if detected.text is not None else _replaced(data, "utf-8")
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
    """The codec of a label; None if there is no text codec of this name."""
    try:
        name = codecs.lookup(label).name if label else None
        if name:
            "".encode(name)  # not every codec makes text: base64, zip
    except (LookupError, UnicodeError, ValueError):
        return None
    return _LARGER.get(name, name) if name else None


def _guessed(data: bytes, label: str | None) -> Decoded:
    """The text in the stated encoding if it nearly fits, else in the detected one."""
    if label:
        text = data.decode(label, "replace")
        if text.count("�") * 100 <= len(text):
            return Decoded(text, None, label)
    detected = decoded(data.replace(b"\0", b" "))
    return detected if detected.text is not None else _replaced(data, "utf-8")


def _replaced(data: bytes, encoding: str) -> Decoded:
    return Decoded(data.decode(encoding, "replace"), None, encoding)
