"""The flow page in a real browser: what another process adds is there a moment later."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from neardup.engines.index.index import Index
from neardup.web.app import make_app
from neardup.web.flow_pages import MOST_LISTENERS, FlowPart
from neardup.web.guard import Guard
from neardup.wording import visible
from web.serving import serving, visiting

TEXT = "The council met on Tuesday to discuss the harbour and the price of fish in the old town."
HOSTILE = "<img src=x onerror=alert(1)>\u202e"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index.open(tmp_path / "flow.db", method="shingles") as index:
        yield index


@pytest.fixture
def address(index: Index) -> Iterator[str]:
    with serving(make_app([FlowPart(index.store.url)], Guard())) as address:
        yield address


def test_what_comes_is_shown_as_it_comes(browser: Browser, index: Index, address: str) -> None:
    with visiting(browser, address) as found:
        page = found.go("/flow")
        expect(page.get_by_text("No document has arrived yet")).to_be_visible()
        index.add({"id": "a", "text": TEXT, "source": "post"})
        index.add({"id": HOSTILE, "text": TEXT, "source": HOSTILE})
        expect(page.locator("[data-figure=documents]")).to_have_text("2")
        expect(page.locator("[data-figure=share]")).to_have_text("50.0 %")
        expect(page.locator("#matches tr")).to_have_count(1)
        expect(page.locator("#matches")).to_contain_text("<img src=x")
        expect(page.locator("#sources tr")).to_have_count(2)
        expect(page.locator("#chart rect.aside")).to_have_count(1)
        page.get_by_role("button", name="Pause").click()
        index.add({"id": "c", "text": "Something else that nobody has said before in this town."})
        expect(page.locator("[data-figure=documents]")).to_have_text("2")
        page.get_by_role("button", name="Go on").click()
        expect(page.locator("[data-figure=documents]")).to_have_text("3")
        page.reload()  # as the server draws it
        expect(page.locator("#matches")).to_contain_text("⟨202E⟩")
        expect(page.locator("#sources tr")).to_have_count(3)


def test_scripts_make_the_same_characters_visible_as_the_server(
    browser: Browser, address: str
) -> None:
    points = [*range(0xD800), *range(0xE000, 0x110000, 7), *range(0x13000, 0x14000)]
    points += [*range(0x1BC00, 0x1BD00), *range(0x1D100, 0x1D200), *range(0xE0000, 0xE0100)]
    text = "".join(map(chr, points))
    with visiting(browser, address) as found:
        found.go("/flow.json")
        asked = "text => import('/static/common.js').then(m => m.visible(text))"
        assert found.page.evaluate(asked, text) == visible(text)


@pytest.mark.parametrize("dark", [False, True])
def test_a_telephone_shows_it_without_sideways_scrolling(
    browser: Browser, index: Index, address: str, dark: bool
) -> None:
    index.add({"id": "a" * 300, "text": TEXT, "source": "s" * 190})
    index.add({"id": "b" * 300, "text": TEXT, "source": "s" * 190})
    with visiting(browser, address, width=400, dark=dark) as found:
        found.go("/flow")
        expect(found.page.locator("#matches tr")).to_have_count(1)
        assert found.overflow() <= 0


def test_a_store_that_is_gone_is_told(browser: Browser, tmp_path: Path) -> None:
    app = make_app([FlowPart(str(tmp_path / "none.db"))], Guard())
    with serving(app) as address, visiting(browser, address) as found:
        found.go("/flow")
        expect(found.page.locator("#problem")).to_contain_text("There is no index")


def test_an_index_in_memory_is_followed_too() -> None:
    with Index.open("memory:", method="shingles") as index:
        index.add({"id": "a", "text": TEXT})
        with serving(make_app([FlowPart("memory:", lambda: index)], Guard())) as address:
            first = state(address, documents=1)
            assert first["memory"]["index"] > 0


def test_listeners_are_bounded_and_end_when_the_server_stops(index: Index) -> None:
    part = FlowPart(index.store.url)
    with serving(make_app([part], Guard())) as address:
        streams = [urllib.request.urlopen(f"{address}/flow/events") for _ in range(3)]
        assert all(stream.readline() == b"retry: 2000\n" for stream in streams)
        part._listeners = MOST_LISTENERS
        with pytest.raises(urllib.error.HTTPError, match="503") as refused:
            urllib.request.urlopen(f"{address}/flow/events")
        refused.value.close()
        rest = [threading.Thread(target=stream.read) for stream in streams]
        for thread in rest:
            thread.start()
    for thread, stream in zip(rest, streams, strict=True):
        thread.join()  # they have ended
        stream.close()


def state(address: str, documents: int) -> dict:  # type: ignore[type-arg]
    """From the events, as soon as there are so many documents."""
    with urllib.request.urlopen(f"{address}/flow/events") as stream:
        for line in stream:
            if line.startswith(b"data: "):
                found = json.loads(line[6:])
                if found["totals"]["documents"] == documents:
                    return found
    raise AssertionError("the events ended")
