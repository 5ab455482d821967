"""Killed at any instant, an index has every event that was answered, and nothing in part."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.index import kills

pytestmark = pytest.mark.kills


@pytest.mark.parametrize("seed", [100, 200])
def test_killed_between_two_statements(tmp_path: Path, seed: int) -> None:
    assert kills.run(20, seed, tmp_path) > 20


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """The long run is ``make crash``."""
    assert kills.run(5, 400, tmp_path, seconds=0.1) >= 0
