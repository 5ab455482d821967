"""What a notebook shows is one block with its own style, and hostile ids are only text in it."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

import neardup as nd

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202e"
TEXT = "The old ferry pier at Marrow Harbour will be rebuilt in stone after the council voted. "
DOCUMENTS = [
    {"id": f"{number}{HOSTILE}", "text": f"{TEXT * 3}{HOSTILE} {number}", "story": HOSTILE}
    for number in range(14)
]


def result() -> Any:
    return nd.dedup(DOCUMENTS, method="shingles", threshold=0.5)


SHOWN: dict[str, Callable[[], Any]] = {
    "Result": result,
    "Explanation": lambda: result().explain(DOCUMENTS[1]["id"]),
    "Grouped": lambda: nd.group(DOCUMENTS, method="shingles", threshold=0.5),
    "Evaluation": lambda: nd.evaluate(DOCUMENTS, group="story", method="shingles", sweep=True),
}


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.depth, self.blocks = 0, 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.blocks += self.depth == 0
        self.depth += 1
        self.tags.add(tag)
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self.depth -= 1


@pytest.mark.parametrize("kind", SHOWN)
def test_a_notebook_shows_it_safely(kind: str) -> None:
    shown = SHOWN[kind]()
    assert type(shown).__name__ == kind
    page = shown._repr_html_()
    found = Tags(page)
    assert (found.depth, found.blocks) == (0, 1)
    assert not {"script", "img", "html", "body"} & found.tags
    assert "\u202e" not in page
    assert len(page) < 60_000


def test_what_is_left_out_is_counted() -> None:
    assert "… and 3 more" in result()._repr_html_()


def test_nothing_found_is_a_sentence() -> None:
    assert "<table" not in nd.dedup(["one", "two"])._repr_html_()


@pytest.mark.parametrize("kind", SHOWN)
def test_its_style_stays_inside(kind: str) -> None:
    style = SHOWN[kind]()._repr_html_().partition("<style>")[2].partition("</style>")[0]
    rules = [line for line in style.splitlines() if line.endswith("}") and " { " in line]
    assert all(line.strip().startswith((".nd-", "/*", "@media")) for line in rules)
