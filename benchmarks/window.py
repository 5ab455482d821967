"""`python -m benchmarks.window [FILE.jsonl | SET] [--keys]`: a flow of news through the window.

25 slots of 4,000 documents are filled; then more hours arrive, each document checked (q-grams,
doc_q ≥ 0.7, exact) and added, one core, while the ring turns. Processor time from evidence in
memory; cutting q-grams is given apart. SET is a folder of `NEARDUP_DATA`, by default press_de: as
it has too few documents, more are made of its sentences, runs of one to five from one article.

`--keys` compares with what a document alone gives as keys, in a smaller window: MinHash bands, and
prefixes with the rarest q-grams first. Keys are looked up in one sorted array, to which nothing is
added, so only documents of earlier hours count as found; candidates are scored as everywhere.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.__main__ import machine
from benchmarks.align import read
from neardup import _native
from neardup.features.qgrams import qgram_sets
from neardup.matching.window import HOURS, SLOT_BITS, BitmapWindow
from neardup.methods.meeting import Rarity
from neardup.methods.qgrams import Qgrams
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text

AN_HOUR, THRESHOLD = 4000, 0.7
CHUNK = 2000
COUNT_SLOTS = 1 << 22


def main() -> None:
    asked = parse()
    hours, more = 5 if asked.keys else HOURS, asked.more
    evidence, cutting = cut(texts(asked.flow, hours * AN_HOUR + more))
    window = min(len(evidence) - more, hours * AN_HOUR)
    sizes = np.percentile(evidence.lengths, [10, 50, 90]).astype(int)
    print(f"{machine()}, shared with others; processor time\n")
    print(f"{window:,} documents in the window, then {more:,}; {sizes} q-grams (10, 50, 90 %)")
    print(f"cutting q-grams: {cutting * 1e3:.2f} ms a document\n")
    print("| | documents/s | p50 ms | p99 ms | most ms | candidates | found |")
    print("|---|--:|--:|--:|--:|--:|--:|")
    print(through_window(evidence, window, more, earlier=asked.keys))
    if asked.keys:
        print(by_keys("bands", Qgrams(threshold=THRESHOLD, keys="bands"), evidence, window, more))
        print(by_keys("prefix", Qgrams(threshold=THRESHOLD, keys="prefix"), evidence, window, more))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.window")
    parser.add_argument("flow", nargs="?", default="press_de")
    parser.add_argument("--more", type=int, default=8000, help="documents that are measured")
    parser.add_argument("--keys", action="store_true", help="compare with keys")
    return parser.parse_args()


def texts(flow: str, count: int) -> list[str]:
    if flow.endswith(".jsonl"):
        with Path(flow).open(encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line, _ in zip(lines, range(count), strict=False)]
    return list(mixed([document["text"] or "" for document in read(flow, "docs")], count))


def mixed(articles: list[str], count: int) -> Iterator[str]:
    """As many articles as there are, spread among others that are made of their sentences."""
    return _mixed(articles, [re.split(r"(?<=[.!?])\s+", article) for article in articles], count)


def _mixed(articles: list[str], sentences: list[list[str]], count: int) -> Iterator[str]:
    random = np.random.default_rng(1)
    for _ in range(count):
        one = int(random.integers(len(articles)))
        if random.random() < len(articles) / count:
            yield articles[one]
        else:
            yield " ".join(drawn(sentences, len(sentences[one]), random))


def drawn(sentences: list[list[str]], count: int, random: np.random.Generator) -> list[str]:
    made: list[str] = []
    while len(made) < count:
        article = sentences[random.integers(len(sentences))]
        begin = int(random.integers(len(article)))
        made += article[begin : begin + int(random.integers(1, 6))]
    return made[:count]


def cut(documents: list[str]) -> tuple[Ragged, float]:
    """Their sets, and processor seconds a document."""
    begin = time.process_time()
    parts = [
        qgram_sets(Ragged.of_texts(documents[at : at + CHUNK]), 4, Text()).features
        for at in range(0, len(documents), CHUNK)
    ]
    return Ragged.concat(parts, np.uint32), (time.process_time() - begin) / len(documents)


def through_window(evidence: Ragged, window: int, more: int, *, earlier: bool) -> str:
    index, seconds, found, candidates = BitmapWindow(), [], 0, 0
    for i in range(window):
        index.add(i // AN_HOUR, evidence[i])
    full = index.memory()
    for i in range(window, window + more):
        begin = time.process_time()
        slot = i // AN_HOUR % HOURS
        if i % AN_HOUR == 0:
            index.drop(slot)
        overlaps = index.overlaps(evidence[i], THRESHOLD)
        index.add(slot, evidence[i])
        seconds.append(time.process_time() - begin)
        slots = overlaps.documents >> SLOT_BITS
        found += len(slots) - (int((slots == slot).sum()) if earlier else 0)
        candidates += overlaps.candidates
    memory = index.memory()
    taken = (
        f"window, exact; {full.bytes_a_document:,.0f} B a document "
        f"({full.tables / full.documents:,.0f} tables, {full.lists / full.documents:,.0f} lists), "
        f"{full.bytes / 1e6:,.0f} MB before and {memory.bytes / 1e6:,.0f} MB after"
    )
    return row(taken, seconds, candidates / more, found / more)


def by_keys(name: str, method: Qgrams, evidence: Ragged, window: int, more: int) -> str:
    counts = np.zeros(COUNT_SLOTS, np.uint8)
    _native.count_features(evidence.values, counts)
    keys, owners = sorted_keys(method, evidence, window, counts)
    seconds, found, candidates = [], 0, 0
    for i in range(window, window + more):
        begin = time.process_time()
        own = keys_of(method, Ragged(evidence[i], np.array([0, len(evidence[i])])), counts)
        others = meeting(keys, owners, own.values)
        scores = method.score(evidence, np.full(len(others), i), others)
        seconds.append(time.process_time() - begin)
        found += int(scores.passed.sum())
        candidates += len(others)
    what = f"keys: {name}, misses {method.miss_rate:.3g}; {len(keys) // window:,} keys a document"
    return row(what, seconds, candidates / more, found / more)


def keys_of(method: Qgrams, sets: Ragged, counts: Array) -> Ragged:
    if method.bands:
        return method._own_keys(sets)[0]
    return method.rare_keys(sets, Rarity(counts))[0]


def sorted_keys(
    method: Qgrams, evidence: Ragged, window: int, counts: Array
) -> tuple[Array, Array]:
    keys = keys_of(method, evidence.take(np.arange(window)), counts)
    order = np.argsort(keys.values)
    return keys.values[order], np.repeat(np.arange(window), keys.lengths)[order]


def meeting(keys: Array, owners: Array, own: Array) -> Array:
    """Documents that share a key."""
    first, last = np.searchsorted(keys, own, "left"), np.searchsorted(keys, own, "right")
    ranges = [owners[a:b] for a, b in zip(first, last, strict=True) if a < b]
    return np.unique(np.concatenate(ranges)) if ranges else np.empty(0, np.int64)


def row(name: str, seconds: list[float], candidates: float, found: float) -> str:
    p50, p99, most = np.percentile(np.array(seconds) * 1e3, [50, 99, 100])
    rate = len(seconds) / sum(seconds)
    return (
        f"| {name} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {most:.1f} | "
        f"{candidates:,.1f} | {found:.3f} |"
    )


if __name__ == "__main__":
    main()
