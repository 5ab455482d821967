"""Addresses of new indexes in stores of every kind; one PostgreSQL server for the session.

Files are in memory where the system has a folder for that: processes are killed here, but no test
takes the machine's power away, so none has to wait for the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from engines.index.postgres import running

NUMBERS = count()
MEMORY, ROOM = Path("/dev/shm"), 1 << 30


@pytest.fixture(scope="session")
def quick() -> Iterator[Path]:
    there = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(
        prefix="neardup-", dir=MEMORY if there else None, ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path(quick: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=quick))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with running() as address:
        yield address


NewUrl = Callable[[str], str]


@pytest.fixture(scope="session")
def new_url(request: pytest.FixtureRequest, quick: Path) -> NewUrl:
    """The address of a new index in a store of some kind; the server starts when it is needed."""

    def made(kind: str) -> str:
        if kind == "postgresql":
            return f"{request.getfixturevalue('postgres')}&index=test_{next(NUMBERS)}"
        return kind + ":" + ("" if kind == "memory" else f"{tempfile.mkdtemp(dir=quick)}/i.db")

    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def durable(request: pytest.FixtureRequest, new_url: NewUrl) -> str:
    """Of a new index in every kind of store that outlives a process."""
    return new_url(request.param)
