"""Strangers are refused: other names of this server, other origins, and browsers are told so."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse

from neardup.web.guard import HEADERS, Guard


def client(guard: Guard) -> TestClient:
    return TestClient(guard.middleware(PlainTextResponse("in")), base_url="http://localhost:8765")


def test_every_answer_has_the_headers() -> None:
    for name in ("localhost", "elsewhere.example"):
        answer = client(Guard()).get("/", headers={"host": name})
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "", "[", "127.0.0.2"])
def test_other_names_are_refused(host: str) -> None:
    assert client(Guard()).get("/", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "box:1"])
def test_own_names_are_let_in(host: str) -> None:
    assert client(Guard.of(["Box"])).get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": "http://localhost:8765"}, 200),
        ({"origin": "http://localhost:8765", "sec-fetch-site": "same-origin"}, 200),
        ({"origin": "http://localhost:9999"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
    ],
)
def test_only_pages_of_this_server_may_change_something(
    headers: dict[str, str], status: int
) -> None:
    assert client(Guard()).post("/", headers=headers).status_code == status
    assert client(Guard()).get("/", headers=headers).status_code == 200
