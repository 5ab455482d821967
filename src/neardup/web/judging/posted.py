"""What a page sends: the fields of a form, or the same as a JSON object; bounded, and plain text.

A form is answered with the next page, so that judging works without a script; JSON with JSON.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from neardup.web.problems import ProblemError

MOST_FIELDS = 256 << 10  # bytes of a form
LONGEST = 2000  # characters of a field


@dataclass(frozen=True)
class Posted:
    fields: dict[str, str]
    form: bool

    def get(self, name: str, default: str = "") -> str:
        return self.fields.get(name, default).strip() or default

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 (a seed: from 0) on."""
        written = self.get(name, str(default))
        try:
            found = int(written)
        except ValueError:
            found = -1
        if not 0 <= found <= most:
            raise refused(f"{name} is {written!r}.", hint=f"expected a number up to {most:,}.")
        return found

    def seconds(self) -> float | None:
        try:
            found = float(self.get("seconds", "nan"))
        except ValueError:
            return None
        return round(found, 1) if math.isfinite(found) and 0 <= found < 1e6 else None

    def answer(self, location: str, data: dict[str, Any] | None = None) -> Response:
        if self.form:
            return RedirectResponse(location, HTTPStatus.SEE_OTHER)
        return JSONResponse({**(data or {}), "next": location})


def refused(message: str, *, hint: str | None = None) -> ProblemError:
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, message, hint=hint)


def address(path: str, **given: str | None) -> str:
    """With the parameters that are there."""
    named = {name: value for name, value in given.items() if value}
    return f"{path}?{urlencode(named, quote_via=quote)}" if named else path


async def read_bytes(request: Request, most: int) -> bytes:
    """Stops reading what is too long."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise ProblemError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"What was sent has more than {most:,} bytes.",
                hint="send less at a time.",
            )
    return bytes(found)


async def _posted(request: Request) -> Posted:
    body = await read_bytes(request, MOST_FIELDS)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return Posted(_checked(_json(body)), form=False)
    return Posted(_checked(dict(parse_qsl(body.decode("utf-8", "replace")))), form=True)


def _json(body: bytes) -> dict[str, str]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise refused(f"What was sent is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise refused("What was sent is no JSON object.", hint="send fields with their values.")
    return {name: str(value) for name, value in found.items() if value is not None}


def _checked(fields: dict[str, str]) -> dict[str, str]:
    for name, value in fields.items():
        if len(value) > LONGEST:
            raise refused(f"{name[:40]!r} has more than {LONGEST:,} characters.")
        if any("\ud800" <= sign <= "\udfff" for sign in name + value):
            raise refused(f"{name[:40]!r} is no text: it has half a character.")
    return fields


PostedFields = Annotated[Posted, Depends(_posted)]
