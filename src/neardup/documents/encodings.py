"""Text encodings of files: stated, marked, or detected.

A file of unknown encoding is decoded by its byte order mark, else as UTF-8, else as detected. Valid
UTF-8 never reaches the detector (chardet: it recognised all of 80 texts, the example news in
fifteen legacy encodings; charset-normalizer recognised 68). A guess with very low confidence, as
for a single word, is replaced by Windows-1252, the most common encoding.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from neardup.documents.streams import MARKS
from neardup.errors import SettingsError

_ENOUGH = 1 << 16  # bytes that the detector gets
# Measured on the first 12 to 400 characters of the same texts: a higher limit loses right guesses.
LEAST_CONFIDENCE = 0.05


class Decoded(NamedTuple):
    """The text and its encoding, or the reason why there is none."""

    text: str | None
    reason: str | None = None
    encoding: str | None = None


def probable(data: bytes) -> str | None:
    """The probable encoding of a file that is not UTF-8; None if it cannot be determined. The data
    may end inside a character."""
    lines = [line for line in data.splitlines(keepends=True) if not line.isascii()]
    guess = decoded(b"".join(lines)[:_ENOUGH].rpartition(b"\n")[0] or data[:_ENOUGH])
    if guess.encoding in (None, "utf-8"):
        return None
    return re.sub("^cp(125[0-8])$", r"windows-\1", str(guess.encoding))


def canonical(name: str) -> str:
    """The name of an encoding as Python writes it; an unknown one is an error."""
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)  # not every codec makes text: base64, zip
    except (LookupError, UnicodeError, ValueError):
        raise SettingsError(
            f"encoding is {name!r}, which is not known.",
            hint="expected a name such as utf-8, windows-1252, koi8-r or shift_jis.",
        ) from None
    return codec.name


def decoded(data: bytes, encoding: str | None = None) -> Decoded:
    """The text in ``encoding`` if it is set; else by mark, as UTF-8, or as detected."""
    for mark, marked, name in MARKS:
        if data.startswith(mark) and encoding in (None, marked, name.lower()):
            return _strict(data[len(mark) :], marked, name, len(mark))
    if encoding is not None:
        return _strict(data, encoding, encoding, 0)
    try:
        if b"\0" not in data:
            return Decoded(data.decode(), None, "utf-8")
    except UnicodeDecodeError:
        pass
    return _detected(data)


OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_TABLES = "file is a table in the format {}; give it as an input of its own"
_NO_TEXT = {
    OLE: "file is an old Word, Excel or PowerPoint file; save it as .docx, .pptx or .pdf, or "
    "convert it with `soffice --convert-to docx`",
    b"ARROW1\0\0": _TABLES.format("Arrow"),
    b"\xff\xff\xff\xff": _TABLES.format("Arrow (a stream)"),
    b"PAR1": _TABLES.format("Parquet"),
}  # by the first bytes


def _detected(data: bytes) -> Decoded:
    import chardet  # not for files in UTF-8

    for first, reason in _NO_TEXT.items():
        if data.startswith(first):
            return Decoded(None, reason)
    found = chardet.detect(data)
    guess = found["encoding"]
    if (place := data.find(b"\0")) >= 0 and (_is_utf8(data) or not _is_wide(guess)):
        return Decoded(None, f"file is binary: NUL at byte {place + 1}")
    sure = guess is not None and found["confidence"] >= LEAST_CONFIDENCE
    for name in (str(guess) if sure else "cp1252", "cp1252", "latin-1"):
        try:
            text = data.decode(name)
            if "\0" in text:  # what looked like UTF-16
                return Decoded(None, f"file is binary: NUL at byte {place + 1}")
            return Decoded(text, None, codecs.lookup(name).name)
        except (UnicodeDecodeError, LookupError):  # a name may be unknown to Python
            continue
    raise AssertionError("every byte is a character of Latin-1")


def _is_wide(guess: str | None) -> bool:
    return (guess or "").upper().startswith(("UTF-16", "UTF-32"))


def _is_utf8(data: bytes) -> bool:
    """Whether the data are valid UTF-8 and more than ASCII, which UTF-16 hardly ever is."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return not data.isascii()


def _strict(data: bytes, encoding: str, name: str, skipped: int) -> Decoded:
    try:
        return Decoded(data.decode(encoding), None, encoding)
    except UnicodeDecodeError as error:
        return Decoded(None, f"file is not valid {name} at byte {skipped + error.start + 1}")
