"""An application of judging on a port of its own, and a browser page that may do nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect

from neardup.web.app import Part, make_app
from neardup.web.guard import Guard
from web.serving import serving

PATIENCE = 60_000  # milliseconds: a busy machine is no fault of a page
expect.set_options(timeout=PATIENCE)
EXAMPLE = Path(__file__).parents[2] / "examples" / "news.jsonl"


@contextmanager
def served(parts: Sequence[Part]) -> Iterator[str]:
    """The address, until the block ends."""
    with serving(make_app(parts, Guard())) as address:
        yield address


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
    context.set_default_timeout(PATIENCE)
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
    """Whether the page needs no sideways scrolling, once its style is there."""
    page.wait_for_load_state()
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
