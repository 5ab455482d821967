"""One application made of parts, each with its routes, its links and what it opens and closes."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from fastapi import APIRouter, FastAPI
from fastapi.responses import Response
from fastapi.staticfiles import StaticFiles

from neardup.report.html_page import style
from neardup.web import problems
from neardup.web.guard import Guard
from neardup.web.pages import Pages

STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Link:
    """An entry of the bar that every page has."""

    href: str
    title: str


class Part(Protocol):
    """``open`` is called before the first request, ``close`` after the last one was answered."""

    @property
    def links(self) -> Sequence[Link]: ...

    def router(self, pages: Pages) -> APIRouter: ...

    def open(self) -> None: ...

    def close(self) -> None: ...


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
    app.state.stopping = threading.Event()  # set when the server is told to stop
    pages = Pages([link for part in parts for link in part.links])
    problems.install(app, pages)
    for part in parts:
        app.include_router(part.router(pages))
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _install_look(app)
    pages.install_front(app)
    app.add_middleware(guard.middleware)
    return app


def _install_look(app: FastAPI) -> None:
    """Colours, figures and two texts side by side look as they do in a report."""

    @app.get("/look.css", include_in_schema=False)
    def look() -> Response:
        return Response(style("colours", "figures", "side_by_side"), media_type="text/css")
