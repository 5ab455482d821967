"""The encoding of an HTML page: by byte order mark, server, meta tag, else as for text files.

The order is that of the HTML standard, with one exception: what is valid UTF-8 beyond ASCII is
UTF-8, whatever was stated, because text in another encoding is so by accident hardly ever, and a
wrong label is common. A label that the bytes contradict counts as none.
"""

from __future__ import annotations

import codecs
import re

from neardup.documents.encodings import Decoded, decoded

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
