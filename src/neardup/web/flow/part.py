"""The page of a flow, and its events: the whole state again whenever something has changed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from neardup.online.index import Index
from neardup.outputs.report.bars import bar
from neardup.web.app import Link
from neardup.web.flow.drawing import arrivals
from neardup.web.flow.following import Follower
from neardup.web.pages import Data, Pages
from neardup.web.problems import ProblemError

MOST_LISTENERS = 50
PAUSE = 1.0  # seconds between two events
BEAT = 15.0  # a sign of life, so that who has gone is noticed
WAIT = 0.25  # how soon a listener notices that the server stops


class FlowPart:
    """``index`` where it is open in this process: then its memory can be told."""

    links: Sequence[Link] = (Link("/flow", "Flow"),)

    def __init__(self, url: str, index: Callable[[], Index] | None = None) -> None:
        self._index = index
        in_memory = index if url.startswith(("memory:", ":memory:")) else None
        self._follower = Follower(url, in_memory)
        self._listeners = 0

    def open(self) -> None:
        self._follower.start()

    def close(self) -> None:
        self._follower.stop()

    def router(self, pages: Pages) -> APIRouter:
        router = APIRouter()
        pages.add(router, "/flow", "flow/flow.html", self.page)
        router.add_api_route("/flow/events", self.events, include_in_schema=False)
        return router

    def page(self) -> Data:
        return self._shown(self._follower.state())

    def _shown(self, state: dict[str, Any]) -> Data:
        """With all names, also before the first look was over."""
        totals = {"documents": 0, "kept": 0, "duplicates": 0, "bytes": 0}
        empty: dict[str, Any] = {"rate": 0.0, "newest": None, "unit": 0, "bars": [], "sources": []}
        found = {"totals": totals, **empty, "other_sources": 0, "matches": [], **state}
        return {
            "store": _name(self._follower.url),
            **found,
            "memory": self._memory(),
            "chart": arrivals(found["bars"], found["unit"]),
            "sources": [
                {**one, "bar": bar(one["duplicates"], one["documents"])} for one in found["sources"]
            ],
        }

    def _memory(self) -> dict[str, int | None]:
        """Bytes: of the index in this process, and of the process."""
        index = None
        if self._index is not None:
            stats = self._index().stats()
            index = stats["evidence_bytes"] + stats["postings_bytes"]
        return {"index": index, "process": _resident()}

    def events(self, request: Request) -> StreamingResponse:
        if self._listeners >= MOST_LISTENERS:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{MOST_LISTENERS} listeners are here already.",
                hint="read /flow.json instead, or come later.",
                headers={"Retry-After": "30"},
            )
        return StreamingResponse(self._events(request), media_type="text/event-stream")

    async def _events(self, request: Request) -> AsyncIterator[str]:
        self._listeners += 1
        stopping, loop = request.app.state.stopping, asyncio.get_running_loop()
        version, told = -1, loop.time()
        try:
            yield "retry: 2000\n\n"
            while not (stopping.is_set() or self._follower.stopped):
                state = self._follower.state()
                if state["version"] != version:
                    version, told = state["version"], loop.time()
                    data = await asyncio.to_thread(self._shown, state)
                    yield f"event: state\nid: {version}\ndata: {json.dumps(data)}\n\n"
                    await asyncio.sleep(PAUSE)
                    continue
                if loop.time() - told > BEAT:
                    told = loop.time()
                    yield ": still here\n\n"
                await asyncio.sleep(WAIT)
        finally:
            self._listeners -= 1


def _name(url: str) -> str:
    """Of the store, without what an address may have in it."""
    return url.partition("?")[0].rpartition("@")[2] if "://" in url else Path(url).name


def _resident() -> int | None:
    """What the process holds now; None where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")
