r"""The text of an RTF file (Rich Text Format 1.9), read in one pass without recursion.

A file is a sequence of control words, escaped bytes and text, in groups. What a group begins with
says where its text goes: into the text, into the notes that follow it, into the metadata, or
nowhere (fonts, styles, pictures, objects, headers, and every group marked ``\*`` that is unknown).
Text is bytes in the code page of the file or of the font; ``\u`` is Unicode, with a substitute
after it that is left out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from neardup.documents.extraction.page import Extracted, Meta, Page, known

DEEPEST = 10_000  # groups inside each other
NO_TEXT = "RTF file has no text"
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?"  # a control word with its number
    rb"|\\'([0-9a-fA-F]{2})"  # a byte
    rb"|\\([^a-zA-Z'])"  # a control sign
    rb"|([{}])"
    rb"|([^\\{}\r\n]+)"  # text
    rb"|[\r\n]+|.",
    re.DOTALL,
)
_NOWHERE = frozenset(
    b"fonttbl colortbl stylesheet filetbl listtable revtbl rsidtbl pict object objdata result "
    b"header headerl headerr headerf footer footerl footerr footerf fldinst listtext pntext "
    b"pnseclvl sp info operator comment doccomm company category keywords subject manager "
    b"annotation atnid atnauthor xe tc nonshppict themedata datastore latentstyles".split()
)
_SHAPE = b"shpinst"  # marked, but a text box may be in it
_SIGNS = {
    **dict.fromkeys((b"par", b"line", b"sect", b"page", b"column", b"cell", b"row"), "\n"),
    **dict.fromkeys((b"enspace", b"emspace", b"qmspace"), " "),
    b"tab": "\t", b"emdash": "—", b"endash": "–", b"bullet": "•", b"lquote": "‘",
    b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”",
}  # fmt: skip
_MARKS = {b"~": "\u00a0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}", b"\n": "\n", b"\r": "\n"}
_SETS = {b"ansicpg": None, b"mac": "mac_roman", b"pc": "cp437", b"pca": "cp850"}
_CHARSETS = {  # of fonts, as code pages
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
_TEXT, _NOTES, _TITLE, _AUTHOR, _FONTS, _DATE = "text", "notes", "title", "author", "fonts", "date"
_PLACES = {b"footnote": _NOTES, b"title": _TITLE, b"author": _AUTHOR, b"creatim": _DATE}


class Group(NamedTuple):
    """What holds until the group ends. ``place``: where its text goes, or None."""

    place: str | None = _TEXT
    encoding: str | None = None
    substitute: int = 1  # bytes after a Unicode character
    deleted: bool = False


def extract_rtf(page: Page) -> Extracted:
    if not page.data.lstrip().startswith(b"{\\rtf"):
        return Extracted(None, "RTF file cannot be read: it does not begin with {\\rtf")
    reader = Reader()
    reason = reader.read(page.data)
    if reason:
        return Extracted(None, f"RTF file cannot be read: {reason}")
    meta = Meta(reader.line(_TITLE), reader.line(_AUTHOR), reader.date())
    lines = f"{reader.text(_TEXT)}\n{reader.text(_NOTES)}".split("\n")
    text = "\n".join(filter(None, map(str.strip, lines)))
    return Extracted(text, None, meta, "rtf") if text else Extracted(None, NO_TEXT, meta)


class Reader:
    """One pass over the tokens of a file."""

    def __init__(self) -> None:
        self.group = Group()
        self.outer: list[Group] = []
        self.texts: dict[str, list[str]] = {}
        self.bytes: list[bytes] = []  # text that is not decoded yet: a character may have several
        self.usual = "cp1252"
        self.fonts: dict[int, str] = {}
        self.font = 0  # that is defined
        self.dates: dict[bytes, int] = {}
        self.starred = False
        self.skip = 0  # bytes of the substitute that are still to come

    def read(self, data: bytes) -> str | None:
        """Reads a file; the result is the reason if it cannot be read."""
        at = 0
        while token := _TOKEN.match(data, at):
            at = token.end()
            word, number, byte, sign, brace, plain = token.groups()
            if word == b"bin":  # raw bytes follow, braces among them
                at += max(0, int(number or 0))
            elif word:
                self._word(word, None if number is None else int(number))
            elif byte:
                self._add(bytes([int(byte, 16)]))
            elif plain:
                self._add(plain)
            elif sign:
                self._sign(sign)
            elif brace:
                if brace == b"{" and len(self.outer) >= DEEPEST:
                    return f"it has more than {DEEPEST:,} groups inside each other"
                if not self._brace(opens=brace == b"{"):
                    break  # the file has ended; what follows is not part of it
        self._decode()
        return None

    def _brace(self, *, opens: bool) -> bool:
        """Opens or closes a group; False if it was the last."""
        self._decode()
        self.skip, self.starred = 0, False
        if opens:
            self.outer.append(self.group)
            return True
        self.group = self.outer.pop() if self.outer else Group()
        return bool(self.outer)

    def _sign(self, sign: bytes) -> None:
        if sign == b"*":
            self.starred = True
        elif sign in _MARKS:
            self._put(_MARKS[sign])

    def _word(self, word: bytes, number: int | None) -> None:
        starred, self.starred = self.starred, False
        if word == b"u" and number is not None:
            self._put(_character(number))
            self.skip = self.group.substitute
        elif word in _SIGNS:
            self._put(_SIGNS[word])
        elif word == b"uc":
            self._change(substitute=max(0, number or 0))
        elif word == b"f":
            self._use_font(number or 0)
        elif word == b"fcharset" and self.group.place == _FONTS:
            self.fonts[self.font] = _CHARSETS.get(number or 0, self.usual)
        elif word == b"deleted":
            self._change(deleted=number != 0)
        elif word == b"plain":
            self._change(deleted=False, encoding=None)
        elif word in _SETS:
            self.usual = _SETS.get(word) or known(f"cp{number}") or self.usual
        elif word in (b"yr", b"mo", b"dy") and self.group.place == _DATE:
            self.dates[word] = number or 0
        else:
            self._destination(word, starred=starred)

    def _destination(self, word: bytes, *, starred: bool) -> None:
        """Only a group inside one that is read may go elsewhere; those of metadata are in one that
        is not."""
        if word == b"fonttbl":
            self._change(place=_FONTS)
        elif word in _PLACES and (word == b"footnote") == (self.group.place == _TEXT):
            self._change(place=_PLACES[word])
        elif word in _NOWHERE or (starred and word != _SHAPE):
            self._change(place=None)

    def _use_font(self, number: int) -> None:
        if self.group.place == _FONTS:
            self.font = number
        else:
            self._change(encoding=self.fonts.get(number))

    def _change(self, **values: object) -> None:
        self._decode()
        self.group = self.group._replace(**values)  # type: ignore[arg-type]

    def _put(self, text: str) -> None:
        self._decode()
        self.skip = 0
        self._store(text)

    def _add(self, data: bytes) -> None:
        left = data[self.skip :]
        self.skip = max(0, self.skip - len(data))
        if left:
            self.bytes.append(left)

    def _decode(self) -> None:
        if self.bytes:
            data, self.bytes = b"".join(self.bytes), []
            self._store(data.decode(self.group.encoding or self.usual, "replace"))

    def _store(self, text: str) -> None:
        if self.group.place and not self.group.deleted:
            self.texts.setdefault(self.group.place, []).append(text)

    def text(self, place: str) -> str:
        """Pairs of surrogates, which ``\\u`` writes for characters beyond 16 bits, are joined."""
        joined = "".join(self.texts.get(place, ()))
        return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def line(self, place: str) -> str | None:
        return " ".join(self.text(place).split()) or None

    def date(self) -> str | None:
        year, month, day = (self.dates.get(part, 0) for part in (b"yr", b"mo", b"dy"))
        return f"{year:04}-{month or 1:02}-{day or 1:02}" if year else None


def _character(number: int) -> str:
    """Numbers are signed 16-bit ones; some programs write larger ones."""
    code = number & 0xFFFF if number < 0 else number
    return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"
