"""A real browser for the tests of pages: the system's Chromium, without a network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tools.needs import NEEDS, chromium


@contextmanager
def started() -> Iterator[Browser]:
    path = chromium()
    assert path, NEEDS["chromium"].sentence()
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


@dataclass
class Opened:
    """A page of a file, and what it did that a page must not do."""

    page: Page
    faults: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = 1400, dark: bool = False
) -> Iterator[Opened]:
    """Everything but the file itself is refused, and is a fault."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
    )
    found = Opened(context.new_page())
    address = file.resolve().as_uri()

    def request(route: object) -> None:
        url = route.request.url  # type: ignore[attr-defined]
        if url == address:
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
    found.page.goto(address)
    yield found
    context.close()
