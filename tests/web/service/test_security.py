"""Strangers and their documents: who may ask, how much, and what a hostile request comes to."""

from __future__ import annotations

import json
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from neardup.errors import InputError, UsageError
from neardup.web.access import COOKIE, LASTS, Access, Tokens, make_token, read_tokens, remove_token
from neardup.web.guard import HEADERS, Guard
from neardup.web.limits import Limits, Rate
from web.service.process import served
from web.service.serving import Asked, asked
from web.service.texts import document, text


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(tmp_path: Path) -> tuple[Path, str, str]:
    """The file, one that may write, one that may read."""
    file = tmp_path / "tokens"
    both = make_token(file, "all", read_only=False), make_token(file, "reader", read_only=True)
    return file, *both


@pytest.fixture
def locked(tokens: tuple[Path, str, str], clock: Clock) -> Iterator[Asked]:
    with asked(Guard(access=Access(Tokens(tokens[0]), clock=clock))) as made:
        yield made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


CLOSE = b"Connection: close\r\n"
HTML = {"accept": "text/html"}


def test_every_answer_has_the_headers(locked: Asked) -> None:
    """Pages, data, errors, files, and what is refused before it comes to a route."""
    paths = {door.path for door in locked.service.doors()}
    paths |= {"/", "/login", "/look.css", "/static/style.css", "/nothing", "/openapi.json"}
    with asked() as free:
        for client in (locked.client, free.client):
            for path in paths:
                for method in ("GET", "POST", "OPTIONS"):
                    for more in ({}, HTML, {"host": "evil.example"}):
                        found = client.request(method, path, headers=more)
                        assert (
                            HEADERS.items()
                            <= {name: found.headers.get(name) for name in HEADERS}.items()
                        ), (method, path, more)


def test_an_unexpected_error_has_them_too_and_tells_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    with asked() as service:
        monkeypatch.setattr(service.index, "check", broken)
        monkeypatch.setattr(service.index, "stats", broken)
        for found in (service.post("/v1/check", document(1)), service.client.get("/v1/stats")):
            assert found.status_code == 500
            assert "secret" not in found.text
            assert HEADERS.keys() <= {name.title() for name in found.headers} | HEADERS.keys()
            assert found.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        monkeypatch.undo()
    assert "secret" in caplog.text  # whoever runs the server is told


def test_without_a_token_no_one_is_let_in(locked: Asked) -> None:
    for path in {door.path for door in locked.service.doors()}:
        found = locked.client.get(path)
        is_open = path in ("/v1/health", "/v1/ready")
        assert (found.status_code == 200) == is_open, path
        assert is_open or found.headers["www-authenticate"] == "Bearer"
    wrong = ("", "neardup_", "x" * 10_000, "\u00e9")
    for token in wrong:
        headers = {"Authorization": f"Bearer {token}".encode()}
        assert locked.client.get("/v1/stats", headers=headers).status_code == 401
    assert locked.post("/v1/documents", document(1)).status_code == 401
    assert len(locked.index) == 0


def test_what_a_token_may(locked: Asked, tokens: tuple[Path, str, str]) -> None:
    _, all_, reader = tokens
    post = locked.client.post
    assert post("/v1/documents", json=document(1), headers=bearer(all_)).status_code == 200
    for method, path in (
        ("POST", "/v1/documents"),
        ("POST", "/v1/documents/batch"),
        ("POST", "/v1/documents/stream"),
        ("PUT", "/v1/documents"),
        ("DELETE", "/v1/documents?id=d1"),
        ("POST", "/v1/anything/else"),
    ):
        found = locked.client.request(method, path, json=document(2), headers=bearer(reader))
        assert found.status_code == 403, path
        assert found.json()["detail"].startswith("This token may only read.")
    assert len(locked.index) == 1
    assert post("/v1/check", json=document(1), headers=bearer(reader)).status_code == 200
    both = {"a": "x", "b": "y"}
    assert post("/v1/compare", json=both, headers=bearer(reader)).status_code == 200
    assert post("/v1/group", json={"results": []}, headers=bearer(reader)).status_code == 200
    assert locked.client.get("/metrics", headers=bearer(reader)).status_code == 200


def test_a_server_that_only_reads() -> None:
    with asked(Guard(read_only=True)) as service:
        refused = service.post("/v1/documents", document(1))
        assert refused.status_code == 403
        assert "--read-only" in refused.json()["detail"]
        assert service.post("/v1/check", document(1)).status_code == 200


def test_a_token_that_is_removed_is_refused_at_once(
    locked: Asked, tokens: tuple[Path, str, str]
) -> None:
    file, all_, reader = tokens
    cookie = session_of(locked, all_)
    assert locked.client.get("/service", headers={**HTML, **cookie}).status_code == 200
    remove_token(file, "all")
    assert locked.client.get("/v1/stats", headers=bearer(all_)).status_code == 401
    assert locked.client.get("/service", headers={**HTML, **cookie}).status_code == 303
    assert locked.client.get("/v1/stats", headers=bearer(reader)).status_code == 200
    file.unlink()
    assert locked.client.get("/v1/stats", headers=bearer(reader)).status_code == 401


