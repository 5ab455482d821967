"""Bodies of requests: JSON that may be anything, and documents in it.

What is checked by hand here is what the description (``/openapi.json``) says of a document. A model
would check the same in several times the time that an answer takes.

Documents may also be sent line by line, and are answered line by line while they arrive. Each line
gets one answer, in order, when it is durable; a line that cannot be accepted is answered by a
problem, and the stream goes on. Memory holds one batch and one unfinished line. If a client stops
reading responses, the server stops reading its requests.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, NoReturn

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

from neardup.documents.columns import Columns
from neardup.errors import NeardupError
from neardup.web.limits import GoneError, Limits, busy
from neardup.web.pages import ProblemError, problem_of
from neardup.web.service.responses import written
from neardup.web.service.writer import TOGETHER, AddEach, Writer

Object = dict[str, Any]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parsed(raw: bytes) -> Any:
    try:
        return _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise bad(f"The body is no UTF-8: byte {error.start} is wrong.") from None
    except RecursionError:
        raise bad("The JSON of the body is nested too deeply.") from None
    except ValueError as error:
        raise bad(f"The body is no JSON: {error}.") from None


def bad(sentence: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.BAD_REQUEST, sentence, hint="/openapi.json describes every request."
    )


def unfit(sentence: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY, sentence, hint="/openapi.json describes every request."
    )


def object_of(raw: bytes) -> Object:
    found = parsed(raw)
    if type(found) is not dict:
        raise unfit(f"The body is {named(found)}; expected an object.")
    return found


def named(value: Any) -> str:
    """What JSON calls it."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def text_of(value: Any, where: str, limits: Limits) -> str:
    if type(value) is not str:
        raise unfit(f"{where} is {named(value)}; expected a string.")
    if len(value) > limits.text:
        raise unfit(f"{where} has {len(value):,} characters; at most {limits.text:,} are taken.")
    return value


def id_of(value: Any, where: str, limits: Limits) -> str:
    if type(value) is not str or not value:
        raise unfit(f"{where} is {'empty' if value == '' else named(value)}; expected an id.")
    if len(value) > limits.id:
        raise unfit(f"{where} has {len(value):,} characters; at most {limits.id:,} are taken.")
    return value


@dataclass(frozen=True)
class Documents:
    """Documents as the index reads them: objects with its columns, and any others."""

    columns: Columns
    limits: Limits

    def one(self, raw: bytes, *, named: bool) -> Object:
        """``named``: whether it has to have an id."""
        return self.checked(object_of(raw), named=named)

    def many(self, raw: bytes) -> list[Object]:
        found = parsed(raw)
        if type(found) is not list:
            raise unfit(f"The body is {named(found)}; expected a list of documents.")
        if not 1 <= len(found) <= self.limits.batch:
            raise unfit(
                f"The list has {len(found):,} documents; expected 1 to {self.limits.batch:,}."
            )
        return [self.checked(item, f"Document {n}: ") for n, item in enumerate(found, 1)]

    def checked(self, item: Any, where: str = "", *, named: bool = True) -> Object:
        if type(item) is not dict:
            raise unfit(f"{where or 'The body '}is no document; expected an object.")
        text, id_ = self.columns.text, self.columns.id_name
        text_of(item.get(text), f"{where}{text!r}", self.limits)
        if named or item.get(id_) is not None:
            id_of(item.get(id_), f"{where}{id_!r}", self.limits)
        return item

    def schema(self, *, named: bool) -> Object:
        """The schema of a document, for the description of the service."""
        text, id_ = self.columns.text, self.columns.id_name
        id_schema: Object = {"type": "string", "minLength": 1, "maxLength": self.limits.id}
        return {
            "type": "object",
            "required": [text, id_] if named else [text],
            "properties": {
                text: {"type": "string", "maxLength": self.limits.text},
                id_: id_schema if named else {"anyOf": [id_schema, {"type": "null"}]},
            },
            "additionalProperties": True,
            "example": {id_: "news-1", text: "The council voted on Tuesday."},
        }


LINES_MEDIA = "application/x-ndjson"
PATIENCE = 0.02  # seconds between two looks whether there is room to write


