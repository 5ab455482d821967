"""Errors as answers: the sentence of the command line, as problem+json (RFC 9457) or as a page."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from neardup.errors import (
    IndexStoreError,
    MissingExtraError,
    NeardupError,
    NoIndexError,
    StoreError,
    UsageError,
)
from neardup.web.pages import Pages, wants_page

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
    """``detail`` is the whole sentence; ``hint`` stands apart, too."""
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": int(status),
        "detail": sentence,
        **({"hint": hint} if hint else {}),
    }
    return JSONResponse(body, status, headers, media_type=MEDIA)


def install(app: FastAPI, pages: Pages) -> None:
    def answer(request: Request, error: NeardupError) -> Response:
        status = status_of(error)
        headers = error.headers if isinstance(error, ProblemError) else None
        if not wants_page(request):
            return problem(status, str(error), hint=error.hint, headers=headers)
        shown = {"title": status.phrase, "message": error.message, "hint": error.hint}
        return pages.html("problem.html", request.url.path, shown, status=status)

    @app.exception_handler(NeardupError)
    def ours(request: Request, error: NeardupError) -> Response:
        return answer(request, error)

    @app.exception_handler(HTTPException)
    def of_the_framework(request: Request, error: HTTPException) -> Response:
        status = HTTPStatus(error.status_code)
        sentence = _SENTENCES.get(status, "{method} {path}: " + status.phrase + ".")
        message = sentence.format(method=request.method, path=request.url.path)
        headers = dict(error.headers or {})
        return answer(request, ProblemError(status, message, headers=headers))

    @app.exception_handler(RequestValidationError)
    def of_the_input(request: Request, error: RequestValidationError) -> Response:
        found = "; ".join(
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()[:5]
        )
        said = ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"The request is not what was expected: {found}.",
            hint="/openapi.json describes every request.",
        )
        return answer(request, said)

    @app.exception_handler(Exception)
    def unexpected(request: Request, error: Exception) -> Response:
        LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
        said = ProblemError(
            HTTPStatus.INTERNAL_SERVER_ERROR,
            f"Unexpected {type(error).__name__}.",
            hint="the log of the server has the traceback; please report it.",
        )
        return answer(request, said)


_SENTENCES = {
    HTTPStatus.NOT_FOUND: "There is nothing at {path}.",
    HTTPStatus.METHOD_NOT_ALLOWED: "{path} does not answer {method}.",
}
