"""The rows of a peer that takes Python texts: it says how, this module keeps the clock.

usage of every runner: run_SIDE signatures|simhash|lookup FILE.parquet
                       run_SIDE dedup FILE.jsonl OUT.npz
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks import side

Pairs = Sequence[tuple[int, int]]
CHUNK = 1_000  # documents whose shingles are in memory at once
LOOK_UPS = 2_000
PASSES = 3  # the best time of each text counts: a pre-empted process says nothing of the index


@dataclass(frozen=True)
class Runner:
    """What a peer can do; None where it has no such thing.

    `index` builds from texts and gives back the look-up of one text, signature included.
    """

    name: str
    package: str
    sign: Callable[[list[str]], Any] | None = None
    pairs: Callable[[list[str]], Pairs] | None = None
    index: Callable[[list[str]], Callable[[str], Any]] | None = None
    simhash: Callable[[list[str]], Any] | None = None
    peak: Callable[[], float] = side.peak_mb

    def main(self) -> None:
        row, *arguments = sys.argv[1:]
        able = {
            "signatures": partial(self.signatures, row, self.sign),
            "simhash": partial(self.signatures, row, self.simhash),
            "dedup": self.dedup,
            "lookup": self.lookup,
        }
        able[row](*arguments)

    def signatures(self, row: str, what: Any, parquet: str) -> None:
        sign = self._able(what, "gives no signatures alone")
        column = side.load_arrow(parquet)
        mb, texts = side.text_mb(column), column.to_pylist()
        del column
        sign(texts[: side.WARM_UP])
        start = side.begin()
        sign(texts)
        self._report(row, docs=len(texts), mb=mb, **side.cost_since(start))

    def dedup(self, jsonl: str, out: str) -> None:
        find = self._able(self.pairs, "finds no pairs")
        start = side.begin()
        texts = side.load_jsonl(jsonl)
        pairs = find(texts)
        labels = side.components([a for a, _ in pairs], [b for _, b in pairs], len(texts))
        cost = {**side.cost_since(start), "peak_mb": self.peak()}
        aside = side.save_labels(labels, out)
        self._report("dedup", docs=len(texts), mb=side.file_mb(jsonl), duplicates=aside, **cost)

    def lookup(self, parquet: str) -> None:
        build = self._able(self.index, "has no index to ask")
        texts = side.load_arrow(parquet).to_pylist()
        look_up = build(texts)
        known = texts[:: max(1, len(texts) // LOOK_UPS)]
        cases = {name: _asked(look_up, [of(one) for one in known]) for name, of in ASKED.items()}
        line = {"side": self.name, "row": "lookup", "version": version(self.package)}
        print(json.dumps({**line, "cases": cases}))

    def _able(self, what: Any, otherwise: str) -> Any:
        return what or sys.exit(otherwise)

    def _report(self, row: str, **figures: Any) -> None:
        side.report(self.name, row, version=version(self.package), **figures)


def _asked(look_up: Callable[[str], Any], texts: list[str]) -> dict[str, float]:
    passes = [[_timed(look_up, text) for text in texts] for _ in range(PASSES)]
    times = sorted(min(runs) for runs in zip(*passes, strict=True))
    hits = sum(len(look_up(text)) for text in texts)
    p50, p99 = (times[int(len(times) * share)] * 1e6 for share in (0.5, 0.99))
    return {"p50_us": p50, "p99_us": p99, "hits": hits / len(texts)}


def _timed(look_up: Callable[[str], Any], text: str) -> float:
    """Of the processor: others may be at work."""
    start = time.process_time()
    look_up(text)
    return time.process_time() - start


def changed(text: str) -> str:
    """With another word in the middle."""
    words = text.split(" ")
    words[len(words) // 2] = "otherwise"
    return " ".join(words)


def shuffled(text: str) -> str:
    """As long and of the same words, and like nothing that is there."""
    words = text.split(" ")
    random.Random(len(text)).shuffle(words)
    return " ".join(words)


ASKED = {"known": str, "one word changed": changed, "new": shuffled}


def shingles(text: str) -> list[str]:
    """Word 5-shingles cut in Python, for the peers that take them; the fastest form we know."""
    words = text.lower().split()
    cut = [words[place:] for place in range(side.WORDS)]
    return list(map(" ".join, zip(*cut, strict=False))) or [" ".join(words)]


def chunks(texts: list[str]) -> Iterator[list[str]]:
    return (texts[start : start + CHUNK] for start in range(0, len(texts), CHUNK))
