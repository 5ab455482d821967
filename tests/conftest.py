"""What all tests share: how Hypothesis runs, what a test needs of the machine, and the real data.

A test that takes the fixture ``browser``, ``spark`` or ``data`` gets the marker of that name. By it
``make quick`` leaves the test out, and the test is skipped where the machine lacks what the marker
stands for. With ``CI`` set the test fails instead: nothing may go untested in silence there.
"""

from __future__ import annotations

import fcntl
import gc
import os
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from repeats import TIMES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("NEARDUP_DATA") or ROOT.parent / "shared" / "data")
# Files, functions of files and single cases that are marked so. Lists, because measurements make
# them.
LISTED = {
    name: frozenset((ROOT / "tests" / f"{name}.txt").read_text("utf-8").splitlines())
    for name in ("slow", "long")
}

# The same examples on every run: a failure here fails everywhere. `make quick` takes fewer of them,
# `make long` many more.
for profile, count in (("neardup", 30 * TIMES), ("quick", 10)):
    settings.register_profile(
        profile,
        derandomize=True,
        deadline=None,
        max_examples=count,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile("neardup")


def _no_tool(name: str) -> str | None:
    from tools import needs  # here: programs such as spark.cluster take DATA, and see tests/ alone

    return None if needs.TESTING[name]() else needs.NEEDS[name].sentence()


def _no_data() -> str | None:
    there = DATA.is_dir()
    return None if there else f"{DATA} is not there; NEARDUP_DATA names the folder of real data"


# The markers, which are the names of fixtures as well, and what is wrong on a machine without.
MISSING: dict[str, Callable[[], str | None]] = {
    "browser": lambda: _no_tool("chromium"),
    "spark": lambda: _no_tool("java"),
    "valgrind": lambda: _no_tool("valgrind"),
    "data": _no_data,
}
# About how many processor seconds a test with this marker takes.
DEAR = {"spark": 8, "browser": 5, "kills": 2, "valgrind": 2, "data": 0.5, "slow": 0.5}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported here stays to the end: nobody searches it for cycles, now or later."""
    gc.disable()
    with _one_compiles():
        collected = yield
    gc.freeze()
    gc.enable()
    return collected


@contextmanager
def _one_compiles() -> Iterator[None]:
    """In a new environment nothing is compiled to bytecode, and each process of the tests would
    compile the same thousands of modules: the first does it, and the others wait."""
    pandas = find_spec("pandas")  # which tests import
    compiled = pandas and Path(cache_from_source(str(pandas.origin))).exists()
    if compiled or sys.dont_write_bytecode:
        yield
        return
    with Path(__file__).open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            fcntl.flock(file, fcntl.LOCK_SH)
        yield


def pytest_itemcollected(item: pytest.Item) -> None:
    for name in MISSING.keys() & {*getattr(item, "fixturenames", ())}:
        item.add_marker(name)
    names = {item.nodeid, item.nodeid.partition("::")[0], item.nodeid.partition("[")[0]}
    for marker, listed in LISTED.items():
        if listed & names:
            item.add_marker(marker)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The dearest files first, so that at the end no process waits long for another."""
    dear: Counter[Path] = Counter()
    for item in items:
        dear[item.path] += max((DEAR.get(mark.name, 0) for mark in item.iter_markers()), default=0)
    items.sort(key=lambda item: -dear[item.path])


def pytest_runtest_setup(item: pytest.Item) -> None:
    for name, missing in MISSING.items():
        if item.get_closest_marker(name) and (sentence := missing()):
            if os.environ.get("CI"):
                pytest.fail(sentence, pytrace=False)
            pytest.skip(sentence)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests of pages."""
    from browser import started

    with started() as browser:
        yield browser


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data."""
    return DATA
