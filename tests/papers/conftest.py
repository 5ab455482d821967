"""A small collection with everything an experiment may ask for."""

from __future__ import annotations

import random
from typing import Any

import pytest

WORDS = ("river", "stone", "lamp", "garden", "winter", "letter", "music", "bridge", "harbour")


def text(seed: int, length: int = 60) -> str:
    draw = random.Random(seed)
    return " ".join(
        f"the {draw.choice(WORDS)}{draw.randrange(40)} of a {draw.choice(WORDS)}"
        for _ in range(length)
    )


def edited(original: str, every: int) -> str:
    words = original.split()
    return " ".join("other" if i % every == 7 else word for i, word in enumerate(words))


@pytest.fixture(scope="session")
def documents() -> list[dict[str, Any]]:
    """Twelve groups of an original, an equal one, one with other case and two edited ones; and
    twelve documents that are alone."""
    rows = []
    for group in range(12):
        original = text(group)
        versions = (original, original, original.upper(), edited(original, 60), edited(original, 9))
        for i, version in enumerate(versions):
            row = {"id": f"{group}-{i}", "text": version, "group": f"g{group}"}
            rows.append(
                {**row, "site": f"s{(group + i) % 3}", "day": f"2003-11-{1 + group + i:02}"}
            )
    for i in range(12):
        alone = {"id": f"alone-{i}", "text": text(100 + i), "group": f"alone{i}"}
        rows.append({**alone, "site": "s0", "day": f"2003-10-{10 + i}"})
    return rows
