"""Who asks: by a token in the header, or in a browser by the session that a login has opened.

A session is another random value than the token, lives in the memory of the server, and ends with
the server, with its logout, after twelve hours, or when its token is taken out of the file.
"""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers

from neardup.web.rate import Rate
from neardup.web.tokens import Token, Tokens, hashed

COOKIE = "neardup_session"
LASTS = 12 * 3600  # seconds
SESSIONS = 1000  # at one time; beyond it the oldest ends


class Access:
    def __init__(self, tokens: Tokens, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tokens, self._clock = tokens, clock
        self._sessions: OrderedDict[str, tuple[Token, float]] = OrderedDict()  # by hash
        # Ten tries at once, then one in six seconds: of a client, and ten times that of all.
        self.tries = Rate(1 / 6, burst=10, clock=clock)
        self.all_tries = Rate(10 / 6, burst=100, clock=clock)

    def who(self, headers: Headers) -> Token | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._tokens.find(given.strip())
        return self._session(headers.get("cookie", ""))

    def login(self, token: str) -> str | None:
        """The value of a new session; None where the token is none."""
        found = self._tokens.find(token)
        if found is None:
            return None
        made = secrets.token_urlsafe(32)
        self._sessions[hashed(made)] = (found, self._clock() + LASTS)
        if len(self._sessions) > SESSIONS:
            self._sessions.popitem(last=False)
        return made

    def logout(self, headers: Headers) -> None:
        self._sessions.pop(hashed(_cookie(headers.get("cookie", ""))), None)

    def _session(self, cookie: str) -> Token | None:
        value = hashed(_cookie(cookie)) if cookie else ""
        token, ends = self._sessions.get(value, (None, 0.0))
        if token is None:
            return None
        if self._clock() >= ends or not self._tokens.has(token):
            del self._sessions[value]
            return None
        return token


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""
