"""Pages: data → a template, and the same data as JSON beside it.

A page is made of plain data and nothing else, so ``/clusters`` has a twin ``/clusters.json`` that
says the same. Everything that a template shows is escaped, and characters that act instead of being
seen are made visible: documents are hostile. Markup that is safe as it stands has to be ``Html``.

An error is answered with the sentence of the command line, as problem+json (RFC 9457) or as a page.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.meta import find_referenced_templates
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.errors import (
    IndexStoreError,
    MissingExtraError,
    NeardupError,
    NoIndexError,
    StoreError,
    UsageError,
)
from neardup.report.html_page import Html, interval
from neardup.web.doors import JSON, Door, Doors
from neardup.wording import score_text, shortened, visible

if TYPE_CHECKING:
    from neardup.web.app import Link

TEMPLATES = Path(__file__).parent / "templates"

Data = dict[str, Any]


class Pages:
    """``links`` are the bar of every page."""

    def __init__(self, links: Sequence[Link]) -> None:
        self.links = links

    def add(self, app: FastAPI, door: Door) -> None:
        """Its handler returns what the template shows, or a response where there is nothing to
        show. It is called for the page and for its twin."""
        path, template, data = door.path, door.template, door.handler

        @functools.wraps(data)
        def page(*arguments: Any, **named: Any) -> Response:
            made = data(*arguments, **named)
            return made if isinstance(made, Response) else self.html(template, path, made)

        @functools.wraps(data)
        def twin(*arguments: Any, **named: Any) -> Response:
            made = data(*arguments, **named)
            if isinstance(made, RedirectResponse):
                return _to_twin(made)
            return made if isinstance(made, Response) else JSONResponse(_plain(made))

        _compile(template)
        given: dict[str, Any] = {"include_in_schema": False, "response_model": None}
        app.add_api_route(path, page, response_class=HTMLResponse, **given)
        app.add_api_route((path.rstrip("/") or "/index") + JSON, twin, **given)

    def html(self, template: str, path: str, data: Data, *, status: int = 200) -> HTMLResponse:
        made = _environment().get_template(template).render(data, here=path, links=self.links)
        return HTMLResponse(made, status)


def _to_twin(made: RedirectResponse) -> RedirectResponse:
    """The redirection of a page's JSON twin: it leads to the twin of the page that the page leads
    to."""
    path, question, query = made.headers["location"].partition("?")
    return RedirectResponse(f"{path.rstrip('/')}{JSON}{question}{query}", made.status_code)


@functools.cache
def _compile(template: str) -> None:
    """Now, with those it is built on: the first reader need not wait for it."""
    environment = _environment()
    environment.get_template(template)
    source = (TEMPLATES / template).read_text("utf-8")
    for other in find_referenced_templates(environment.parse(source)):
        if other:
            environment.get_template(other)


@functools.cache
def _environment() -> Environment:
    """One for all applications of a process, so that each template is compiled once."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals["interval"] = interval
    made.filters["short"] = shortened
    made.filters["count"] = lambda number: f"{number:,}"
    made.filters["score"] = _score
    return made


def _score(score: float | None, kind: str | None = None) -> str:
    return "–" if score is None else score_text(score, kind, 3)


def _plain(data: Any) -> Any:
    """Markup is for the page; what it says stands beside it as data."""
    if isinstance(data, dict):
        return {name: _plain(one) for name, one in data.items() if not isinstance(one, Html)}
    return [_plain(one) for one in data] if isinstance(data, list | tuple) else data


def _shown(value: Any) -> Any:
    if value is None:
        return ""
    return visible(value) if type(value) is str else value


MEDIA = "application/problem+json"
LOG = logging.getLogger("neardup.web")

# The first that fits. What a client sent is wrong, unless something behind us failed.
STATUS = (
    (NoIndexError, HTTPStatus.NOT_FOUND),
    (IndexStoreError, HTTPStatus.SERVICE_UNAVAILABLE),
    (StoreError, HTTPStatus.BAD_GATEWAY),
    (MissingExtraError, HTTPStatus.NOT_IMPLEMENTED),
    (UsageError, HTTPStatus.BAD_REQUEST),
    (NeardupError, HTTPStatus.UNPROCESSABLE_ENTITY),
)


