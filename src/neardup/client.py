"""A client of ``neardup serve``: the methods of an index, over one connection that stays open.

    with Client("http://127.0.0.1:8765") as client:
        client.check({"text": "…"})
        for answer in client.add_many(documents): ...

What the service refuses is raised with its sentence. Where it is busy (429, 503) the client waits
as long as the service says and asks again, a few times. Asking again never does harm: the same
document under the same id gets the same answer. Needs nothing but Python; one thread at a time.

What a service answers, as values and as errors.

One question, one answer, over a connection that stays open.

Documents sent one a line, answered one a line meanwhile.
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
    """What was decided of a document; of a duplicate, what it is of and why."""

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


def answer_of(found: dict[str, Any]) -> Answer:
    known = {name: found[name] for name in Answer._fields}
    return Answer(**{**known, "by": None if found["by"] is None else tuple(found["by"])})


def read(status: int, raw: bytes) -> Any:
    try:
        found = json.loads(raw)
    except ValueError:
        raise ServiceError(
            f"The service answered {status} with something that is no JSON.",
            hint="is it a service of neardup?",
            status=status,
        ) from None
    if 200 <= status < 300:
        return found
    raise error_of(status, found)


def error_of(status: int, found: Any) -> ServiceError:
    """The sentence of the service, its hint apart."""
    said = found if isinstance(found, dict) else {}
    hint = said.get("hint")
    message = str(said.get("detail") or f"The service answered {status}.")
    kind = BusyError if status in (429, 503) else ServiceError
    return kind(message.removesuffix(f" Hint: {hint}"), hint=hint, status=status)


class _Sender(threading.Thread):
    """Sends while another thread reads: who only sent would wait for the service, which waits for
    its answers to be read. Each document goes at once: the next may depend on the answer to it."""

    def __init__(self, to: socket.socket, documents: Iterable[dict[str, Any]]) -> None:
        super().__init__(daemon=True)
        self._to, self._documents = to, documents
        self.sent = 0
        self.ended = False  # whether all were sent
        self.failed: BaseException | None = None  # what the documents raised

    def run(self) -> None:
        with suppress(OSError):  # the reader learns of it
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
    # The socket itself: the connection lets go of it where an answer says that it will be closed,
    # and would open another one for what is sent then.
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
    if not sender.ended or answered < sender.sent:  # a cut connection looks like an end
        raise ConnectionResetError(f"the connection was lost after {many(answered, 'answer')}")


def _of_line(line: bytes) -> Answer | ServiceError:
    found = json.loads(line)
    if "problem" not in found:
        return answer_of(found)
    error = error_of(found["problem"]["status"], found["problem"])
    if found["line"] is None:  # of the stream, not of a document
        raise error
    return error


TRIES = 5
LONGEST_WAIT = 30.0  # seconds between two tries

Document = str | dict[str, Any]


class Client:
    """``timeout`` is that of one answer, in seconds; ``tries`` how often a busy service is asked.
    ``text`` is the column of the texts: a document may be given as its text alone."""

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
        given = {"max_age": max_age, "kind": None if kind is None else str(kind).lower()}
        query = urlencode({name: value for name, value in given.items() if value is not None})
        path = "/v1/check" + ("?" + query if query else "")
        return answer_of(self._ask("POST", path, self._document(document)))

    def add(self, document: dict[str, Any]) -> Answer:
        """Checks and stores. The same document once more gets the same answer."""
        return answer_of(self._ask("POST", "/v1/documents", document))

    def add_all(self, documents: Iterable[dict[str, Any]]) -> list[Answer]:
        """A short list: all of it is stored or none."""
        return [*map(answer_of, self._ask("POST", "/v1/documents/batch", list(documents)))]

    def add_many(self, documents: Iterable[dict[str, Any]]) -> Iterator[Answer | ServiceError]:
        """Any number, read as they are sent: one answer each, in order, when it is durable; or the
        error that it is answered by, and the others go on."""
        connection = self._connect()
        try:
            yield from streamed(connection, self._headers, documents)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def update(self, document: dict[str, Any]) -> Answer:
        """A new version in the place of the one with its id."""
        return answer_of(self._ask("PUT", "/v1/documents", document))

    def remove(self, id: str) -> dict[str, Answer]:
        """Takes a document out; what those are now that were set aside for it, by id."""
        found = self._ask("DELETE", f"/v1/documents?id={_quoted(id)}")
        return {one["id"]: answer_of(one) for one in found["again"]}

    def get(self, id: str) -> dict[str, Any]:
        """A document as it stands."""
        return self._object("GET", f"/v1/documents?id={_quoted(id)}")

    def compare(self, a: Any, b: Any, **settings: Any) -> dict[str, Any]:
        """Two texts, or documents of the index as ``{"id": …}``; ``method``, ``threshold``,
        ``set``."""
        return self._object("POST", "/v1/compare", {"a": a, "b": b, **settings})

    def group(self, results: Iterable[Document], **settings: Any) -> list[dict[str, Any]]:
        """A ranked list in groups: ``representative`` and ``others``, with their ``row``."""
        body = {"results": list(results), **settings}
        found: list[dict[str, Any]] = self._object("POST", "/v1/group", body)["groups"]
        return found

    def methods(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._ask("GET", "/v1/methods")
        return found

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
        found: dict[str, Any] = self._ask(method, path, body)
        return found

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
        """A connection that the server closed meanwhile is made anew, once."""
        fresh = self._connection is None
        try:
            return self._once(method, path, data)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as error:
            self.close()
            if fresh:
                raise self._unreachable(error) from error
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error
        try:
            return self._once(method, path, data)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise self._unreachable(error) from error

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
