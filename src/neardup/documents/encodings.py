"""The text of a file whose encoding nobody names: by byte order mark, else UTF-8, else one byte a
character.

The rule is fixed, not a guess that changes with what is installed: the same files give the same
documents everywhere.
"""

from __future__ import annotations

import codecs

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
    (codecs.BOM_UTF8, "utf-8", "UTF-8"),
)


def decoded(data: bytes) -> tuple[str | None, str | None]:
    """The text, or None and why. Without a mark, a NUL byte means that it is no text."""
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding, name, len(mark))
    if (place := data.find(b"\0")) >= 0:
        return None, f"file is binary: NUL at byte {place + 1}"
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding), None
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1"), None


def _strict(data: bytes, encoding: str, name: str, skipped: int) -> tuple[str | None, str | None]:
    try:
        return data.decode(encoding), None
    except UnicodeDecodeError as error:
        return None, f"file is not valid {name} at byte {skipped + error.start + 1}"
