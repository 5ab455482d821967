"""What ``make fuzz`` found once, and small inputs of every kind with seeded changes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fuzz import readers

FOUND = sorted((Path(__file__).parent / "corpus" / "readers").iterdir())


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_inputs_that_failed_once(path: Path) -> None:
    readers.one_input(path.read_bytes())


@pytest.mark.parametrize("target", range(len(readers.TARGETS)))
def test_every_target_takes_its_seed_and_changes_of_it(target: int, tmp_path: Path) -> None:
    readers.seeds(tmp_path)
    seed = (tmp_path / f"seed-{target:02}").read_bytes()
    before = readers.counted["documents"]
    readers.one_input(seed)
    assert readers.counted["documents"] > before or readers.TARGETS[target] in readers.NO_DOCUMENTS
    rng = random.Random(target)
    for _ in range(10):
        readers.one_input(readers.varied(seed, rng))
