"""An application of judging on a port of its own, and a browser page that may do nothing wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, Page

from neardup.web.app import Part, make_app
from neardup.web.guard import Guard
from neardup.web.running import address_of, bind

EXAMPLE = Path(__file__).parents[2] / "examples" / "news.jsonl"


@contextmanager
def served(parts: Sequence[Part]) -> Iterator[str]:
    """The address, until the block ends."""
    bound = bind("127.0.0.1", 0)
    config = uvicorn.Config(make_app(parts, Guard()), log_level="warning", access_log=False)
    server = uvicorn.Server(config)
    ready = threading.Event()
    started = server.startup

    async def startup(sockets: Any = None) -> None:
        await started(sockets)
        ready.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        assert ready.wait(30)
        yield address_of(bound)
    finally:
        server.should_exit = True
        thread.join()
        bound.close()


@contextmanager
def visiting(
    browser: Browser, address: str, *, width: int = 1200, dark: bool = False
) -> Iterator[Page]:
    """A page whose faults fail the test: errors, dialogs, requests to elsewhere."""
    faults: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme="dark" if dark else "light",
        base_url=address,
    )
    context.set_default_timeout(10_000)
    page = context.new_page()

    def refuse_others(route: Any) -> None:
        if route.request.url.startswith(address + "/"):
            route.continue_()
        else:
            faults.append(f"request {route.request.url}")
            route.abort()

    context.route("**/*", refuse_others)
    page.on("console", lambda said: faults.append(f"console {said.text}"))
    page.on("pageerror", lambda error: faults.append(f"error {error}"))
    page.on("dialog", lambda one: (faults.append(f"dialog {one.message}"), one.dismiss()))
    yield page
    context.close()
    assert not faults, faults


def fits(page: Page) -> bool:
    """Whether the page needs no sideways scrolling."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
