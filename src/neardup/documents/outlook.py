"""Messages of Outlook (.msg): properties in a compound file (MS-OXMSG, MS-CFB).

A compound file is a small file system: sectors in chains, and a directory of storages and streams.
``Compound`` reads it from memory; a chain that runs in a circle, or streams that share sectors,
cannot cost more than twice the size of the file. A message becomes a :class:`Message` as if it had
come by Internet mail. Its text is the plain body, else the HTML one, else the RTF one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import Message as Fields
from email.utils import format_datetime
from typing import NamedTuple

from neardup.documents.extraction.page import Page, decoded_html
from neardup.documents.extraction.rtf import extract_rtf
from neardup.documents.file_formats import RTF
from neardup.documents.message import (
    DEEPEST,
    MESSAGE,
    MOST_MEMBERS,
    TOO_DEEP,
    Member,
    Message,
    Part,
    attach,
    fields_of,
)

MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_END = 0xFFFFFFFA  # this and larger numbers end a chain
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_HEADERS = {  # by the number of the property
    "Subject": 0x0037,
    "To": 0x0E04,
    "Message-ID": 0x1035,
    "References": 0x1039,
    "In-Reply-To": 0x1042,
}
_BODY, _HTML, _RTF, _TRANSPORT, _CLASS = 0x1000, 0x1013, 0x1009, 0x007D, 0x001A
_SENDER, _ADDRESSES, _SENT = 0x0C1A, (0x5D01, 0x0C1F), (0x0039, 0x0E06)
_DATA, _NAMES, _TYPE = 0x3701, (0x3707, 0x3704), 0x370E
_PROPERTIES, _ATTACHMENT = "__properties_version1.0", "__attach_version1.0_"


class Entry(NamedTuple):
    name: str
    type: int
    left: int
    right: int
    child: int
    start: int
    size: int


class Compound:
    """The storages and streams of a file."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(MAGIC):
            raise ValueError("it is no file of Outlook")
        self._data, self._left, self._visits = data, 2 * len(data), len(data) // 32
        shift, mini = struct.unpack_from("<HH", data, 30)
        if shift not in (9, 12) or mini != 6:
            raise ValueError("its sectors have no usual size")
        self._sector = 1 << shift
        (directory, _, self._cutoff, mini_fat) = struct.unpack_from("<4I", data, 48)
        self._fat = self._table(list(self._fat_sectors()))
        self.entries = [*self._entries(self._chained(directory))]
        self._mini_fat = self._table(list(self._chain(mini_fat, self._fat)))
        self._mini = self._chained(self.entries[0].start)

    def _at(self, sector: int) -> bytes:
        begin = (sector + 1) * self._sector
        return self._data[begin : begin + self._sector]

    def _fat_sectors(self) -> Iterator[int]:
        """Numbers of the sectors of the table: 109 in the header, the rest in a chain."""
        yield from (n for n in struct.unpack_from("<109I", self._data, 76) if n < _END)
        (sector,) = struct.unpack_from("<I", self._data, 68)
        for _ in range(len(self._data) // self._sector):
            if sector >= _END:
                return
            *numbers, sector = struct.unpack(f"<{self._sector // 4}I", self._at(sector))
            yield from (n for n in numbers if n < _END)

    def _table(self, sectors: list[int]) -> tuple[int, ...]:
        most = len(self._data) // self._sector
        whole = b"".join(map(self._at, sectors[:most]))
        return struct.unpack(f"<{len(whole) // 4}I", whole[: len(whole) // 4 * 4])

    def _chain(self, start: int, table: tuple[int, ...]) -> Iterator[int]:
        for _ in range(len(table)):
            if start >= len(table):
                return
            yield start
            start = table[start]

    def _chained(self, start: int, size: int | None = None) -> bytes:
        sectors = self._chain(start, self._fat)
        return self._spent(b"".join(map(self._at, sectors))[:size])

    def _spent(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("its streams share sectors")
        return data

    def _entries(self, directory: bytes) -> Iterator[Entry]:
        for at in range(0, len(directory) - 127, 128):
            name, length, type_ = struct.unpack_from("<64sHB", directory, at)
            left, right, child = struct.unpack_from("<3I", directory, at + 68)
            start, size = struct.unpack_from("<IQ", directory, at + 116)
            text = name[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            yield Entry(text, type_, left, right, child, start, size & 0xFFFFFFFF)

    def children(self, entry: Entry) -> dict[str, Entry]:
        """What is in a storage, by name; it is stored as a tree."""
        found: dict[str, Entry] = {}
        waiting, seen = [entry.child], set[int]()
        while waiting:
            number = waiting.pop()
            if number < len(self.entries) and number not in seen:
                seen.add(number)
                one = self.entries[number]
                self._visits -= 1
                found[one.name] = one
                waiting += [one.right, one.left]
        if self._visits < 0:
            raise ValueError("its storages share entries")
        return dict(sorted(found.items()))

    def stream(self, entry: Entry) -> bytes:
        if entry.size >= self._cutoff:
            return self._chained(entry.start, entry.size)
        sectors = self._chain(entry.start, self._mini_fat)
        pieces = (self._mini[n * 64 : n * 64 + 64] for n in sectors)
        return self._spent(b"".join(pieces)[: entry.size])


class Properties:
    """The properties of a message or an attachment."""

    def __init__(self, file: Compound, storage: Entry, head: int) -> None:
        self.file = file
        self.children = file.children(storage)
        self._head = head  # bytes before the fixed properties

    def data(self, number: int, type_: int = 0x0102) -> bytes | None:
        entry = self.children.get(f"__substg1.0_{number:04X}{type_:04X}")
        return self.file.stream(entry) if entry and entry.type == _STREAM else None

    def text(self, *numbers: int) -> str | None:
        for number in numbers:
            if (data := self.data(number, 0x001F)) is not None:
                return data.decode("utf-16-le", "replace").rstrip("\0")
            if (data := self.data(number, 0x001E)) is not None:
                return (decoded_html(data, "cp1252").text or "").rstrip("\0")
        return None

    def date(self, *numbers: int) -> str | None:
        """A time in steps of 100 nanoseconds since 1601."""
        entry = self.children.get(_PROPERTIES)
        fixed = self.file.stream(entry)[self._head :] if entry else b""
        whole = fixed[: len(fixed) // 16 * 16]
        values = {number: v for type_, number, _, v in struct.iter_unpack("<HHIQ", whole)
                  if type_ == 0x0040}  # fmt: skip
        ticks = next((values[number] for number in numbers if values.get(number)), None)
        if ticks is None:
            return None
        return format_datetime(
            datetime(1601, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks // 10)
        )


def outlook_message(data: bytes) -> Message:
    try:
        file = Compound(data)
        return _message(file, file.entries[0], 0)
    except (ValueError, LookupError, TypeError, OverflowError, struct.error) as error:
        said = str(error) if type(error) is ValueError else type(error).__name__
        return Message(Fields(), [], [], [], f"message cannot be read: {said}")


def _message(file: Compound, storage: Entry, depth: int) -> Message:
    found = Properties(file, storage, 32 if depth == 0 else 24)
    message = Message(_fields(found), [], [], [])
    class_ = (found.text(_CLASS) or "").lower()
    if "smime" in class_ and not class_.endswith("multipartsigned"):
        return message._replace(problem="message is encrypted or sealed (S/MIME)")
    if body := _body(found):
        message.body.append(body)
    for name, entry in found.children.items():
        if len(message.members) > MOST_MEMBERS:
            break
        if name.startswith(_ATTACHMENT) and entry.type == _STORAGE:
            _attachment(Properties(file, entry, 8), message, depth)
    return message


def _fields(found: Properties) -> Fields:
    """The headers with which it came, and where these are missing, as Outlook stores them."""
    fields = fields_of((found.text(_TRANSPORT) or "").encode("utf-8", "replace"))
    for name in list(fields.keys()):
        if name.lower().startswith("content-"):
            del fields[name]
    address = found.text(*_ADDRESSES)
    sender = " ".join(filter(None, (found.text(_SENDER), f"<{address}>" if address else None)))
    values = {name: found.text(number) for name, number in _HEADERS.items()}
    for name, value in {"From": sender, "Date": found.date(*_SENT), **values}.items():
        if value and name not in fields:
            fields[name] = " ".join(value.split())
    return fields


def _body(found: Properties) -> Part | None:
    text = found.text(_BODY)
    html = found.data(_HTML) if not (text or "").strip() else None
    if html is not None:
        return _part("text/html", html)
    packed = found.data(_RTF) if not (text or "").strip() else None
    if packed is not None:
        text = extract_rtf(Page(RTF, unpacked_rtf(packed))).text
    return _part("text/plain; charset=utf-8", (text or "").encode("utf-8", "replace"))


def _part(type_: str, data: bytes, name: str | None = None) -> Part:
    fields = Fields()
    fields["Content-Type"] = type_
    if name:
        fields.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
    return Part(fields, memoryview(data))


def _attachment(found: Properties, message: Message, depth: int) -> None:
    name = found.text(*_NAMES) or "attachment"
    nested = found.children.get(f"__substg1.0_{_DATA:04X}000D")
    if nested is None:
        data = found.data(_DATA)
        attach(
            _part(found.text(_TYPE) or "application/octet-stream", data or b"", name),
            message,
            depth,
        )
    elif depth >= DEEPEST:
        message.members.append(Member(name, MESSAGE, problem=TOO_DEEP))
    elif len(message.members) < MOST_MEMBERS:
        inner = _message(found.file, nested, depth + 1)
        message.members.append(Member(name, MESSAGE, inner, None, inner.problem))
        message.members.extend(inner.members)
        message.passed.extend(inner.passed)


_START = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_MOST_RTF = 16 << 20


def unpacked_rtf(data: bytes) -> bytes:
    """Compressed RTF (MS-OXRTFCP): LZ77 with a window of 4,096 bytes that begins with usual
    words."""
    size, form = struct.unpack_from("<I4s", data, 4)
    if form == b"MELA":
        return data[16 : 16 + size]
    window, at = bytearray(_START.ljust(4096)), len(_START)
    out, place = bytearray(), 16
    while place < len(data) and len(out) < min(size, _MOST_RTF):
        flags, place = data[place], place + 1
        for bit in range(8):
            if place >= len(data):
                break
            if flags >> bit & 1:
                pair = int.from_bytes(data[place : place + 2], "big")
                place, offset = place + 2, pair >> 4
                if offset == at:
                    return bytes(out)
                piece = [*range(offset, offset + (pair & 15) + 2)]
            else:
                window[at], piece = data[place], [at]
                place += 1
            for source in piece:  # one by one, because a piece may repeat itself
                sign = window[source % 4096]
                window[at], at = sign, (at + 1) % 4096
                out.append(sign)
    return bytes(out)
