"""One application made of parts, each with its routes, its links and what it opens and closes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from fastapi import FastAPI
from fastapi.responses import JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from neardup.report.html_page import style
from neardup.web import problems
from neardup.web.doors import Door, Doors
from neardup.web.guard import Guard
from neardup.web.pages import Pages

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
    problems.install(app, pages, doors)
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
