"""Login and logout for browsers. It works without a script; the token is never in an address."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from neardup.web.access import COOKIE, LASTS, Access
from neardup.web.app import Link
from neardup.web.guard import LOGIN, too_often
from neardup.web.pages import Data, Pages

TEMPLATE = "login.html"
WRONG = "That is no token of this server. Is it copied as a whole?"


class Login:
    """A part."""

    def __init__(self, access: Access) -> None:
        self._access = access

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/logout", "Log out")]

    def open(self) -> None: ...

    def close(self) -> None: ...

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter(include_in_schema=False)
        pages.add(router, LOGIN, TEMPLATE, _asked)
        pages.add(router, "/logout", "logout.html", lambda: {"title": "Log out"})

        @router.post(LOGIN)
        async def login(request: Request) -> Response:
            return self._login(request, await request.body(), pages)

        @router.post("/logout")
        async def logout(request: Request) -> Response:
            self._access.logout(request.headers)
            answer = RedirectResponse(LOGIN, HTTPStatus.SEE_OTHER)
            answer.delete_cookie(COOKIE)
            return answer

        return router

    def _login(self, request: Request, body: bytes, pages: Pages) -> Response:
        client = request.client.host if request.client else ""
        for rate, who in ((self._access.tries, client), (self._access.all_tries, "")):
            if seconds := rate.wait(who):
                raise too_often(seconds)
        form = parse_qs(body[:10_000].decode("utf-8", "replace"))
        wanted = _local(form.get("next", [""])[0])
        session = self._access.login(form.get("token", [""])[0].strip())
        if session is None:
            said = {**_asked(wanted), "problem": WRONG}
            return pages.html(TEMPLATE, LOGIN, said, status=HTTPStatus.UNAUTHORIZED)
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
