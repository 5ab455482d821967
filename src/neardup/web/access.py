"""Access by tokens, and in a browser by the session that a login opens.

A token is 256 random bits, so one round of SHA-256 hides it as well as any slow hash would. The
file of tokens holds only the hashes, one line of JSON each. It is read again when it changes: a
token that is removed from it is refused from then on.

A session has a random value of its own. It lives in the memory of the server, and ends with the
server, with its logout, after twelve hours, or when its token is removed from the file.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from http.cookies import CookieError, SimpleCookie
from pathlib import Path

from starlette.datastructures import Headers

from neardup.errors import InputError, UsageError
from neardup.files import sync
from neardup.web.limits import Rate

PREFIX = "neardup_"
MODE = 0o600


@dataclass(frozen=True)
class Token:
    """A token as the file has it."""

    name: str
    sha256: str
    read_only: bool
    made: str


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def make_token(path: Path, name: str, *, read_only: bool) -> str:
    """A new token; its hash is added to the file."""
    known = read_tokens(path) if path.exists() else []
    if any(one.name == name for one in known):
        raise UsageError(
            f"{path} already has a token {name!r}.",
            hint="take another name, or remove that one first with `neardup token remove`.",
        )
    made = PREFIX + secrets.token_urlsafe(32)
    moment = datetime.now(UTC).isoformat(timespec="seconds")
    _write(path, [*known, Token(name, hashed(made), read_only, moment)])
    return made


def remove_token(path: Path, name: str) -> None:
    known = read_tokens(path)
    if all(one.name != name for one in known):
        raise UsageError(
            f"{path} has no token {name!r}.", hint="`neardup token list` names those it has."
        )
    _write(path, [one for one in known if one.name != name])


def read_tokens(path: Path) -> list[Token]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise InputError(
            f"{path} cannot be read: {reason}.",
            hint="make a token with `neardup token new --token-file FILE`.",
        ) from error
    return [_token(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]


def _token(path: Path, number: int, line: str) -> Token:
    try:
        made = Token(**json.loads(line))
        if len(made.sha256) == 64 and isinstance(made.read_only, bool):
            return made
    except (TypeError, ValueError):
        pass
    raise InputError(
        f"{path}, line {number}, is no token.",
        hint="`neardup token new` writes them; the file is not to be written by hand.",
    )


def _write(path: Path, tokens: list[Token]) -> None:
    """All or nothing, readable by its owner alone."""
    part = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, MODE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in tokens)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync([path.parent])


class Tokens:
    """The tokens of a file, as it is now."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tokens = read_tokens(path)
        self._stamp = self._now()

    def find(self, token: str) -> Token | None:
        """Every hash is compared, in a time that does not depend on what it is."""
        self._refresh()
        ours = hashed(token)
        found = [one for one in self._tokens if hmac.compare_digest(one.sha256, ours)]
        return found[0] if found else None

    def has(self, token: Token) -> bool:
        self._refresh()
        return token in self._tokens

    def _refresh(self) -> None:
        """A file that is gone or broken lets no one in."""
        if (stamp := self._now()) == self._stamp:
            return
        self._stamp = stamp
        try:
            self._tokens = read_tokens(self.path)
        except InputError:
            self._tokens = []

    def _now(self) -> tuple[int, int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


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
