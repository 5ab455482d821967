"""Texts that share known passages."""

from __future__ import annotations

import json
import random
from pathlib import Path

SYLLABLES = ["ka", "lo", "mi", "tu", "ren", "sol", "vat", "per", "nim", "dra", "qui", "bel"]


def prose(seed: int, words: int) -> str:
    """Sentences of eight words that nothing else has."""
    draw = random.Random(seed)
    made = ["".join(draw.choices(SYLLABLES, k=3)) for _ in range(words)]
    parts = [" ".join(made[i : i + 8]).capitalize() + "." for i in range(0, words, 8)]
    return " ".join(parts)


SHARED = prose(0, 40)


def documents_of(*texts: str, **more: list[str]) -> list[dict[str, str]]:
    extra = [dict(zip(more, row, strict=True)) for row in zip(*more.values(), strict=True)]
    rows = [{"id": f"d{i}", "text": text} for i, text in enumerate(texts)]
    return [{**row, **(extra[i] if extra else {})} for i, row in enumerate(rows)]


def jsonl(path: Path, documents: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in documents), "utf-8")
    return path
