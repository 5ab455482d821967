"""The service does what its description says, whatever it is sent."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import requests
import schemathesis
from schemathesis.checks import negative_data_rejection, positive_data_acceptance
from schemathesis.config import SchemathesisConfig

import neardup as nd
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.limits import Limits
from neardup.web.service.service import Service
from repeats import examples
from web.service.process import Served, served

NEW = ("--method", "shingles", "--set", "words=3", "--date", "day", "--within", "lang", "--texts")
# No schema tells whether the settings of a method fit each other. A stream answers a bad line in
# its place, with a status of its own.
UNTOLD = {
    "/v1/compare": [positive_data_acceptance],
    "/v1/group": [positive_data_acceptance],
    "/v1/documents/stream": [negative_data_rejection],
}
LIMITS = Limits(text=20_000, batch=20)


def description() -> dict[str, Any]:
    index = nd.Index.open("memory:", method="shingles", words=3, date="day", within="lang")
    with index:
        return make_app([Service(index, LIMITS)], Guard()).openapi()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store = tmp_path_factory.mktemp("openapi") / "x.db"
    limits = ("--max-text", str(LIMITS.text), "--max-batch", str(LIMITS.batch))
    with served(store, *limits, settings=NEW) as made:
        yield made


@pytest.fixture(scope="module")
def session() -> Iterator[requests.Session]:
    """``make fuzz`` makes more requests, and asks how many."""
    answers: Counter[int] = Counter()

    def count(answer: requests.Response, **_: Any) -> None:
        answers[answer.status_code] += 1

    with requests.Session() as made:
        made.hooks["response"].append(count)
        yield made
    if place := os.environ.get("NEARDUP_COUNTED"):
        Path(place).write_text(json.dumps({"inputs": answers.total(), "documents": 0}))


@schemathesis.serializer("application/x-ndjson")
def lines(_: object, value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


config = SchemathesisConfig.from_dict({"generation": {"mode": "all"}})
schema = schemathesis.openapi.from_dict(description(), config=config)


@schema.parametrize()
@examples(12)
def test_every_route_is_as_described(
    case: schemathesis.Case, service: Served, session: requests.Session
) -> None:
    untold = UNTOLD.get(case.path, [])
    case.call_and_validate(base_url=service.url, session=session, excluded_checks=untold)


def test_the_server_describes_itself_so(service: Served) -> None:
    with urlopen(f"{service.url}/openapi.json") as answer:
        assert json.load(answer) == description()
