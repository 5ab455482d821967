"""A client of ``neardup serve``: the methods of an index, over one connection that stays open.

    with Client("http://127.0.0.1:8765") as client:
        client.check({"text": "…"})
        for answer in client.add_many(documents): ...

An error of the service is raised with its message. If the service is busy (429, 503), the client
waits as long as the service asks for and tries again, a few times. Trying again is harmless: the
same document with the same id gets the same answer. ``add_many`` sends one document per line and
reads the answers meanwhile. The client needs only Python, and serves one thread at a time.
"""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

from neardup.errors import BusyError, ServiceError, UnreachableError, UsageError
from neardup.wording import many


class Answer(NamedTuple):
    """The decision on a document; for a duplicate also what it is a duplicate of, and why."""

    id: str | None
    decision: str
    kept_id: str | None = None
    score: float | None = None
    reason: str | None = None
    kind: str | None = None
    by: tuple[str, ...] | None = None

    @property
    def duplicate(self) -> bool:
        return self.decision == "duplicate"


def written(body: Any) -> bytes:
    return json.dumps(body, allow_nan=False).encode()


def answer_of(row: dict[str, Any]) -> Answer:
    known = {name: row[name] for name in Answer._fields}
    return Answer(**{**known, "by": None if row["by"] is None else tuple(row["by"])})


def read(status: int, raw: bytes) -> Any:
    try:
        body = json.loads(raw)
    except ValueError:
        raise ServiceError(
            f"The service answered {status} with something that is no JSON.",
            hint="is it a service of neardup?",
            status=status,
        ) from None
    if 200 <= status < 300:
        return body
    raise error_of(status, body)


def error_of(status: int, body: Any) -> ServiceError:
    """The error that the service reports, with its hint."""
    fields = body if isinstance(body, dict) else {}
    hint = fields.get("hint")
    message = str(fields.get("detail") or f"The service answered {status}.")
    kind = BusyError if status in (429, 503) else ServiceError
    return kind(message.removesuffix(f" Hint: {hint}"), hint=hint, status=status)


