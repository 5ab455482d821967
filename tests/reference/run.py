"""The twin of a whole run: sets of word tuples, exact fractions, all pairs.

Texts must be plain ASCII words; what a word is has a twin of its own (``reference.text``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from reference import rule
from reference.shingles import MEASURES, windows

Document = dict[str, Any]


def words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"[a-z0-9]+", text.lower()))


@dataclass(frozen=True)
class Settings:
    words: int = 5
    threshold: Fraction = Fraction(4, 5)
    measure: str = "resemblance"
    min_words: int = 15
    keep: str = "first"
    within: str | None = None


def score(one: str, other: str, settings: Settings) -> Fraction | None:
    """None below the threshold. Short documents match only what has the same words in order."""
    a, b = words(one), words(other)
    short = max(settings.min_words, 1)
    if len(a) < short or len(b) < short:
        same = a == b and (a or one.split() == other.split())
        return Fraction(1) if same else None
    measured = MEASURES[settings.measure](
        set(windows(a, settings.words)), set(windows(b, settings.words))
    )
    return measured if measured >= settings.threshold else None


def order(documents: Sequence[Document], keep: str) -> list[int]:
    """Ties, and what has no value, by position."""

    def by(value: Callable[[Document], Any], *, descending: bool = False) -> list[int]:
        known = [i for i in places if value(documents[i]) is not None]
        known.sort(key=lambda i: value(documents[i]), reverse=descending)  # stable either way
        return known + [i for i in places if value(documents[i]) is None]

    places = list(range(len(documents)))
    name, _, direction = keep.rpartition(":")
    if keep in ("first", "last"):
        return places if keep == "first" else places[::-1]
    if keep in ("longest", "shortest"):
        return by(lambda d: len(d["text"]), descending=keep == "longest")
    if keep in ("newest", "oldest"):
        return by(lambda d: d["date"], descending=keep == "newest")
    if keep.startswith("source:"):
        rank = {source: i for i, source in enumerate(keep[7:].split(","))}
        return by(lambda d: rank.get(d["source"]))
    return by(lambda d: d[name], descending=direction == "desc")


class Run:
    """``decided``: document → None if kept, else (what it was set aside for, score)."""

    def __init__(self, documents: Sequence[Document], settings: Settings) -> None:
        within = settings.within
        self.pairs: dict[tuple[int, int], Fraction] = {}
        for i, j in combinations(range(len(documents)), 2):
            if within and documents[i][within] != documents[j][within]:
                continue
            found = score(documents[i]["text"], documents[j]["text"], settings)
            if found is not None:
                self.pairs[i, j] = found
        self.decided = rule.decide(order(documents, settings.keep), rule.from_scores(self.pairs))


def collection(rng: np.random.Generator, count: int, *, vocabulary: int = 60) -> list[Document]:
    """Families of edited texts: replaced, dropped and added words, excerpts, copies, other case."""
    names = [f"w{i}" for i in range(vocabulary)]
    bases = [list(rng.choice(names, rng.integers(1, 45))) for _ in range(max(count // 6, 1))]
    documents = []
    for i in range(count):
        text = list(bases[rng.integers(len(bases))])
        for _ in range(rng.choice([0, 0, 0, 1, 1, 2, 5])):
            place = int(rng.integers(len(text) + 1))
            edit = rng.integers(5)
            if edit == 0:
                text.insert(place, names[rng.integers(vocabulary)])
            elif edit == 1:
                text = text[:place] + text[place + 1 :]
            elif edit == 2:
                text = text[: max(place, 1)]
            elif edit == 3:
                text += bases[rng.integers(len(bases))][:place]
            else:
                text = text[place:] + text[:place]
        joined = " ".join(text)
        spelled = [joined, joined, joined.upper(), joined.replace(" ", ", ") + "."]
        documents.append(
            {
                "id": f"d{i}",
                "text": spelled[rng.integers(4)],
                "source": ["a", "b", "c", None][rng.integers(4)],
                "date": [None, *(f"2024-01-{d:02d}" for d in range(1, 6))][rng.integers(6)],
                "n": int(rng.integers(0, 12)),
            }
        )
    return documents
