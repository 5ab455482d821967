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
        try:
            while True:
                guest, _ = self._door.accept()
                host = socket.socket(socket.AF_UNIX)
                host.connect(self._server)
                for target in (self._ask, self._answer):
                    threads.append(threading.Thread(target=target, args=(guest, host)))
                    threads[-1].start()
        except OSError:
            for thread in threads:
                thread.join()

    def _ask(self, guest: socket.socket, host: socket.socket) -> None:
        while data := _received(guest):
            if COMMIT in data and self.at_commit is not None:
                passes, self.at_commit = self.at_commit(), None
                _shut(guest)
                if passes:
                    host.sendall(data)
                break
            host.sendall(data)
        # The server reads what was sent before it sees that we left.
        host.shutdown(socket.SHUT_WR)

    def _answer(self, guest: socket.socket, host: socket.socket) -> None:
        while data := _received(host):
            with contextlib.suppress(OSError):
                guest.sendall(data)
        _shut(guest)
        guest.close()
        host.close()


def _received(end: socket.socket) -> bytes:
    try:
        return end.recv(1 << 16)
    except OSError:
        return b""


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
