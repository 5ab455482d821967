"""Login, page and logout in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neardup.client import Client
from neardup.web.access import make_token
from web.service.process import served
from web.service.texts import copy, document

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.mark.parametrize(("width", "dark"), [(1200, False), (400, True)])
def test_a_person_logs_in_reads_and_logs_out(
    browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    file = tmp_path / "tokens"
    token = make_token(file, "all", read_only=True)
    writer = make_token(file, "writer", read_only=False)
    faults: list[str] = []
    with served(tmp_path / "x.db", "--token-file", str(file)) as service:
        with Client(service.url, token=writer) as client:
            client.add_all([document(1), copy(1)])
        context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text))
        page.on("request", lambda one: faults.append(one.url) if service.url not in one.url else 0)
        page.goto(f"{service.url}/service")
        page.locator("#token:focus").wait_for()  # without a click
        page.keyboard.type(token)
        page.keyboard.press("Enter")
        page.wait_for_url("**/service")
        assert page.get_by_role("row", name="Documents 2").count() == 1
        assert "POST /v1/check" in page.content()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("document.cookie") == ""
        page.get_by_role("link", name="Log out").click()
        page.get_by_role("button", name="Log out").click()
        page.wait_for_url("**/login")
        page.goto(f"{service.url}/service")
        assert page.get_by_label("Token").is_visible()
        context.close()
    assert faults == []