def test_the_file_has_no_token_in_it_and_is_its_owners(tokens: tuple[Path, str, str]) -> None:
    file, *made = tokens
    written = file.read_text("utf-8")
    assert not any(token in written or token[8:] in written for token in made)
    assert len({*made}) == 2
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(UsageError, match="already has a token 'all'"):
        make_token(file, "all", read_only=True)
    with pytest.raises(UsageError, match="has no token 'nobody'"):
        remove_token(file, "nobody")
    for broken in ("{", "[]", '{"name": "x"}', "\x00"):
        file.write_text(broken + "\n", "utf-8")
        with pytest.raises(InputError, match="line 1, is no token"):
            read_tokens(file)


def log_in(locked: Asked, token: str, next: str = "/service") -> Any:
    form = {"token": token, "next": next}
    return locked.client.post("/login", data=form, headers=HTML)


def session_of(locked: Asked, token: str) -> dict[str, str]:
    value = log_in(locked, token).cookies[COOKIE]
    locked.client.cookies.clear()  # the tests say themselves which one is sent
    return {"Cookie": f"{COOKIE}={value}"}


def test_a_browser_logs_in_and_out(
    locked: Asked, tokens: tuple[Path, str, str], clock: Clock
) -> None:
    led = locked.client.get("/service?x=1", headers=HTML)
    assert (led.status_code, led.headers["location"]) == (303, "/login?next=%2Fservice%3Fx%3D1")
    page = locked.client.get(led.headers["location"], headers=HTML)
    assert 'value="/service?x=1"' in page.text
    found = log_in(locked, tokens[1])
    assert (found.status_code, found.headers["location"]) == (303, "/service")
    said = found.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/", f"Max-Age={LASTS}"} <= {*said.split("; ")}
    assert tokens[1] not in said
    cookie = session_of(locked, tokens[1])
    assert locked.client.get("/service", headers={**HTML, **cookie}).status_code == 200
    clock.now += LASTS
    assert locked.client.get("/service", headers={**HTML, **cookie}).status_code == 303
    cookie = session_of(locked, tokens[1])
    locked.client.post("/logout", headers=cookie)
    assert locked.client.get("/service", headers={**HTML, **cookie}).status_code == 303


def test_a_session_of_a_reader_may_only_read(locked: Asked, tokens: tuple[Path, str, str]) -> None:
    cookie = session_of(locked, tokens[2])
    sent = locked.client.post("/v1/documents", json=document(1), headers=cookie)
    assert sent.status_code == 403
    assert locked.client.post("/v1/check", json=document(1), headers=cookie).status_code == 200


@pytest.mark.parametrize(
    "next",
    ["//evil.example", "https://evil.example", "/\\evil.example", "/\n/evil", "javascript:1"],
)
def test_a_login_leads_nowhere_else(
    locked: Asked, tokens: tuple[Path, str, str], next: str
) -> None:
    assert log_in(locked, tokens[1], next).headers["location"] == "/"
    page = locked.client.get("/login", params={"next": next}, headers=HTML)
    assert 'name="next" value="/"' in page.text


def test_logins_are_few(locked: Asked, tokens: tuple[Path, str, str], clock: Clock) -> None:
    for _ in range(10):
        wrong = log_in(locked, "wrong <script>")
        assert wrong.status_code == 401
        assert "<script>" not in wrong.text
    refused = log_in(locked, tokens[1])
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    clock.now += 6
    assert log_in(locked, tokens[1]).status_code == 303


def test_a_page_of_another_origin_cannot_log_in_or_change(
    locked: Asked, tokens: tuple[Path, str, str]
) -> None:
    elsewhere = {"origin": "https://evil.example"}
    for path in ("/login", "/logout", "/v1/check", "/v1/documents/stream"):
        sent = locked.client.post(path, headers={**elsewhere, **bearer(tokens[1])})
        assert sent.status_code == 403, path


def test_a_client_may_ask_only_so_often(clock: Clock) -> None:
    with asked(Guard(rate=Rate(2, burst=3, clock=clock))) as service:
        status = [service.client.get("/v1/health").status_code for _ in range(4)]
        assert status == [200, 200, 200, 429]
        clock.now += 0.5
        assert service.client.get("/v1/health").status_code == 200
        refused = service.post("/v1/check", document(1))
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")


def test_tokens_are_counted_apart_and_guesses_too(
    tokens: tuple[Path, str, str], clock: Clock
) -> None:
    file, *both = tokens
    guard = Guard(access=Access(Tokens(file)), rate=Rate(1, burst=2, clock=clock))
    with asked(guard) as service:
        for token in (*both, "wrong"):
            found = [
                service.client.get("/v1/stats", headers=bearer(token)).status_code for _ in range(3)
            ]
            assert found == [401 if token == "wrong" else 200] * 2 + [429]


