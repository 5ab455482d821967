"""One question, one answer, over a connection that stays open."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from neardup.client.answers import Answer, answer_of, read, written
from neardup.client.streaming import streamed
from neardup.errors import ServiceError, UnreachableError, UsageError

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
