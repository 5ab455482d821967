"""Addresses of new indexes in stores of every kind; one PostgreSQL server for the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from online.postgres import running

NUMBERS = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with running() as address:
        yield address


NewUrl = Callable[[str], str]


@pytest.fixture(scope="session")
def new_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewUrl:
    """The address of a new index in a store of some kind; the server starts when it is needed."""

    def made(kind: str) -> str:
        if kind == "postgresql":
            return f"{request.getfixturevalue('postgres')}&index=test_{next(NUMBERS)}"
        return kind + ":" + ("" if kind == "memory" else f"{tmp_path_factory.mktemp('store')}/i.db")

    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def durable(request: pytest.FixtureRequest, new_url: NewUrl) -> str:
    """Of a new index in every kind of store that outlives a process."""
    return new_url(request.param)
