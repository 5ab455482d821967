"""An application on a real port of this machine, and a page of a browser that must behave."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page

from neardup.web.server import address_of, bind


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """Its address, once it answers; stopped and closed at the end."""
    bound = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    up = threading.Event()
    startup = server.startup

    async def started(sockets: Any = None) -> None:
        await startup(sockets)
        up.set()

    server.startup = started  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, args=([bound],), daemon=True)
    thread.start()
    try:
        assert up.wait(60), "the server did not start"
        yield address_of(bound)
    finally:
        app.state.stopping.set()
        server.should_exit = True
        thread.join(60)
        bound.close()


@dataclass
class Visited:
    """A page of a server, and what it did that no page may do."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.address + path)
        return self.page

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))

    def check(self) -> None:
        found, self.faults = self.faults, []
        assert found == []


@contextmanager
def visiting(
    browser: Browser, address: str, *, width: int = 1280, dark: bool = False
) -> Iterator[Visited]:
    """Requests to other origins are refused, and are faults; so are dialogs and errors."""
    context = browser.new_context(
        viewport={"width": width, "height": 850},
        color_scheme="dark" if dark else "light",
        base_url=address,
    )
    found = Visited(context.new_page(), address)

    def request(route: Any) -> None:
        if route.request.url.startswith(address + "/"):
            route.continue_()
        else:
            found.faults.append(f"request {route.request.url}")
            route.abort()

    def dialog(one: Any) -> None:
        found.faults.append(f"dialog {one.message}")
        one.dismiss()

    context.route("**/*", request)
    context.set_default_timeout(10_000)
    found.page.on("dialog", dialog)
    found.page.on("console", lambda said: found.faults.append(f"console {said.text}"))
    found.page.on("pageerror", lambda error: found.faults.append(f"error {error}"))
    try:
        yield found
        found.check()
    finally:
        context.close()
