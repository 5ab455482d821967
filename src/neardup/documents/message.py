"""A message of Internet mail (RFC 5322, MIME): its headers, its body, its attachments.

Nothing is decoded before it is asked for: a part is a view into the message, so that listing a
mailbox costs no more than its headers. Headers, levels and parts have limits, because some of
Python's parsers take quadratic time. A message of which only the beginning was read (``cut``) has a
last part that is not whole, which is rejected with the reason; the body is usually before it.

Members are the documents of a message: the message itself, then its attachments that hold text.
Pictures, archives, calendars and signatures are none; they are counted by type. A message that is
attached is a member with its own body, and its attachments are members too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from email.header import decode_header
from email.message import Message as Fields
from email.utils import parsedate_to_datetime
from typing import IO, NamedTuple

from neardup.documents.extraction.page import decoded_html, visible_text
from neardup.documents.file_formats import (
    DOCX,
    EML,
    EPUB,
    HTML,
    KINDS,
    MSG,
    ODF,
    PDF,
    PPTX,
    RTF,
    TEXT,
)
from neardup.errors import UnreadableError

MOST_HEADER = 1 << 20  # bytes
MOST_VALUE = 10_000  # characters of a header that are read
MOST_MEMBERS, MOST_PARTS, DEEPEST = 1000, 10_000, 20
TOO_MANY = f"message has more than {MOST_PARTS:,} parts"
TOO_DEEP = f"parts of the message are more than {DEEPEST} levels deep"
MESSAGE = "message"
TEXTS = (
    *(".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org", ".tex", ".log"),
    *(".csv", ".tsv", ".json", ".xml", ".yaml", ".yml"),
)
_TYPES = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "application/pdf": PDF,
    "application/rtf": RTF,
    "text/rtf": RTF,
    "application/epub+zip": EPUB,
    "application/vnd.oasis.opendocument.text": ODF,
    "application/vnd.oasis.opendocument.presentation": ODF,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": DOCX,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": PPTX,
    "message/rfc822": MESSAGE,
}
_NO_TEXT = ("text/calendar", "text/vcard", "text/x-vcard", "text/directory")
_ENCRYPTED = {
    "multipart/encrypted": "message is encrypted (PGP)",
    "application/pkcs7-mime": "message is encrypted or sealed (S/MIME)",
    "application/x-pkcs7-mime": "message is encrypted or sealed (S/MIME)",
}
_ID = re.compile(r"<([^<>\s]{1,500})>")
_BLANK, _EMPTY = re.compile(rb"\r?\n\r?\n"), re.compile(rb"\r?\n")
_LEAD, _SOME = re.compile(rb"[\r\n]+"), re.compile(rb"\S")
_USUAL = ("From", "To", "Date", "Subject", "Message-ID", "Received", "Content-Type", "Return-Path")
_BAD_NAME = re.compile(r"[\x00-\x1f\x7f/\\]+")


class Part(NamedTuple):
    """A leaf of a message. ``fields`` are its headers, ``data`` is not decoded yet."""

    fields: Fields
    data: memoryview
    cut: bool = False

    @property
    def type(self) -> str:
        return self.fields.get_content_type()

    @property
    def name(self) -> str | None:
        name = words_of(self.fields.get_filename() or "")
        return _BAD_NAME.sub("_", name).strip(" .")[-200:] or None

    @property
    def attached(self) -> bool:
        return self.fields.get_content_disposition() == "attachment" or self.name is not None

    @property
    def kind(self) -> str | None:
        """How its text is read; None if it has none."""
        ending = "." + (self.name or "").rpartition(".")[2].lower()
        if ending in (EML, MSG):
            return MESSAGE if ending == EML else MSG
        if ending in TEXTS:
            return TEXT
        kind = KINDS.get(ending) or _TYPES.get(self.type)
        return kind or (TEXT if self.type.startswith("text/") and self._holds_text else None)

    @property
    def _holds_text(self) -> bool:
        return self.type not in _NO_TEXT

    def content(self) -> bytes:
        return bytes(self.decoded())

    def decoded(self) -> bytes | memoryview:
        coding = str(self.fields.get("Content-Transfer-Encoding", "")).strip().lower()
        if coding == "base64":
            return _base64(self.data)
        return binascii.a2b_qp(self.data) if coding == "quoted-printable" else self.data

    def text(self) -> str:
        decoded = decoded_html(self.content(), self.fields.get_content_charset())
        return (decoded.text or "").replace("\0", " ")


class Member(NamedTuple):
    """A document of a message. ``name`` is that of the attachment, None for the message itself;
    ``message`` is the message whose body it is, None for a file, which is in ``part``."""

    name: str | None
    kind: str
    message: Message | None = None
    part: Part | None = None
    problem: str | None = None
    size: int = 0


class Message(NamedTuple):
    fields: Fields
    body: list[Part]  # texts in order, plain ones where there is a choice
    members: list[Member]  # without the message itself
    passed: list[str]  # types of attachments that hold no text
    problem: str | None = None

    @property
    def id(self) -> str | None:
        return next(iter(_ID.findall(self.fields.get("Message-ID", ""))), None)

    @property
    def parents(self) -> list[str]:
        """The messages that it answers, the first of the thread first."""
        values = (self.fields.get(name, "") for name in ("References", "In-Reply-To"))
        return [id_ for value in values for id_ in _ID.findall(value)]

    @property
    def date(self) -> str | None:
        """ISO 8601; None if there is no date or it cannot be read."""
        try:
            return parsedate_to_datetime(self.fields.get("Date", "")).isoformat()
        except (ValueError, TypeError, IndexError, OverflowError):
            return None

    def header(self, name: str) -> str | None:
        return " ".join(words_of(self.fields.get(name, "")).split()) or None


def words_of(value: str) -> str:
    """A header with encoded words (RFC 2047) as text."""
    if "=?" not in value:
        return value
    try:
        pieces = decode_header(value)
        return "".join(
            piece if isinstance(piece, str) else decoded_html(piece, charset).text or ""
            for piece, charset in pieces
        )
    except (ValueError, binascii.Error, LookupError, AssertionError):
        return value


def parsed_message(data: bytes | memoryview, *, cut: str | None = None, depth: int = 0) -> Message:
    """``cut``: the reason why only the beginning of the message is there."""
    try:
        return _parsed(_without_blank(memoryview(data)), cut, depth)
    except UnreadableError as error:
        return Message(Fields(), [], [], [], error.reason)
    except (ValueError, TypeError, LookupError, AttributeError, AssertionError) as error:
        # Python's parser of parameters (RFC 2231) fails on some of what is hostile.
        problem = f"message cannot be read: {type(error).__name__}"
        return Message(Fields(), [], [], [], problem)


def _without_blank(data: memoryview) -> memoryview:
    lead = _LEAD.match(data)
    return data[lead.end() :] if lead else data


def _parsed(data: memoryview, cut: str | None, depth: int) -> Message:
    fields, body = _divided(data)
    gathered = Message(fields, [], [], [])
    if fields is _TOO_LONG:
        return gathered._replace(problem=f"its header has more than {MOST_HEADER >> 20} MB")
    if not any(name in fields for name in _USUAL):
        return gathered._replace(problem="file is no message: it has none of the usual headers")
    problem = _gather(Part(fields, body, cut is not None), gathered, depth)
    if cut and any(part.cut for part in gathered.body):
        problem = cut
    members = [m._replace(problem=cut) if _is_cut(m) else m for m in gathered.members]
    return gathered._replace(problem=problem, members=members)


def _is_cut(member: Member) -> bool:
    return member.part is not None and member.part.cut


_TOO_LONG = Fields()


def _divided(data: memoryview) -> tuple[Fields, memoryview]:
    """Headers and what follows them."""
    if none := _EMPTY.match(data):
        return Fields(), data[none.end() :]
    blank = _BLANK.search(data, 0, MOST_HEADER)
    if blank is None and len(data) > MOST_HEADER:
        return _TOO_LONG, data[:0]
    head = data[: blank.start()] if blank else data
    return fields_of(bytes(head)), data[blank.end() :] if blank else data[:0]


def fields_of(head: bytes) -> Fields:
    fields = Fields()
    for name, value in _headers(decoded_html(head, "utf-8").text or ""):
        if name.lower() not in fields:
            fields[name] = value[:MOST_VALUE]
    return fields


def _headers(head: str) -> Iterator[tuple[str, str]]:
    name, values = "", list[str]()
    for line in head.replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t"):
            values.append(line.strip())
            continue
        if name:
            yield name, " ".join(values)
        name, colon, value = line.partition(":")
        name = name.strip() if colon and " " not in name.strip() else ""
        values = [value.strip()]
    if name:
        yield name, " ".join(values)


def _gather(part: Part, into: Message, depth: int) -> str | None:
    """Adds what is in a part to the message; the result is the reason if it cannot be read."""
    if len(into.body) + len(into.members) + len(into.passed) > MOST_PARTS:
        raise UnreadableError("The message is too large.", reason=TOO_MANY)
    type_ = part.type
    if reason := _ENCRYPTED.get(type_):
        return reason
    if depth >= DEEPEST:
        into.members.append(Member(part.name or "part", TEXT, problem=TOO_DEEP))
        return None
    if type_ == "multipart/alternative":
        return _gather_best([*_children(part)], into, depth)
    if part.fields.get_content_maintype() == "multipart":
        for child in _children(part):
            _gather(child, into, depth + 1)
        return None
    if type_ in ("text/plain", "text/html") and not part.attached:
        into.body.append(part)
    else:
        attach(part, into, depth)
    return None


def _gather_best(children: list[Part], into: Message, depth: int) -> str | None:
    """Gathers the plain one of several forms of a text, or all forms if the plain one is empty."""
    plain = [one for one in children if one.type == "text/plain" and _SOME.search(one.data)]
    for child in plain[:1] or children:
        _gather(child, into, depth + 1)
    return None


def _children(part: Part) -> Iterator[Part]:
    boundary = str(part.fields.get_boundary("") or "").encode("utf-8", "replace")
    if not boundary:
        return
    marks = re.compile(rb"^--" + re.escape(boundary) + rb"(--)?[ \t]*\r?$", re.MULTILINE)
    begin = None
    for mark in marks.finditer(part.data):
        if begin is not None:
            yield Part(*_divided(part.data[begin : max(begin, mark.start() - 1)]))
        begin = None if mark[1] else mark.end() + 1
        if mark[1]:
            return
    if begin is not None:  # the last boundary is missing
        yield Part(*_divided(part.data[begin:]), cut=part.cut)


def attach(part: Part, into: Message, depth: int) -> None:
    kind = part.kind
    if kind is None:
        into.passed.append(part.type)
    elif len(into.members) >= MOST_MEMBERS:
        into.members[MOST_MEMBERS:] = [
            Member("…", TEXT, problem=f"message has more than {MOST_MEMBERS:,} attachments")
        ]
    elif kind == MESSAGE and not part.cut:
        _attach_message(part, into, depth)
    else:
        name = part.name or f"part.{kind}"
        into.members.append(Member(name, kind, None, part, None, len(part.data)))


def _attach_message(part: Part, into: Message, depth: int) -> None:
    nested = parsed_message(part.decoded(), depth=depth + 1)
    name = part.name or _BAD_NAME.sub("_", nested.header("Subject") or "message")[:200] + EML
    into.members.append(Member(name, MESSAGE, nested, None, nested.problem, len(part.data)))
    into.members.extend(nested.members[: max(0, MOST_MEMBERS - len(into.members))])
    into.passed.extend(nested.passed)


def _base64(data: memoryview) -> bytes:
    """The bytes up to the first that cannot be read."""
    try:
        return base64.b64decode(data)
    except binascii.Error:
        signs = re.sub(rb"[^A-Za-z0-9+/]", b"", bytes(data))
        return base64.b64decode(signs[: len(signs) // 4 * 4] or b"")


# Marks around quotations of HTML, which has no sign at the start of a line.
OPEN, CLOSE = "\ue000", "\ue001"
_QUOTE = re.compile(r"<blockquote\b[^<>]{0,2000}>", re.IGNORECASE)
_UNQUOTE = re.compile(r"</blockquote\s*>", re.IGNORECASE)


def body_text(message: Message) -> str:
    """The body as text; quotations of HTML are between lines with the marks."""
    return "\n".join(_plain(part) for part in message.body)


def _plain(part: Part) -> str:
    text = part.text().replace(OPEN, " ").replace(CLOSE, " ")
    if part.type != "text/html":
        return text.replace("\r\n", "\n").replace("\r", "\n")
    opened = _QUOTE.sub(f"<p>{OPEN}</p>", text)
    return visible_text(_UNQUOTE.sub(f"<p>{CLOSE}</p>", opened))


_HEADER = re.compile(rb"[!-9;-~]{1,100}:|>?From ")
_LINE = 1 << 16


def messages(stream: IO[bytes]) -> Iterator[tuple[int, int]]:
    """Offset and size of each message of an mbox."""
    begin: int | None = None
    blank, at, before = True, 0, None  # ``before``: where a line ``From `` began
    while line := stream.readline(_LINE):
        if before is not None and _HEADER.match(line):
            if begin is not None:
                yield begin, before - begin
            begin = before
        before = at if blank and line.startswith(b"From ") else None
        at += len(line)
        blank = line in (b"\n", b"\r\n")
    if begin is not None:
        yield begin, at - begin


_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)


def unescaped(data: bytes) -> bytes:
    """A message without the line that begins it, and without signs before ``From `` (mboxrd)."""
    return _ESCAPED.sub(rb"\1", data[data.find(b"\n") + 1 :])


def is_mbox(head: bytes) -> bool:
    first, _, rest = head.partition(b"\n")
    return first.startswith(b"From ") and _HEADER.match(rest) is not None
