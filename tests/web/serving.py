"""A server of an application in this process, and pages of it in a real browser.

Whatever a page must not do is a fault: a request elsewhere, a dialog, an error, a word on the
console.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from fastapi import FastAPI
from playwright.sync_api import Browser, Page

from neardup.web.running import address_of, bind


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """The address of the server while it runs."""
    bound = bind("127.0.0.1", 0)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    ready = threading.Event()
    started = server.startup

    async def startup(sockets: list[object] | None = None) -> None:
        await started(sockets)  # type: ignore[arg-type]
        ready.set()

    server.startup = startup  # type: ignore[method-assign, assignment]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        assert ready.wait(30), "the server did not start"
        yield address_of(bound)
    finally:
        app.state.stopping.set()
        server.should_exit = True
        thread.join()
        bound.close()


@dataclass
class Opened:
    page: Page
    faults: list[str] = field(default_factory=list)

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        return int(
            self.page.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
        )


@contextmanager
def opened(
    browser: Browser, address: str, *, width: int = 1400, dark: bool = False
) -> Iterator[Opened]:
    """An empty page that may talk to ``address`` only. Faults are looked at when it is closed."""
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
    )
    found = Opened(context.new_page())

    def request(route: object) -> None:
        url = route.request.url  # type: ignore[attr-defined]
        if url.startswith(f"{address}/"):
            route.continue_()  # type: ignore[attr-defined]
        else:
            found.faults.append(f"request {url}")
            route.abort()  # type: ignore[attr-defined]

    def dialog(one: object) -> None:
        found.faults.append(f"dialog {one.message}")  # type: ignore[attr-defined]
        one.dismiss()  # type: ignore[attr-defined]

    context.route("**/*", request)
    found.page.on("dialog", dialog)
    found.page.on("console", lambda said: found.faults.append(f"console {said.text}"))
    found.page.on("pageerror", lambda error: found.faults.append(f"error {error}"))
    try:
        yield found
    finally:
        context.close()
    assert not found.faults
