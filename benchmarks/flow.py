"""`python -m benchmarks.flow [SET] [--hours N] [--documents N] [--store URL]`: news in an index.

A flow as in `benchmarks.window`, from text, through `Index.add` (q-grams, doc_q ≥ 0.7, a window of
24h; the store in memory if none is named), one core. The clock is set, so hours pass as fast as
documents are added. A line every six hours: what the process holds, and what adding the documents
since the last took.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks.__main__ import machine
from benchmarks.align import read
from benchmarks.window import AN_HOUR, THRESHOLD, mixed
from neardup.engines.index.index import Index

START, HOUR = 1_700_000_000 // 3600 * 3600, 3600
A_LINE = 6  # hours


def main() -> None:
    asked = parse()
    now = [float(START)]
    articles = [document["text"] or "" for document in read(asked.flow, "docs")]
    flow = mixed(articles, asked.hours * asked.documents)
    print(f"{machine()}, shared with others; processor time; against={asked.against}")
    print(f"{resident() / 1e6:,.0f} MB before the first document\n")
    print("| hour | matchable | documents/s | p50 ms | p99 ms | most ms | postings B | RSS MB |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    settings = {"method": "qgrams", "threshold": THRESHOLD, "window": "24h"}
    with Index.open(asked.store, clock=lambda: now[0], against=asked.against, **settings) as index:
        seconds: list[float] = []
        for hour in range(asked.hours):
            now[0] = START + hour * HOUR
            seconds += [added(index, text) for text in islice(flow, asked.documents)]
            if (hour + 1) % A_LINE == 0 or hour + 1 == asked.hours:
                print(row(hour + 1, index, seconds), flush=True)
                seconds = []


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.flow")
    parser.add_argument("flow", nargs="?", default="press_de")
    parser.add_argument("--hours", type=int, default=72)
    parser.add_argument("--documents", type=int, default=AN_HOUR, help="an hour")
    parser.add_argument("--against", default="seen")
    parser.add_argument("--store", default="memory:", help="a new one")
    return parser.parse_args()


def added(index: Index, text: str) -> float:
    begin = time.process_time()
    index.add(text)
    return time.process_time() - begin


def row(hour: int, index: Index, seconds: list[float]) -> str:
    p50, p99, most = np.percentile(np.array(seconds) * 1e3, [50, 99, 100])
    found, rate = index.stats(), len(seconds) / sum(seconds)
    taken = found["postings_bytes"] / found["matchable"]
    return (
        f"| {hour} | {found['matchable']:,} | {rate:,.0f} | {p50:.2f} | {p99:.2f} | {most:.0f} | "
        f"{taken:,.0f} | {resident() / 1e6:,.0f} |"
    )


def resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