def test_a_rate_remembers_so_many_clients() -> None:
    from neardup.web import limits

    made = Rate(1, burst=1)
    for number in range(limits.CLIENTS + 10):
        assert made.wait(str(number)) == 0
    assert len(made._left) == limits.CLIENTS


HOSTILE = [
    (b"", 400),
    (b"{", 400),
    (b"\xff\xfe{}", 400),
    (b'{"text": "\xff"}', 400),
    (b"[" * 200_000, 400),
    (b'{"a":' * 200_000, 400),
    (b'{"text": NaN}', 400),
    (b'{"text": ' + b"9" * 10_000 + b"}", 400),
    (b"[]", 422),
    (b"null", 422),
    (b'{"text": null}', 422),
    (b'{"text": 5}', 422),
    (b'{"text": "x", "id": 5}', 422),
    (b'{"text": "x", "id": ""}', 422),
    (json.dumps({"text": "x", "id": "i" * 1025}).encode(), 422),
    (json.dumps({"text": "x" * 5001, "id": "i"}).encode(), 422),
    (b'{"text": "\\ud800", "id": "x"}', 422),
]


@pytest.mark.parametrize(("body", "status"), HOSTILE)
def test_hostile_bodies_are_told_what_is_wrong(body: bytes, status: int) -> None:
    with asked(limits=Limits(text=5000)) as service:
        for path in ("/v1/check", "/v1/documents"):
            found = service.client.post(path, content=body)
            assert found.status_code == status, found.text
            assert found.json()["detail"]
        assert service.client.put("/v1/documents", content=body).status_code == status
        assert len(service.index) == 0
        assert service.post("/v1/documents", document(1)).status_code == 200


@pytest.mark.parametrize(
    "id", ["<script>alert(1)</script>", "a\x00b", "\u202e", "../../etc/passwd", "é" * 1024, "?&=#%"]
)
def test_any_id_is_an_id(id: str, tmp_path: Path) -> None:
    with asked(url=str(tmp_path / "x.db")) as service:
        assert service.post("/v1/documents", {"id": id, "text": text(1)}).json()["id"] == id
        shown = service.client.get("/v1/documents", params={"id": id})
        assert shown.json()["id"] == id
        assert service.client.delete("/v1/documents", params={"id": id}).json()["id"] == id


def test_bodies_are_not_endless() -> None:
    with asked(limits=Limits(body=3000, bodies=5000)) as service:
        large = json.dumps({"id": "x", "text": "x " * 2000}).encode()
        for body in (large, iter([large[:1000], large[1000:]])):
            found = service.client.post("/v1/documents", content=body)
            assert found.status_code == 413
        assert service.post("/v1/documents", document(1)).status_code == 200


def test_static_files_are_those_of_the_package() -> None:
    with asked() as service:
        for path in (
            "/static/../guard.py",
            "/static/..%2fguard.py",
            "/static/%2e%2e/%2e%2e/errors.py",
            "/static//etc/passwd",
            "/static/style.css%00",
        ):
            assert service.client.get(path).status_code in (400, 404), path


def raw(url: str, data: bytes) -> bytes:
    """What a server answers before it closes the connection."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=60) as connection:
        found = b""
        with suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
            while more := connection.recv(65536):
                found += more
    return found


def test_slow_and_lying_clients(tmp_path: Path) -> None:
    """A real server: it does not wait for ever, and closes what cannot go on."""
    with served(tmp_path / "x.db", "--timeout", "0.3", "--max-body", "10000") as service:
        head = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\n"
        for rest, status in (
            (b"Content-Length: 100\r\n\r\n{", b"408"),
            (b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\r\n", b"408"),
            (b"Content-Length: 99999\r\n\r\n", b"413"),
            (b"Transfer-Encoding: chunked\r\n\r\nffff\r\n" + b"x" * 0xFFFF + b"\r\n", b"413"),
            (b"Content-Length: -5\r\n\r\n", b"400"),
        ):
            assert raw(service.url, head + rest).split(b" ", 2)[1] == status, rest[:40]
        stream = (
            b"POST /v1/documents/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
        )
        assert b'"status":408' in raw(service.url, stream)


def test_no_secret_in_the_log(tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    token = make_token(file, "all", read_only=False)
    with served(tmp_path / "x.db", "--token-file", str(file), "--verbose") as service:
        bad = "neardup_wrong"
        for one in (token, bad):
            body = f"token={one}".encode()
            head = f"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
            raw(service.url, head.encode() + CLOSE + b"\r\n" + body)
            asked_ = f"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {one}\r\n"
            raw(service.url, asked_.encode() + CLOSE + b"\r\n")
        assert service.stop() == 0
    said = "".join(service.log)
    assert token not in said
    assert bad not in said
    assert not re.search(COOKIE, said)
