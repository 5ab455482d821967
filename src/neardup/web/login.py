"""Login and logout for browsers. It works without a script; the token is never in an address."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import parse_qs

from fastapi import Request
from fastapi.responses import RedirectResponse, Response

from neardup.web.access import COOKIE, LASTS, Access
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.web.guard import too_often
from neardup.web.pages import Data, Pages

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
