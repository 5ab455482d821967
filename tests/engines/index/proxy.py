"""A door between an index and its server that can be slammed at a chosen moment."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path

COMMIT = b"COMMIT\0"


class Proxy:
    """Listens in ``folder`` as a server would. At a commit it calls ``at_commit`` once: the
    message goes through only where that is true, the answer never does."""

    def __init__(self, folder: Path, server: Path) -> None:
        self.at_commit: Callable[[], bool] | None = None
        self._server = str(server / ".s.PGSQL.5432")
        self._door = socket.socket(socket.AF_UNIX)
        self._door.bind(str(folder / ".s.PGSQL.5432"))
        self._door.listen()
        self._thread = threading.Thread(target=self._admit)
        self._thread.start()

    def refuse(self) -> None:
        """Who comes from now on finds no one."""
        with contextlib.suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.refuse()
        self._thread.join()
        self._door.close()

    def _admit(self) -> None:
        threads = []
        with contextlib.suppress(OSError):  # the door was shut
            while True:
                guest, _ = self._door.accept()
                threads.append(threading.Thread(target=self._serve, args=(guest,)))
                threads[-1].start()
        for thread in threads:
            thread.join()

    def _serve(self, guest: socket.socket) -> None:
        with guest, socket.socket(socket.AF_UNIX) as host:
            host.connect(self._server)
            answers = threading.Thread(target=_answer, args=(guest, host))
            answers.start()
            self._ask(guest, host)
            answers.join()

    def _ask(self, guest: socket.socket, host: socket.socket) -> None:
        while data := _received(guest):
            if COMMIT in data and self.at_commit is not None:
                passes, self.at_commit = self.at_commit(), None
                _shut(guest, socket.SHUT_RDWR)
                if passes:
                    host.sendall(data)
                break
            host.sendall(data)
        _shut(host, socket.SHUT_WR)  # the server first reads what was sent


def _answer(guest: socket.socket, host: socket.socket) -> None:
    while data := _received(host):
        with contextlib.suppress(OSError):
            guest.sendall(data)
    _shut(guest, socket.SHUT_RDWR)


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 16)
    except OSError:
        return b""


def _shut(end: socket.socket, how: int) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(how)
