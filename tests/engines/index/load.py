"""Histories that can be led again: what writers do in processes of their own, to be killed."""

from __future__ import annotations

from collections.abc import Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

import numpy as np

import neardup as nd

START = 1_700_000_000
SETTINGS: dict[str, Any] = {
    "method": "shingles",
    "words": 2,
    "threshold": 0.5,
    "min_words": 3,
    "date": "when",
    "window": "20m",
    "texts": True,
}
Document = dict[str, Any]
Told = list[tuple[str, str | None]]  # (id, what it is a duplicate of)


def opened(url: str, **more: Any) -> nd.Index:
    return nd.Index.open(url, clock=lambda: 2.0 * START, **{**SETTINGS, **more})


def text(rng: np.random.Generator) -> str:
    """One of a few families, with a word changed here and there."""
    family = int(rng.integers(200))
    words = [f"f{family}w{i}" for i in range(30)]
    for place in rng.integers(30, size=int(rng.integers(12))):
        words[place] = f"x{rng.integers(50)}"
    return " ".join(words)


def apply(index: nd.Index, seed: int, number: int) -> None:
    """Operation ``number`` of a history: all or nothing, and the same after the same history."""
    rng = np.random.default_rng([seed, number])
    when = START + number
    what = rng.choice(["add", "many", "update", "remove"], p=[0.5, 0.2, 0.2, 0.1])
    earlier = f"{max(number - int(rng.integers(1, 40)), 0)}-0"
    document = {"id": f"{number}-0", "text": text(rng), "when": when}
    if what == "many":
        index.add_many([{**document, "id": f"{number}-{i}", "text": text(rng)} for i in range(30)])
    elif what == "update" and earlier in index:
        index.update({**document, "id": earlier})
    elif what == "remove" and earlier in index:
        index.remove(earlier)
    else:
        index.add(document)


def lead(url: str, seed: int, first: int, told: Connection) -> None:
    """Goes on with a history until it is killed; tells the number of what was acknowledged."""
    with opened(url) as index:
        number = first
        while True:
            apply(index, seed, number)
            told.send(number)
            number += 1


def add_all(url: str, documents: Sequence[Document], told: Connection, start: Barrier) -> None:
    """In calls of one to three; tells what was acknowledged."""
    rng = np.random.default_rng(len(documents))
    with opened(url, window=None, date=None) as index:
        start.wait(60)
        done = 0
        while done < len(documents):
            part = documents[done : done + int(rng.integers(1, 4))]
            matches = index.add_many(part) if len(part) > 1 else [index.add(part[0])]
            told.send([(d["id"], m and m.of) for d, m in zip(part, matches, strict=True)])
            done += len(part)
    told.close()