@dataclass
class Lines:
    """Turns bytes as they come into whole lines. For a line that is too long, None is given
    instead."""

    most: int
    _rest: bytearray = field(default_factory=bytearray)
    _skipping: bool = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        *whole, rest = data.split(b"\n")
        for part in whole:
            yield self._line(part)
        self._keep(rest)

    def end(self) -> Iterator[bytes | None]:
        if self._rest or self._skipping:
            yield self._line(b"")

    def _line(self, part: bytes) -> bytes | None:
        self._keep(part)
        line = None if self._skipping else bytes(self._rest)
        self._rest.clear()
        self._skipping = False
        return line

    def _keep(self, part: bytes) -> None:
        if self._skipping:
            return
        self._rest += part
        if len(self._rest) > self.most:
            self._rest.clear()
            self._skipping = True


class Stream(Response):
    """An answer that reads while it writes. ``stopping`` is set when the server is told to
    stop; ``told`` gets what was answered."""

    def __init__(
        self,
        writer: Writer,
        documents: Documents,
        stopping: asyncio.Event,
        told: Callable[[list[Any]], object],
    ) -> None:
        super().__init__(media_type=LINES_MEDIA)
        self._writer, self._documents, self._limits = writer, documents, documents.limits
        self._stopping, self._tell = stopping, told
        self._number = 0  # of the last line that was taken

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        headers = [(b"content-type", LINES_MEDIA.encode()), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        try:
            async for lines in self._batches(receive):
                said = await self._answered(lines)
                await send({"type": "http.response.body", "body": said, "more_body": True})
        except ProblemError as error:  # the stream cannot go on
            said = written({"line": None, "problem": problem_of(error)}) + b"\n"
            await send({"type": "http.response.body", "body": said, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _batches(self, receive: Receive) -> AsyncIterator[list[bytes | None]]:
        lines = Lines(self._limits.body)
        more = True
        while more:
            body, more = await self._next(receive)
            found = [*lines.feed(body), *(() if more else lines.end())]
            for start in range(0, len(found), TOGETHER):
                yield found[start : start + TOGETHER]

    async def _next(self, receive: Receive) -> tuple[bytes, bool]:
        coming = asyncio.ensure_future(receive())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait(
                (coming, stopping),
                timeout=self._limits.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if self._stopping.is_set():
                raise busy("The server is stopping; lines after this were not taken.", seconds=5)
            if not coming.done():
                raise ProblemError(
                    HTTPStatus.REQUEST_TIMEOUT,
                    f"No line has come for {self._limits.seconds:g} seconds.",
                )
            message = coming.result()
        finally:
            coming.cancel()
            stopping.cancel()
        if message["type"] == "http.disconnect":
            raise GoneError
        return message.get("body", b""), bool(message.get("more_body"))

    async def _answered(self, lines: list[bytes | None]) -> bytes:
        read = [self._read(line) for line in lines if line is None or line.strip()]
        good = [one for one in read if not isinstance(one, NeardupError)]
        found = iter(await self._written(good))
        said = []
        for one in read:
            made = one if isinstance(one, NeardupError) else next(found)
            self._number += 1
            said.append(written({"line": self._number, **_told(made)}))
        return b"".join(line + b"\n" for line in said)

    def _read(self, line: bytes | None) -> dict[str, Any] | NeardupError:
        try:
            if line is None:
                raise ProblemError(
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    f"The line is longer than {self._limits.body:,} bytes.",
                )
            return self._documents.checked(parsed(line))
        except ProblemError as error:
            return error

    async def _written(self, documents: list[dict[str, Any]]) -> list[Any]:
        """Waits for room instead of being refused: whoever sends is held up by it."""
        if not documents:
            return []
        while not self._writer.fits(len(documents)):
            await asyncio.sleep(PATIENCE)
        made: list[Any] = await self._writer.write(AddEach(documents))
        self._tell([one for one in made if not isinstance(one, NeardupError)])
        return made


def _told(made: dict[str, Any] | NeardupError) -> dict[str, Any]:
    return {"problem": problem_of(made)} if isinstance(made, NeardupError) else made
