"""Pages and their twins say the same, escape everything, and fail with a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from neardup.errors import InputError
from neardup.web import pages as module
from neardup.web.app import Link, make_app
from neardup.web.doors import Door
from neardup.web.guard import Guard
from neardup.web.pages import Data, not_found

HOSTILE = "<script>alert(1)</script>\u202e"


class Shelf:
    """A part with one page."""

    def __init__(self) -> None:
        self.events: list[str] = []

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/shelf", "Shelf")]

    def doors(self) -> Sequence[Door]:
        return [Door("/shelf", self.shelf, template="problem.html")]

    def shelf(self, number: int = 0) -> Data:
        if number == 1:
            raise not_found("There is no shelf 1.", hint="count from 2.")
        if number == 2:
            raise InputError("The shelf is broken.")
        if number == 3:
            raise RuntimeError("secret")
        return {"title": HOSTILE, "message": f"shelf {number}", "hint": None}

    def open(self) -> None:
        self.events.append("open")

    def close(self) -> None:
        self.events.append("close")


@pytest.fixture
def client() -> TestClient:
    app = make_app([Shelf()], Guard())
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


def test_a_page_and_its_twin_say_the_same(client: TestClient) -> None:
    assert client.get("/shelf.json?number=7").json()["message"] == "shelf 7"
    page = client.get("/shelf?number=7")
    assert "shelf 7" in page.text
    assert "<script>alert" not in page.text
    assert "⟨202E⟩" in page.text


def test_the_front_leads_to_the_first_page(client: TestClient) -> None:
    assert client.get("/").url.path == "/shelf"


@pytest.mark.parametrize(
    ("path", "status", "sentence"),
    [
        ("/shelf?number=1", 404, "There is no shelf 1. Hint: count from 2."),
        ("/shelf?number=2", 422, "The shelf is broken."),
        ("/shelf?number=3", 500, "Unexpected RuntimeError."),
        ("/shelf?number=x", 422, "The request is not what was expected: query.number:"),
        ("/nowhere", 404, "There is nothing at /nowhere."),
    ],
)
def test_errors_are_sentences(client: TestClient, path: str, status: int, sentence: str) -> None:
    for accept, media in (("*/*", "application/problem+json"), ("text/html", "text/html")):
        answer = client.get(path, headers={"accept": accept})
        assert answer.status_code == status
        assert answer.headers["content-type"].startswith(media)
        assert "secret" not in answer.text
        if accept == "*/*":
            assert answer.json()["detail"].startswith(sentence)


def test_parts_are_opened_and_closed() -> None:
    shelf = Shelf()
    with TestClient(make_app([shelf], Guard()), base_url="http://localhost"):
        assert shelf.events == ["open"]
    assert shelf.events == ["open", "close"]


def test_no_template_turns_escaping_off_or_has_a_script_or_style_of_its_own() -> None:
    for path in sorted(Path(module.TEMPLATES).rglob("*.html")):
        text = path.read_text("utf-8")
        for forbidden in ("|safe", "| safe", "autoescape", " style=", "<style", " onclick", " on="):
            assert forbidden not in text, f"{path.name}: {forbidden}"
        assert "<script>" not in text, path.name
