"""The service inside this process, asked without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from fastapi.testclient import TestClient

import neardup as nd
from neardup.web.app import Login, make_app
from neardup.web.guard import Guard
from neardup.web.limits import Limits
from neardup.web.service.service import Service


@dataclass
class Asked:
    client: TestClient
    index: nd.Index
    service: Service

    def post(self, path: str, body: Any) -> Any:
        return self.client.post(path, json=body)


@contextmanager
def asked(
    guard: Guard | None = None,
    *,
    url: str = "memory:",
    limits: Limits | None = None,
    **settings: Any,
) -> Iterator[Asked]:
    guard = guard or Guard()
    given = {"method": "shingles", "words": 3, "threshold": 0.7, **settings}
    service = Service(nd.Index.open(url, **given), limits or Limits())
    parts = [service, *([Login(guard.access)] if guard.access else [])]
    app = make_app(parts, service.behind(guard))
    with TestClient(app, base_url="http://localhost", follow_redirects=False) as client:
        yield Asked(client, service.index, service)
