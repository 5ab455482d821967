"""What all tests share: how Hypothesis runs, and where the real data is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("NEARDUP_DATA") or ROOT.parent / "shared" / "data")

# The same examples on every run: a failure here fails everywhere.
settings.register_profile(
    "neardup",
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("neardup")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One for all tests of pages."""
    from browser import started

    with started() as browser:
        yield browser


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data; where CI is set it must be there."""
    if not DATA.is_dir():
        message = f"{DATA} is not there; NEARDUP_DATA names the folder of real data"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return DATA
