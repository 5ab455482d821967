"""Room for requests: one client cannot take all of it, and many small pieces cost their length."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.types import Message, Receive, Scope, Send

from neardup.web.doors import Door, Doors
from neardup.web.guard import Guard
from neardup.web.limits import Limits, Room

DOORS = Doors(
    [
        Door("/v1/stream", print, "POST", stream=True),
        Door("/v1/health", print, everyone=True),
        Door("/v1/other", print),
    ]
)


def in_own_loop(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: a browser of another test may have a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def scope(method: str, path: str, client: str) -> Scope:
    headers = [(b"host", b"localhost"), (b"transfer-encoding", b"chunked")]
    asked = {"type": "http", "method": method, "path": path, "client": (client, 1)}
    return {**asked, "headers": headers if method == "POST" else headers[:1], "query_string": b""}


async def status_of(app: Any, asked: Scope, receive: Receive) -> int:
    said: list[Message] = []

    async def send(message: Message) -> None:
        said.append(message)

    await app(asked, receive, send)
    return int(said[0]["status"])


def test_streams_of_one_client_leave_room_for_others_and_for_the_health() -> None:
    async def scenario() -> None:
        done = asyncio.Event()

        async def app(asked: Scope, _: Receive, send: Send) -> None:
            if asked["path"] == "/v1/stream":
                await done.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        guard = Guard(limits=Limits(requests=10, streams=3), doors=DOORS)
        guarded = guard.middleware(app)

        def ask(method: str, path: str, client: str) -> Any:
            return asyncio.ensure_future(status_of(guarded, scope(method, path, client), nothing))

        idle = [ask("POST", "/v1/stream", "a") for _ in range(3)]
        await asyncio.sleep(0)
        assert await ask("POST", "/v1/stream", "a") == 503
        idle += [ask("POST", "/v1/stream", "b") for _ in range(2)]
        await asyncio.sleep(0)
        assert await ask("POST", "/v1/stream", "c") == 503  # all streams together
        assert await ask("GET", "/v1/other", "c") == 200
        assert await ask("GET", "/v1/health", "c") == 200
        done.set()
        assert await asyncio.gather(*idle) == [200] * 5
        assert await ask("POST", "/v1/stream", "a") == 200

    in_own_loop(scenario())


def test_the_health_answers_when_there_is_no_room() -> None:
    room = Room(Limits(requests=2))
    room.enter()
    room.enter()
    room.enter(open_to_all=True)


def test_a_body_in_small_pieces_costs_its_length() -> None:
    """Adding up all pieces after each one took minutes for these."""
    pieces = 300_000

    async def body() -> bytes:
        left = pieces

        async def receive() -> Message:
            nonlocal left
            left -= 1
            return {"type": "http.request", "body": b"x", "more_body": left > 0}

        return await Room(Limits()).body(scope("POST", "/v1/other", "a"), receive)

    assert len(in_own_loop(body())) == pieces
