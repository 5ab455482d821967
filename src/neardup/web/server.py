"""A server on an address of this machine, until it is stopped.

The socket is bound before anything else, so that a busy port is reported as a sentence and the
number of a free port (0) can be printed. On SIGTERM and SIGINT requests that are being answered are
finished, then the parts are closed. The head of a request has a limit of time and of size; what
comes after it is bounded by ``limits.py``.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from neardup.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from types import FrameType

    from fastapi import FastAPI

GRACE = 10  # seconds that requests have to finish
HEAD = 30.0  # seconds that the head of a request may take


def check_extra() -> None:
    """Reports a missing extra where the feature begins."""
    try:
        import fastapi  # noqa: F401
        import httptools  # noqa: F401
        import jinja2  # noqa: F401
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            f"The service and its pages need {error.name}, which is not installed.",
            hint="pip install 'neardup[web]'",
        ) from error


def bind(host: str, port: int) -> socket.socket:
    """``port`` 0: any that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"Cannot listen on {host}, port {port}: {reason}.",
            hint="--port 0 takes any free port; --host names an address of this machine.",
        ) from error
    return made


def address_of(bound: socket.socket) -> str:
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    app: FastAPI,
    bound: socket.socket,
    *,
    started: Callable[[], None] | None = None,
    stopping: Callable[[], None] | None = None,
    seconds: float = HEAD,
) -> None:
    """Returns when the server has stopped. ``started`` is called once it answers, ``stopping`` when
    it is told to stop (in a signal handler: it must only set flags). The head of a request has to
    come within ``seconds``."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if started and self.started:
                started()

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
            """Unlike uvicorn's, the signal is not raised again when all is done: it was obeyed.
            The second one does not wait for requests."""
            app.state.stopping.set()  # answers that go on for ever end now
            if stopping:
                stopping()
            self.force_exit = self.should_exit
            self.should_exit = True

    config = uvicorn.Config(
        app,
        http=protocol(seconds),
        log_config=_log_config(),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    Server(config).run(sockets=[bound])


def _log_config() -> dict[str, Any]:
    """What goes wrong is said where uvicorn says it: the library itself prints nothing."""
    from uvicorn.config import LOGGING_CONFIG

    loggers = {**LOGGING_CONFIG["loggers"], "neardup.web": {"handlers": ["default"]}}
    return {**LOGGING_CONFIG, "loggers": loggers}


MOST_HEAD = 64_000  # bytes


def protocol(seconds: float) -> type[asyncio.Protocol]:
    """The HTTP protocol for uvicorn, with limits on the time and the size of a request's head,
    because uvicorn waits for it however long it takes."""

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
