"""The text of a file whose encoding nobody names: by byte order mark, else UTF-8, else detected.

What is valid UTF-8 is UTF-8 and never reaches the detector (chardet: of the example news in fifteen
legacy encodings, 80 texts, it took all for what they were, charset-normalizer 68). A guess that is
hardly one, as of a single word, is Windows-1252, the most common of all.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from neardup.errors import SettingsError

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
)
# With the width of a character and where in it that of ASCII is, where there is no mark.
_WIDE = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
_ENOUGH = 1 << 16  # bytes that the detector is shown
# Measured on the first 12 to 400 characters of the same texts: a higher cut loses right guesses.
LEAST_CONFIDENCE = 0.05


class Decoded(NamedTuple):
    """The text and the encoding it was read in, or why there is none."""

    text: str | None
    reason: str | None = None
    encoding: str | None = None


def wide_encoding(start: bytes) -> str | None:
    """UTF-16 or UTF-32, where the first bytes of lines or records say so: by their mark, or because
    the first two characters are ASCII between zeros. None for all that has the bytes of ASCII."""
    for mark, marked, name in _MARKS:
        if start.startswith(mark):
            return marked if name != "UTF-8" else None
    for encoding, width, place in _WIDE:
        first = start[: 2 * width]
        letters = first[place::width]
        if len(letters) == 2 and 0 not in letters and first.count(0) == len(first) - 2:
            return encoding
    return None


def probable(data: bytes) -> str | None:
    """What the bytes of a file seem to be that are not UTF-8; None where nobody could say. A piece
    may end inside a character."""
    lines = [line for line in data.splitlines(keepends=True) if not line.isascii()]
    found = decoded(b"".join(lines)[:_ENOUGH].rpartition(b"\n")[0] or data[:_ENOUGH])
    if found.encoding in (None, "utf-8"):
        return None
    return re.sub("^cp(125[0-8])$", r"windows-\1", str(found.encoding))


def canonical(name: str) -> str:
    """The name of an encoding as Python writes it; one that is not known is an error."""
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
    """In ``encoding`` where it is stated; else by mark, as UTF-8, or as detected."""
    for mark, marked, name in _MARKS:
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


def _detected(data: bytes) -> Decoded:
    import chardet  # not for files in UTF-8

    found = chardet.detect(data)
    guess = found["encoding"]
    if (place := data.find(b"\0")) >= 0 and (_is_utf8(data) or not _is_wide(guess)):
        return Decoded(None, f"file is binary: NUL at byte {place + 1}")
    sure = guess is not None and found["confidence"] >= LEAST_CONFIDENCE
    for name in (str(guess) if sure else "cp1252", "cp1252", "latin-1"):
        try:
            return Decoded(data.decode(name), None, codecs.lookup(name).name)
        except (UnicodeDecodeError, LookupError):  # a name may be unknown to Python
            continue
    raise AssertionError("every byte is a character of Latin-1")


def _is_wide(guess: str | None) -> bool:
    return (guess or "").upper().startswith(("UTF-16", "UTF-32"))


def _is_utf8(data: bytes) -> bool:
    """And more than ASCII: UTF-16 is hardly ever both."""
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
