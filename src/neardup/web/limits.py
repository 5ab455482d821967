"""What one request and all requests together may take: bytes, seconds, places, and how often.

A body is read before anything else is done with the request, so that a slow or endless one costs a
connection and its own bytes, no more. Requests beyond what fits are refused with a time to come
back, instead of growing without end. The rate of a client is a bucket of tokens that fills
steadily.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from starlette.types import Message, Receive, Scope

from neardup.web.pages import ProblemError
from neardup.wording import many

MB = 1_000_000
RESERVED = 100  # requests beyond the limit for paths that are open to all, such as the health


@dataclass(frozen=True)
class Limits:
    body: int = 16 * MB  # bytes of one request
    text: int = 4 * MB  # characters of one text
    id: int = 1024  # characters
    batch: int = 1000  # documents of one request
    waiting: int = 2000  # documents that wait to be written
    seconds: float = 30.0  # for a body to come, and for an answer to be made
    requests: int = 1000  # at one time
    streams: int = 50  # at one time, of one client
    bodies: int = 256 * MB  # bytes of all requests at one time


@dataclass
class Room:
    """How much of the limits is taken now. ``streams`` are paths for bodies that are too large."""

    limits: Limits
    streams: Sequence[str] = ()
    requests: int = 0
    held: int = 0  # bytes of bodies
    open_streams: Counter[str] = field(default_factory=Counter)  # by client

    def enter(self, *, open_to_all: bool = False) -> None:
        if self.requests >= self.limits.requests + RESERVED * open_to_all:
            raise busy(f"{many(self.requests, 'request')} are being answered already.")
        self.requests += 1

    @contextmanager
    def stream(self, client: str) -> Iterator[None]:
        """A stream may stay open for long, so one client has few of them, and all clients together
        leave room for other requests."""
        if self.open_streams[client] >= self.limits.streams:
            raise busy(f"This client has {many(self.limits.streams, 'stream')} open already.")
        if self.open_streams.total() >= self.limits.requests // 2:
            raise busy(f"{many(self.open_streams.total(), 'stream')} are open already.")
        self.open_streams[client] += 1
        try:
            yield
        finally:
            self.open_streams[client] -= 1
            self.open_streams += Counter()  # forgets clients without any

    def leave(self, size: int) -> None:
        self.requests -= 1
        self.held -= size

    async def body(self, scope: Scope, receive: Receive) -> bytes:
        """All of it; whoever gets it gives its size back with ``leave``."""
        declared = _declared(scope)
        if declared > self.limits.body:
            raise self._too_large()
        if not declared and not _chunked(scope):
            return b""
        body = bytearray()  # grows in steps, so that many small pieces cost what one large one does
        try:
            async with asyncio.timeout(self.limits.seconds):
                while await self._took(receive, body):
                    pass
        except BaseException as error:
            self.held -= len(body)
            if isinstance(error, TimeoutError):
                raise self._too_slow() from None
            raise
        return bytes(body)

    async def _took(self, receive: Receive, body: bytearray) -> bool:
        """One piece more; whether others follow."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        part = message.get("body", b"")
        self.held += len(part)
        body += part
        if len(body) > self.limits.body:
            raise self._too_large()
        if self.held > self.limits.bodies:
            raise busy("The requests that are being answered fill the memory that they may.")
        return bool(message.get("more_body"))

    def _too_slow(self) -> ProblemError:
        return ProblemError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"The body did not come within {self.limits.seconds:g} seconds.",
            headers={"Connection": "close"},
        )

    def _too_large(self) -> ProblemError:
        return ProblemError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"The body is larger than {self.limits.body:,} bytes.",
            hint="send less at once" + "".join(f", or line by line to {p}" for p in self.streams),
            headers={"Connection": "close"},
        )


class GoneError(Exception):
    """The client hung up."""


def busy(why: str, *, seconds: int = 1) -> ProblemError:
    return ProblemError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        why,
        hint=f"try again in {many(seconds, 'second')}.",
        headers={"Retry-After": str(seconds)},
    )


def replayed(body: bytes, receive: Receive) -> Receive:
    """``receive`` of a request whose body has been read."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _declared(scope: Scope) -> int:
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else 0
    return 0


def _chunked(scope: Scope) -> bool:
    return any(name == b"transfer-encoding" for name, _ in scope["headers"])


CLIENTS = 10_000  # remembered; beyond it those that were quiet longest are forgotten


class Rate:
    """``per_second`` on the long run, ``burst`` at once."""

    def __init__(
        self, per_second: float, *, burst: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.per_second, self.burst = per_second, burst
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since when

    def wait(self, client: str) -> float:
        """Takes a token: 0.0. Where there is none: seconds until there is one."""
        now = self._clock()
        tokens, since = self._left.pop(client, (self.burst, now))
        tokens = min(self.burst, tokens + (now - since) * self.per_second)
        taken = tokens >= 1
        self._left[client] = (tokens - taken, now)
        if len(self._left) > CLIENTS:
            self._left.popitem(last=False)
        return 0.0 if taken else (1 - tokens) / self.per_second
