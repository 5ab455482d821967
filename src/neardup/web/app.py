"""One application made of parts, each with its routes, its links and what it opens and closes.

``Login`` is the part for browsers. It works without a script; the token is never in an address.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Protocol
from urllib.parse import parse_qs

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from neardup.report.html_page import style
from neardup.web.access import COOKIE, LASTS, Access
from neardup.web.doors import Door, Doors
from neardup.web.guard import Guard, too_often
from neardup.web.pages import Data, Pages, install

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Link:
    """An entry of the bar that every page has."""

    href: str
    title: str


class Part(Protocol):
    """A part of the application: entries of the bar, and doors. ``open`` is called before the
    first request, ``close`` after the last one was answered."""

    @property
    def links(self) -> Sequence[Link]: ...

    def doors(self) -> Sequence[Door]: ...

    def open(self) -> None:
        return None

    def close(self) -> None:
        return None


def make_app(parts: Sequence[Part], guard: Guard, *, title: str = "neardup") -> FastAPI:
    """The first link of the first part is the front page."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for part in parts:
                part.open()
                stack.callback(part.close)
            yield

    # The pages of FastAPI's own documentation load scripts from elsewhere; ours load nothing.
    app = FastAPI(title=title, docs_url=None, redoc_url=None, lifespan=lifespan)
    links = [link for part in parts for link in part.links]
    own = [Door("/look.css", look, everyone=True), *_front(links)]
    doors = Doors([*(door for part in parts for door in part.doors()), *own], ["/static/"])
    app.state.stopping = threading.Event()  # set when the server is told to stop
    app.state.pages = pages = Pages(links)
    install(app, pages, doors)
    for door in doors.doors:
        _install(app, door, pages)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.add_middleware(replace(guard, doors=doors).middleware)
    return app


def _install(app: FastAPI, door: Door, pages: Pages) -> None:
    if door.template:
        pages.add(app, door)
        return
    app.add_api_route(
        door.path,
        door.handler,
        methods=[door.method],
        include_in_schema=bool(door.summary),
        summary=door.summary or None,
        response_model=door.model,
        responses=dict(door.responses),
        openapi_extra=door.body,
        response_class=Response if door.summary and not door.model else JSONResponse,
    )


def _front(links: Sequence[Link]) -> list[Door]:
    """``/`` leads to the first page, unless a part has a page there."""
    if not links or links[0].href == "/":
        return []
    return [Door("/", lambda: RedirectResponse(links[0].href))]


def look() -> Response:
    """Colours, figures and two texts side by side look as they do in a report."""
    return Response(style("colours", "figures", "side_by_side"), media_type="text/css")


LOGIN, TEMPLATE = "/login", "login.html"
WRONG = "That is no token of this server. Is it copied as a whole?"


class Login(Part):
    def __init__(self, access: Access) -> None:
        self._access = access

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/logout", "Log out")]

    def doors(self) -> Sequence[Door]:
        return [
            Door(LOGIN, _asked, template=TEMPLATE, everyone=True, login=True),
            Door(LOGIN, self.login, "POST", everyone=True, reads=True),
            Door("/logout", lambda: {"title": "Log out"}, template="logout.html"),
            Door("/logout", self.logout, "POST", reads=True),
        ]

    async def logout(self, request: Request) -> Response:
        self._access.logout(request.headers)
        answer = RedirectResponse(LOGIN, HTTPStatus.SEE_OTHER)
        answer.delete_cookie(COOKIE)
        return answer

    async def login(self, request: Request) -> Response:
        body = await request.body()
        client = request.client.host if request.client else ""
        for rate, who in ((self._access.tries, client), (self._access.all_tries, "")):
            if seconds := rate.wait(who):
                raise too_often(seconds)
        form = parse_qs(body[:10_000].decode("utf-8", "replace"))
        wanted = _local(form.get("next", [""])[0])
        session = self._access.login(form.get("token", [""])[0].strip())
        if session is None:
            pages: Pages = request.app.state.pages
            again = {**_asked(wanted), "problem": WRONG}
            return pages.html(TEMPLATE, LOGIN, again, status=HTTPStatus.UNAUTHORIZED)
        answer = RedirectResponse(wanted, HTTPStatus.SEE_OTHER)
        answer.set_cookie(
            COOKIE,
            session,
            max_age=LASTS,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return answer


def _asked(next: str = "/") -> Data:
    return {"title": "Log in", "next": _local(next), "problem": None}


def _local(path: str) -> str:
    """A path of this server: a login must not lead elsewhere."""
    plain = path.startswith("/") and path.isprintable() and "\\" not in path
    return path if plain and not path.startswith("//") else "/"
