"""`python -m benchmarks.review [--clusters N] [--words N]`: pages of the review of a large run.

Makes a collection of N texts with two edited copies each, runs `neardup dedup --method shingles` on
it, serves its review on a port of this machine and asks for pages. Times are of whole answers over
loopback, of lists the median of five. The collection is kept in the working folder of the
benchmarks. It needs the tests on the path: `PYTHONPATH=tests`.
"""

from __future__ import annotations

import argparse
import json
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import numpy as np

from benchmarks.__main__ import machine
from benchmarks.corpus import WORK
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.review.pagination import Orders
from neardup.web.review.review_pages import Review
from neardup.web.review.review_source import open_source
from web.serving import serving

RUNS = 5
LISTS = {
    "clusters, weakest first": ("/clusters", {}),
    "clusters, largest first": ("/clusters", {"sort": "largest"}),
    "clusters of a kind and a range of scores": (
        "/clusters",
        {"kind": "revision", "low": "0.8", "high": "0.95"},
    ),
    "clusters of a source and a month": (
        "/clusters",
        {"source": "wire-3", "since": "2025-03-01", "until": "2025-03-31"},
    ),
    "pairs, lowest score first": ("/pairs", {}),
    "documents, lowest score first": ("/documents", {"sort": "weakest"}),
    "search for a rare word": ("/clusters", {"q": "w19999"}),
    "search for two words": ("/documents", {"q": "w1234 w77"}),
}


def main() -> None:
    asked = parse()
    run = prepared(asked.clusters, asked.words)
    print(machine())
    begin = time.perf_counter()
    review = Review(open_source(str(run)))
    print(f"ready after {time.perf_counter() - begin:.1f} s", flush=True)
    with serving(make_app([review], Guard())) as address:
        begin = time.perf_counter()
        print(f"the very first list, while texts are read: {timed(f'{address}/clusters'):.0f} ms")
        review.state.texts.wait()
        print(f"texts read after {time.perf_counter() - begin:.1f} s more")
        review.state.cuts.wait()
        print(f"{len(review.state.cuts.counted)} cuts after {time.perf_counter() - begin:.1f} s")
        tables = review.state.tables
        counts = len(tables.decisions), len(tables.members), len(tables.pairs)
        print("{:,} documents, {:,} clusters, {:,} pairs\n".format(*counts))
        print("| page | not asked before ms | next page ms | last page ms |\n|---|--:|--:|--:|")
        for name, (path, query) in LISTS.items():
            runs = [of_list(review, address, path, query) for _ in range(RUNS)]
            print(f"| {name} | {' | '.join(f'{median(t):.0f}' for t in zip(*runs, strict=True))} |")
        print("\n| page | median ms | most ms | of |\n|---|--:|--:|--:|")
        for name, times in of_details(address):
            print(f"| {name} | {median(times):.0f} | {max(times):.0f} | {len(times)} |")
        begin = time.perf_counter()
        review.state.put_first(first_copy(address))
        print(f"\nanother representative: {time.perf_counter() - begin:.2f} s")
        review.state.undo(None)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.review")
    parser.add_argument("--clusters", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=120, help="of a text")
    return parser.parse_args()


def prepared(clusters: int, words: int) -> Path:
    import neardup as nd

    folder = WORK / f"review-{clusters}-{words}"
    if (folder / "run" / "run.json").exists():
        return folder / "run"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "docs.jsonl").open("w") as file:
        for document in documents(clusters, words):
            file.write(json.dumps(document) + "\n")
    result = nd.dedup(str(folder / "docs.jsonl"), method="shingles", threshold=0.6)
    return result.save(folder / "run")


def documents(clusters: int, words: int) -> Iterator[dict[str, str]]:
    random = np.random.default_rng(7)
    for number in range(clusters):
        text = random.integers(0, 20_000, words)
        for copy in range(3):
            edited = text.copy()
            edited[random.integers(0, words, copy * 2)] = random.integers(0, 20_000, copy * 2)
            yield {
                "id": f"doc-{number}-{copy}",
                "text": " ".join(f"w{word}" for word in edited.tolist()),
                "source": f"wire-{number % 10}",
                "date": f"2025-{number % 12 + 1:02}-{copy + 1:02}",
            }


def of_list(review: Review, address: str, path: str, query: dict[str, str]) -> list[float]:
    """Filtered and sorted anew, then the next page and the last one."""
    review.state.orders = Orders()
    first = timed(f"{address}{path}?{urlencode(query)}")
    with urllib.request.urlopen(f"{address}{path}.json?{urlencode(query)}") as answer:
        pages = json.load(answer)["page"]["pages"]
    return [first] + [
        timed(f"{address}{path}?{urlencode({**query, 'page': n})}") for n in (2, pages)
    ]


def of_details(address: str) -> Iterator[tuple[str, list[float]]]:
    with urllib.request.urlopen(f"{address}/clusters.json") as answer:
        entries = json.load(answer)["entries"]
    yield "front page", [timed(address + "/") for _ in range(10)]
    yield "cluster", [timed(address + one["href"]) for one in entries]
    pairs = [{"a": one["kept"], "b": one["kept"][:-1] + "1"} for one in entries]
    yield "pair side by side", [timed(f"{address}/pair?{urlencode(pair)}") for pair in pairs]
    yield "threshold", [timed(f"{address}/threshold?at=0.{n}") for n in range(70, 90)]


def first_copy(address: str) -> str:
    with urllib.request.urlopen(f"{address}/documents.json?sort=weakest") as answer:
        return str(json.load(answer)["entries"][0]["id"])


def timed(url: str) -> float:
    """Milliseconds of a whole answer."""
    begin = time.perf_counter()
    request = urllib.request.Request(url, headers={"Accept": "text/html"})
    with urllib.request.urlopen(request) as answer:
        answer.read()
    return 1000 * (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
