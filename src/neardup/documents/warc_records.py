"""The records of a WARC file in order (ISO 28500), and the pages among them.

A page is a successful response, a resource or a conversion (WET files) whose content is HTML, plain
text or PDF. Requests, revisits and pictures are no documents: they are passed over and counted.
FastWARC parses HTTP; nothing is unpacked above a limit.
"""

from __future__ import annotations

import functools
import importlib.util
import io
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any, Literal, NamedTuple, cast

from neardup.documents.extraction.page import Page
from neardup.documents.file_formats import HTML, PDF, TEXT
from neardup.documents.streams import fault_of

MOST_BYTES = 64 << 20  # size of a page; compressed ones may claim any length
_MOST_HEADER, _PIECE, _MOST_TYPES = 1 << 16, 1 << 20, 30
_PAGES = {
    "text/html": HTML,
    "application/xhtml+xml": HTML,
    "text/plain": TEXT,
    "application/pdf": PDF,
}
_TYPES = ("response", "resource", "conversion")


class Cut(Exception):  # noqa: N818 (as StopIteration, it ends a reading)
    """The file ends here, or no record follows; the message reports which."""


class Record(NamedTuple):
    head: bytes
    fields: dict[str, str]
    length: int

    @property
    def type(self) -> str:
        return self.fields.get("warc-type", "unknown").lower()

    @property
    def id(self) -> str | None:
        return self.fields.get("warc-record-id", "").strip("<> ") or None


class Found(NamedTuple):
    """A page of a crawl, or the reason why it cannot be used."""

    id: str | None
    crawled: str | None
    page: Page | None
    reason: str | None = None


def records(stream: IO[bytes]) -> Iterator[tuple[Record, IO[bytes]]]:
    """Each record with a stream of its content, which need not be read. Raises ``Cut`` if the file
    is truncated or continues with something else."""
    while record := _next(stream):
        content = _Content(stream, record.length)
        yield record, cast("IO[bytes]", content)
        while content.read(_PIECE):
            pass
        if content.left:
            raise Cut(fault_of(stream) or "file is truncated: a record ends here; the rest is lost")


def _next(stream: IO[bytes]) -> Record | None:
    line = stream.readline(_MOST_HEADER)
    while line in (b"\r\n", b"\n"):
        line = stream.readline(_MOST_HEADER)
    if not line:
        if fault := fault_of(stream):
            raise Cut(fault)
        return None
    if not line.startswith(b"WARC/"):
        raise Cut(f"expected the start of a record, WARC/…, got {line[:20]!r}; the rest is lost")
    head = line
    while line not in (b"\r\n", b"\n"):
        line = stream.readline(_MOST_HEADER)
        head += line
        if not line or len(head) > _MOST_HEADER:
            raise Cut(fault_of(stream) or "a record has no whole header; the rest is lost")
    return Record(head, fields := _fields(head), _length(fields))


def _fields(head: bytes) -> dict[str, str]:
    lines = head.decode("utf-8", "replace").splitlines()[1:]
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _length(fields: dict[str, str]) -> int:
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 16):
        raise Cut(f"a record says its length is {length[:20]!r}; the rest is lost")
    return int(length)


class _Content(io.RawIOBase):
    """A stream limited to so many bytes."""

    def __init__(self, stream: IO[bytes], length: int) -> None:
        self._stream, self.left = stream, length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(min(len(buffer), self.left))
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)


def pages(stream: IO[bytes], passed: Counter[str]) -> Iterator[Found]:
    """The pages; all other records are counted in ``passed``."""
    for record, content in records(stream):
        page = _page(record, content)
        if isinstance(page, Found):
            yield page
        else:
            passed[page if page in passed or len(passed) < _MOST_TYPES else "other"] += 1


def held_content(record: Record, content: IO[bytes]) -> io.BytesIO | None:
    """The content of a possible page, to be read twice; raises ``Cut`` if it is incomplete."""
    if record.type not in _TYPES or record.length > MOST_BYTES:
        return None
    data = content.read(record.length)
    if len(data) < record.length:
        raise Cut("file is truncated")
    return io.BytesIO(data)


def is_page(record: Record, content: IO[bytes]) -> bool:
    """The decision of ``pages`` for one record, for code that copies records."""
    page = _page(record, content)
    if content.seekable():
        content.seek(0)
    return isinstance(page, Found)


def _page(record: Record, content: IO[bytes]) -> Found | str:
    if record.type not in _TYPES:
        return record.type
    stated = record.fields.get("content-type", "").partition(";")[0].strip().lower()
    is_http = stated == "application/http"
    if not is_http and stated not in _PAGES:
        return stated or "no type"
    if record.length > MOST_BYTES:
        return _lost(record, f"record of {record.length:,} bytes; pages may have {MOST_BYTES:,}")
    data = content.read(record.length)
    if len(data) < record.length:
        return "cut off"  # the caller that reads on reports what is lost
    return _parsed(record, data, stated)


def _lost(record: Record, reason: str) -> Found:
    return Found(record.id, record.fields.get("warc-date"), None, reason)


def _parsed(record: Record, data: bytes, stated: str) -> Found | str:
    body, kind, charset = data, stated, _charset(record.fields.get("content-type", ""))
    if stated == "application/http":
        opened = _http(record.head + data)
        if isinstance(opened, str):
            return opened
        body, kind, charset = opened
    if kind not in _PAGES:
        return kind or "no type"
    if kind == "application/pdf" and importlib.util.find_spec("pypdfium2") is None:
        return kind
    if len(body) > MOST_BYTES:
        return _lost(record, f"page unpacks to more than {MOST_BYTES:,} bytes")
    address = record.fields.get("warc-target-uri", "").strip("<> ") or None
    page = Page(_PAGES[kind], body, charset, url=address)
    return Found(record.id, record.fields.get("warc-date"), page)


def _charset(said: str) -> str | None:
    _, sign, name = said.lower().partition("charset=")
    return name.split(";")[0].strip("\"' ") or None if sign else None


def _http(record: bytes) -> tuple[bytes, str, str | None] | str:
    """The body, its type and its charset; or the reason why it is no page."""
    body = _decoded(record, "all")
    if body is None or (isinstance(body, tuple) and not body[0]):
        body = _decoded(record, "none") or body  # the body was unpacked already
    return body or "broken HTTP"


def _decoded(
    record: bytes, how: Literal["all", "none"]
) -> tuple[bytes, str, str | None] | str | None:
    try:
        for parsed in _archive_iterator()(io.BytesIO(record), parse_http=True, auto_decode=how):
            if parsed.http_headers is None:
                return None
            status = parsed.http_headers.status_code
            if status is not None and not 200 <= status < 300:
                return f"status {status // 100}xx"
            body = parsed.reader.read(MOST_BYTES + 1)
            kind = (parsed.http_content_type or "").lower() or _sniffed(body)
            return body, kind, parsed.http_charset
    except Exception:  # broken compressed data raise errors of many types
        return None
    return None


@functools.cache
def _archive_iterator() -> Any:
    with warnings.catch_warnings():  # the library warns of its own names
        warnings.simplefilter("ignore", DeprecationWarning)
        from fastwarc.warc import ArchiveIterator
    return ArchiveIterator


def _sniffed(body: bytes) -> str:
    start = body[:1000].lstrip().lower()
    return "text/html" if start.startswith((b"<!doctype html", b"<html")) else ""
