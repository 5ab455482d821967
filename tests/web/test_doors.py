"""A URL is declared once, and what its door says is what the guard does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from neardup.web import access, guard, limits, pages
from neardup.web.access import Access, Tokens, make_token
from neardup.web.app import Login, make_app
from neardup.web.doors import Door
from neardup.web.guard import Guard
from neardup.web.review.review_pages import review_parts


class Part:
    links = ()

    def doors(self) -> list[Door]:
        return [
            Door("/open", self.answer, everyone=True),
            Door("/asked", self.answer, "POST", reads=True),
            Door("/changed", self.answer, "POST"),
            Door("/changed", self.answer),
        ]

    def answer(self) -> dict[str, bool]:
        return {"in": True}

    def open(self) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("method", "path", "nobody", "reader", "writer"),
    [
        ("GET", "/open", 200, 200, 200),
        ("HEAD", "/open", 405, 405, 405),
        ("POST", "/open", 401, 403, 405),
        ("POST", "/asked", 401, 200, 200),
        ("GET", "/asked", 401, 405, 405),
        ("POST", "/changed", 401, 403, 200),
        ("GET", "/changed", 401, 200, 200),
        ("POST", "/nowhere", 401, 403, 404),
        ("GET", "/nowhere", 401, 404, 404),
        ("GET", "/static/style.css", 200, 200, 200),
        ("GET", "/look.css", 200, 200, 200),
        ("GET", "/login", 200, 200, 200),
    ],
)
def test_who_may(
    method: str, path: str, nobody: int, reader: int, writer: int, tmp_path: Path
) -> None:
    file = tmp_path / "tokens"
    tokens = [make_token(file, str(read), read_only=read) for read in (True, False)]
    entry = Access(Tokens(file))
    app = make_app([Part(), Login(entry)], Guard(access=entry))
    client = TestClient(app, base_url="http://localhost", follow_redirects=False)
    headers = [{}, *({"Authorization": f"Bearer {token}"} for token in tokens)]
    found = [client.request(method, path, headers=one).status_code for one in headers]
    assert found == [nobody, reader, writer]


def test_a_url_has_one_door(run_folder: Path) -> None:
    doors = [door for part in review_parts(str(run_folder)) for door in part.doors()]
    assert max(Counter((door.method, door.path) for door in doors).values()) == 1


@pytest.mark.parametrize("module", [guard, access, limits, pages])
def test_generic_code_knows_no_path_of_the_service(module: object) -> None:
    source = Path(str(module.__file__)).read_text("utf-8")  # type: ignore[attr-defined]
    assert "/v1" not in source
