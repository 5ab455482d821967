"""Connections that do not wait for ever, nor grow: for the head of a request there is a time and a
size. What comes after the head is the business of ``limits.py``."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64_000  # bytes


def protocol(seconds: float) -> type[asyncio.Protocol]:
    """For uvicorn, which waits for a head however long it takes."""

    class Limited(HttpToolsProtocol):
        _timer: asyncio.TimerHandle | None = None
        _begun = False  # a head that is not whole yet
        _size = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._start()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._begun:
                self._size += len(data)
                if self._size > MOST_HEAD:
                    self.transport.close()

        def on_message_begin(self) -> None:
            self._begun, self._size = True, 0
            if self._timer is None:
                self._start()
            super().on_message_begin()

        def on_headers_complete(self) -> None:
            self._begun = False
            self._stop()
            super().on_headers_complete()

        def _start(self) -> None:
            self._timer = self.loop.call_later(seconds, self._late)

        def _stop(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _late(self) -> None:
            self._timer = None
            self.transport.close()

    return Limited
