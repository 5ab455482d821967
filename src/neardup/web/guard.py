"""The guard before every request: who may ask, from where, how often and how much, and what a
browser may do with the answer.

It knows no path: which requests need a token or change something, the doors of the application
say (``doors.py``). It is plain ASGI, so it adds little to a request that takes a fraction of a
millisecond.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.errors import NeardupError
from neardup.web.access import Access, Token
from neardup.web.doors import SAFE, Doors, Lane
from neardup.web.limits import GoneError, Limits, Rate, Room, replayed
from neardup.web.pages import ProblemError, problem, status_of, unexpected


def name_of(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def same_origin(headers: Headers, host: str) -> bool:
    """Browsers say where a change comes from; what says nothing is no browser."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    return origin is None or urlsplit(origin).netloc == host


LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
# No inline script or style, nothing from elsewhere, no frames: should markup of a document ever
# slip through, the browser still runs nothing.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" a form would be sent with the origin "null", which is refused.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

Watch = Callable[[str, int, float], None]  # path, status, seconds


@dataclass(frozen=True)
class Guard:
    """``hosts``: the names by which this server may be called. A page elsewhere that lets its own
    name point here (DNS rebinding) is refused by them; numbers (``any_number``) no name can be
    made to point at. Without ``access`` everyone may ask. ``doors`` say which requests need a
    token, change something or read their body themselves, and which have a lane: those are
    answered here, because to find a route would take longer than the answer."""

    hosts: frozenset[str] = LOCAL
    any_number: bool = False
    access: Access | None = None
    read_only: bool = False
    rate: Rate | None = None
    limits: Limits = field(default_factory=Limits)
    watch: Watch | None = None
    doors: Doors = field(default_factory=Doors)

    @classmethod
    def of(cls, names: Iterable[str], **others: object) -> Guard:
        return cls(LOCAL | {name.lower() for name in names}, **others)  # type: ignore[arg-type]

    def middleware(self, app: ASGIApp) -> ASGIApp:
        room = Room(self.limits, self.doors.streams)

        async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            answering = _Answering(send)
            try:
                with suppress(GoneError):
                    await self._let_in(app, room, scope, receive, answering)
            finally:
                if self.watch:
                    self.watch(scope["path"], answering.status, answering.seconds())

        return guarded

    async def _let_in(
        self, app: ASGIApp, room: Room, scope: Scope, receive: Receive, send: _Answering
    ) -> None:
        try:
            refusal = self._admitted(scope)
            if refusal is None:
                open_to_all = self.doors.for_everyone(scope["method"], scope["path"])
                room.enter(open_to_all=open_to_all)
        except NeardupError as error:
            refusal = _said(error)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        size = 0
        try:
            door = self.doors.at(scope["method"], scope["path"])
            if door and door.stream:
                with room.stream(self._client(scope)):
                    await app(scope, receive, send)
            else:
                body = await room.body(scope, receive)
                size = len(body)
                if door and door.lane and not scope["query_string"]:
                    await (await _answered(door.lane, scope, body))(scope, receive, send)
                    return
                await app(scope, replayed(body, receive), send)
        except ProblemError as error:
            await _said(error)(scope, receive, send)
        finally:
            room.leave(size)

    def _admitted(self, scope: Scope) -> Response | None:
        """None, or what is answered instead; it may also be raised."""
        headers = Headers(scope=scope)
        if (refusal := self.refused(scope["method"], headers)) is not None:
            raise ProblemError(HTTPStatus.FORBIDDEN, refusal)
        anyone = self.doors.for_everyone(scope["method"], scope["path"])
        access = None if anyone else self.access
        token = access.who(headers) if access else None
        self._check_rate(scope, token)
        if access and token is None:
            return self._who(scope, headers)
        if token is not None:
            self._check_change(scope, token.read_only, "This token may only read.")
        self._check_change(scope, self.read_only, "This server only reads (--read-only).")
        return None

    def _check_rate(self, scope: Scope, token: Token | None) -> None:
        """Refuses a client that asks too often. All requests with one token are one client,
        wherever they come from; other clients are known by their address."""
        if self.rate is None:
            return
        if seconds := self.rate.wait(_name_of(scope, token)):
            raise too_often(seconds)

    def _client(self, scope: Scope) -> str:
        return _name_of(scope, self.access.who(Headers(scope=scope)) if self.access else None)

    def _check_change(self, scope: Scope, read_only: bool, sentence: str) -> None:
        if read_only and self.doors.changes(scope["method"], scope["path"]):
            reading = "".join(f", {one}" for one in self.doors.reading)
            hint = f"requests that only read are allowed: GET{reading}."
            raise ProblemError(HTTPStatus.FORBIDDEN, sentence, hint=hint)

    def refused(self, method: str, headers: Headers) -> str | None:
        """Why a request is not let in; None where it is."""
        host = headers.get("host", "")
        if not self._is_ours(host):
            return (
                f"This server is not called {host!r}. "
                "Hint: name the address that it was started with."
            )
        if method not in SAFE and not same_origin(headers, host):
            return "A page of another origin may not change anything here."
        return None

    def _who(self, scope: Scope, headers: Headers) -> Response:
        """A person is led to the login; a program gets a problem."""
        path, login = scope["path"], self.doors.login
        person = scope["method"] in SAFE and "text/html" in headers.get("accept", "")
        if login and person and not self.doors.for_programs(path):
            query = scope["query_string"].decode("latin-1")
            wanted = path + ("?" + query if query else "")
            return RedirectResponse(f"{login}?next={quote(wanted, safe='')}", HTTPStatus.SEE_OTHER)
        return problem(
            HTTPStatus.UNAUTHORIZED,
            "This server answers only requests with a token.",
            hint="send it as Authorization: Bearer TOKEN; `neardup token new` makes one.",
            headers={"WWW-Authenticate": "Bearer"},
        )

    def _is_ours(self, host: str) -> bool:
        name = name_of(host)
        return name in self.hosts or (self.any_number and is_number(name))


def _name_of(scope: Scope, token: Token | None) -> str:
    return f"token {token.name}" if token else (scope.get("client") or ("",))[0]


class _Answering:
    """``send`` that adds the headers and remembers what was answered."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._began = time.perf_counter()
        self.status = 499  # the client hung up before

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = message["headers"] = list(message.get("headers", ()))
            there = {name for name, _ in headers}
            headers += [one for one in _RAW if one[0] not in there]
        await self._send(message)

    def seconds(self) -> float:
        return time.perf_counter() - self._began


async def _answered(lane: Lane, scope: Scope, body: bytes) -> Response:
    try:
        return await lane(body)
    except NeardupError as error:
        return _said(error)
    except Exception as error:
        return _said(unexpected(scope, error))


def too_often(seconds: float) -> ProblemError:
    wait = max(1, math.ceil(seconds))
    return ProblemError(
        HTTPStatus.TOO_MANY_REQUESTS,
        "That is more often than one client may ask.",
        hint=f"try again in {wait} s.",
        headers={"Retry-After": str(wait)},
    )


def _said(error: NeardupError) -> Response:
    headers = error.headers if isinstance(error, ProblemError) else None
    return problem(status_of(error), str(error), hint=error.hint, headers=headers)
