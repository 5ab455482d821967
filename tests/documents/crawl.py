"""Records of a crawl for tests."""

from __future__ import annotations

import gzip

from documents.pages import OTHER, plain_skin, rich_skin


def record(
    name: str, block: bytes, kind: str = "response", content_type: str = "application/http"
) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:{name}>\r\n"
        f"WARC-Target-URI: https://example.org/{name}\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return head.encode() + block + b"\r\n\r\n"


def answer(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html") -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(body: bytes) -> bytes:
    return b"".join(
        f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in (body[:50], body[50:], b"")
    )


HARBOUR, SKIN = plain_skin().encode(), rich_skin().encode("utf-8")
CRAWL = [
    record("info", b"software: test\r\n", "warcinfo", "application/warc-fields"),
    record("req", b"GET / HTTP/1.1\r\n\r\n", "request"),
    record("plain", answer(HARBOUR)),
    record("packed", answer(gzip.compress(SKIN, mtime=0), "Content-Encoding: gzip")),
    record("picture", answer(b"\x89PNG\0", kind="image/png")),
    record("gone", answer(b"<p>not here</p>", status="404 Not Found")),
    record(
        "chunked",
        answer(chunked(rich_skin(OTHER).encode()), "Transfer-Encoding: chunked"),
    ),
    # The crawler unpacked the body and left the header.
    record("lying", answer(plain_skin(OTHER, "Birds").encode(), "Content-Encoding: gzip")),
    record("same", b"", "revisit"),
    record("empty", answer(b"<script></script>")),
    record("note", "Größe zählt nicht immer".encode("cp1252"), "resource", "text/plain"),
]
DOCUMENTS = ["plain", "packed", "chunked", "lying", "empty", "note"]
