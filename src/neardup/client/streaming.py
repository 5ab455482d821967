"""Documents sent one a line, answered one a line meanwhile."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from neardup.client.answers import Answer, answer_of, error_of, read, written
from neardup.counted import many
from neardup.errors import ServiceError


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