class _Sender(threading.Thread):
    """Sends documents while the caller's thread reads answers: otherwise the service would stop
    reading until its answers are read, and both sides would wait. Each document is sent at once,
    because the next may depend on its answer."""

    def __init__(self, to: socket.socket, documents: Iterable[dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._to, self._documents = to, documents
        self.sent = 0
        self.ended = False  # whether all documents were sent
        self.failed: BaseException | None = None  # what iterating over the documents raised

    def run(self) -> None:
        with suppress(OSError):  # the reading side gets the same error
            self._send_all()
            self.ended = True
            self._to.sendall(b"0\r\n\r\n")

    def _send_all(self) -> None:
        lines = (written(document) + b"\n" for document in self._documents)
        while (line := self._next(lines)) is not None:
            self.sent += 1
            self._to.sendall(b"%x\r\n%b\r\n" % (len(line), line))

    def _next(self, lines: Iterator[bytes]) -> bytes | None:
        try:
            return next(lines, None)
        except BaseException as error:
            self.failed = error
            return None


def streamed(
    connection: http.client.HTTPConnection,
    headers: dict[str, str],
    documents: Iterable[dict[str, Any]],
) -> Iterator[Answer | ServiceError]:
    connection.connect()
    connection.putrequest("POST", "/v1/documents/stream")
    for name, value in {**headers, "Transfer-Encoding": "chunked"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    # The sender uses the socket itself: if a response announces the end of the connection,
    # HTTPConnection drops the socket and would open a new one for further data.
    sender = _Sender(connection.sock, documents)
    sender.start()
    response = connection.getresponse()
    if response.status != 200:
        read(response.status, response.read())
    answered = 0
    for line in response:
        if not line.endswith(b"\n"):
            break
        answered += 1
        yield _of_line(line)
    if sender.failed:
        raise sender.failed
    if not sender.ended or answered < sender.sent:  # a lost connection looks like a normal end
        raise ConnectionResetError(f"the connection was lost after {many(answered, 'answer')}")


def _of_line(line: bytes) -> Answer | ServiceError:
    row = json.loads(line)
    if "problem" not in row:
        return answer_of(row)
    error = error_of(row["problem"]["status"], row["problem"])
    if row["line"] is None:  # an error of the stream, not of one document
        raise error
    return error


TRIES = 5
LONGEST_WAIT = 30.0  # seconds between two tries
_DISCONNECTED = http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError

Document = str | dict[str, Any]


class Client:
    """``timeout`` is for one answer, in seconds; ``tries`` is how often a busy service is asked.
    ``text`` is the text column: a document may be given as its text alone."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        *,
        token: str | None = None,
        timeout: float = 60.0,
        tries: int = TRIES,
        text: str = "text",
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url.rstrip("/")
        self._connect = _connector(self.url, timeout)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tries, self._text, self._wait = tries, text, wait
        self._connection: http.client.HTTPConnection | None = None

    def check(
        self, document: Document, *, max_age: str | None = None, kind: bool | None = None
    ) -> Answer:
        """What the document would be a duplicate of; nothing is stored."""
        options = {"max_age": max_age, "kind": None if kind is None else str(kind).lower()}
        query = urlencode({name: value for name, value in options.items() if value is not None})
        path = "/v1/check" + ("?" + query if query else "")
        return answer_of(self._ask("POST", path, self._document(document)))

    def add(self, document: dict[str, Any]) -> Answer:
        """Check and store a document. The same document again gets the same answer."""
        return answer_of(self._ask("POST", "/v1/documents", document))

    def add_all(self, documents: Iterable[dict[str, Any]]) -> list[Answer]:
        """Check and store a short list; all of it is stored or nothing."""
        return [*map(answer_of, self._ask("POST", "/v1/documents/batch", list(documents)))]

    def add_many(self, documents: Iterable[dict[str, Any]]) -> Iterator[Answer | ServiceError]:
        """Check and store any number of documents, read as they are sent. Each gets an answer, in
        order, once it is durable, or the error of that document; the others go on."""
        connection = self._connect()
        try:
            yield from streamed(connection, self._headers, documents)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def update(self, document: dict[str, Any]) -> Answer:
        """Replace the document that has this id by a new version."""
        return answer_of(self._ask("PUT", "/v1/documents", document))

    def remove(self, id: str) -> dict[str, Answer]:
        """Remove a document; return the new answers of its duplicates by id."""
        body = self._ask("DELETE", f"/v1/documents?id={_quoted(id)}")
        return {row["id"]: answer_of(row) for row in body["again"]}

    def get(self, id: str) -> dict[str, Any]:
        """A document with its current decision."""
        return self._object("GET", f"/v1/documents?id={_quoted(id)}")

    def compare(self, a: Any, b: Any, **settings: Any) -> dict[str, Any]:
        """Compare two texts, or documents of the index given as ``{"id": …}``; settings are
        ``method``, ``threshold`` and ``set``."""
        return self._object("POST", "/v1/compare", {"a": a, "b": b, **settings})

    def group(self, results: Iterable[Document], **settings: Any) -> list[dict[str, Any]]:
        """Group a ranked list; each group has a ``representative`` and ``others`` with a
        ``row``."""
        body = {"results": list(results), **settings}
        groups: list[dict[str, Any]] = self._object("POST", "/v1/group", body)["groups"]
        return groups

    def methods(self) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = self._ask("GET", "/v1/methods")
        return listed

    def stats(self) -> dict[str, Any]:
        return self._object("GET", "/v1/stats")

    def health(self) -> dict[str, Any]:
        return self._object("GET", "/v1/health")

    def close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _document(self, document: Document) -> dict[str, Any]:
        return {self._text: document} if isinstance(document, str) else document

    def _object(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        answer: dict[str, Any] = self._ask(method, path, body)
        return answer

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else written(body)
        for left in range(self._tries - 1, -1, -1):
            status, headers, raw = self._exchange(method, path, data)
            if status not in (429, 503) or not left:
                return read(status, raw)
            self._wait(_seconds(headers.get("Retry-After")))
        raise AssertionError("the last try returns or raises")

    def _exchange(
        self, method: str, path: str, data: bytes | None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """One request and its response. A connection that the server closed is opened anew once."""
        fresh = self._connection is None
        try:
            return self._once(method, path, data)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            if fresh or not isinstance(error, _DISCONNECTED):
                raise self._unreachable(error) from error
        return self._exchange(method, path, data)

    def _once(
        self, method: str, path: str, data: bytes | None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        if self._connection is None:
            self._connection = self._connect()
        headers = {**self._headers, **({"Content-Type": "application/json"} if data else {})}
        self._connection.request(method, path, data, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def _unreachable(self, error: Exception) -> UnreachableError:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return UnreachableError(
            f"The service at {self.url} does not answer: {reason}.",
            hint="is `neardup serve` running there?",
        )


def _connector(url: str, timeout: float) -> Callable[[], http.client.HTTPConnection]:
    parts = urlsplit(url)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if parts.scheme not in kinds or not parts.hostname or parts.path:
        raise UsageError(
            f"{url!r} is no address of a service.", hint="expected http://HOST:PORT, no path."
        )
    return lambda: kinds[parts.scheme](parts.hostname or "", parts.port, timeout=timeout)


def _quoted(id: str) -> str:
    return quote(id, safe="", errors="surrogatepass")


def _seconds(retry_after: str | None) -> float:
    try:
        return min(max(float(retry_after or 1), 0.0), LONGEST_WAIT)
    except ValueError:
        return 1.0


__all__ = ["Answer", "Client"]