class ProblemError(NeardupError):
    """A sentence with a status of its own, such as 404 or 429."""

    def __init__(
        self,
        status: HTTPStatus,
        message: str,
        *,
        hint: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.headers = headers or {}


def not_found(what: str, *, hint: str | None = None) -> ProblemError:
    return ProblemError(HTTPStatus.NOT_FOUND, what, hint=hint)


def status_of(error: NeardupError) -> HTTPStatus:
    if isinstance(error, ProblemError):
        return error.status
    return next(status for kind, status in STATUS if isinstance(error, kind))


def problem(
    status: HTTPStatus,
    sentence: str,
    *,
    hint: str | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    body = problem_data(status, sentence, hint)
    return JSONResponse(body, status, headers, media_type=MEDIA)


def problem_data(status: HTTPStatus, sentence: str, hint: str | None) -> dict[str, Any]:
    """``detail`` is the whole sentence; ``hint`` stands apart, too."""
    return {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": sentence,
        **({"hint": hint} if hint else {}),
    }


def problem_of(error: NeardupError) -> dict[str, Any]:
    """The data of a problem that is a part of an answer."""
    return problem_data(status_of(error), str(error), error.hint)


def install(app: FastAPI, pages: Pages, doors: Doors) -> None:
    def answer(request: Request, error: NeardupError) -> Response:
        status = status_of(error)
        headers = error.headers if isinstance(error, ProblemError) else None
        path, accepted = request.url.path, request.headers.get("accept", "")
        if "text/html" not in accepted or doors.for_programs(path):
            return problem(status, str(error), hint=error.hint, headers=headers)
        shown = {"title": status.phrase, "message": error.message, "hint": error.hint}
        page = pages.html("problem.html", path, shown, status=status)
        page.headers.update(headers or {})
        return page

    @app.exception_handler(NeardupError)
    def ours(request: Request, error: NeardupError) -> Response:
        return answer(request, error)

    @app.exception_handler(HTTPException)
    def of_the_framework(request: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        sentence = _SENTENCES.get(status, "{method} {path}: " + status.phrase + ".")
        message = sentence.format(method=request.method, path=request.url.path)
        headers = dict(error.headers or {})
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers["allow"] = ", ".join(doors.methods(request.url.path)) or headers["allow"]
        return answer(request, ProblemError(status, message, headers=headers))

    @app.exception_handler(RequestValidationError)
    def of_the_input(request: Request, error: RequestValidationError) -> Response:
        found = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
        )
        door = doors.at(request.method, request.url.path)
        described = door is not None and bool(door.summary)
        said = ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"The request is not what was expected: {found}.",
            hint="/openapi.json describes every request." if described else None,
        )
        return answer(request, said)

    def caught(inner: ASGIApp) -> ASGIApp:
        """What no one expected. Inside of the guard, so that this answer has its headers too."""

        async def catching(scope: Scope, receive: Receive, send: Send) -> None:
            begun = False

            async def sending(message: Message) -> None:
                nonlocal begun
                begun = True
                await send(message)

            try:
                await inner(scope, receive, sending)
            except Exception as error:
                if begun or scope["type"] != "http":
                    raise
                said = unexpected(scope, error)
                await answer(Request(scope), said)(scope, receive, send)

        return catching

    app.add_middleware(caught)


def unexpected(scope: Scope, error: Exception) -> ProblemError:
    """Logged with its traceback; whoever asked is not told more than its name."""
    LOG.error("%s %s failed", scope["method"], scope["path"], exc_info=error)
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        f"Unexpected {type(error).__name__}.",
        hint="the log of the server has the traceback; please report it.",
    )


_SENTENCES = {
    HTTPStatus.NOT_FOUND: "There is nothing at {path}.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not answer {method}.",
}
