"""Texts to serve: each unlike the others, and copies with a word changed."""

from __future__ import annotations

import random
from typing import Any


def text(number: int) -> str:
    rng = random.Random(number)
    return " ".join(f"w{rng.randrange(5000)}" for _ in range(60))


def document(number: int) -> dict[str, Any]:
    return {"id": f"d{number}", "text": text(number)}


def copy(number: int) -> dict[str, Any]:
    return {"id": f"c{number}", "text": text(number) + " changed"}
