"""Parts of judging on a port of their own, and a page that may do nothing wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

from neardup.web.app import Part, make_app
from neardup.web.guard import Guard
from web import serving

EXAMPLE = Path(__file__).parents[2] / "examples" / "news.jsonl"


@contextmanager
def served(parts: Sequence[Part]) -> Iterator[str]:
    with serving.serving(make_app(parts, Guard())) as address:
        yield address


@contextmanager
def visiting(
    browser: Browser, address: str, *, width: int = 1200, dark: bool = False
) -> Iterator[Page]:
    with serving.visiting(browser, address, width=width, dark=dark) as found:
        yield found.page


def fits(page: Page) -> bool:
    """Whether the page needs no sideways scrolling, once its style is there."""
    page.wait_for_load_state()
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
