"""`python -m benchmarks.memory FILE.jsonl [DOCUMENTS]`: what a document takes in an index, and how
long `check` of one that is there takes.

An index of each method is filled, and opened again while Python's memory is traced: evidence,
postings (which are native, and counted by themselves) and all that is there beside them.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import tempfile
import time
import tracemalloc
from itertools import islice
from pathlib import Path
from typing import Any

import neardup as nd
from neardup.methods import registry

HEADS = ("method", "evidence", "postings", "beside", "disk", "check")
DOCUMENTS = 2_000
CHECKED = 500


def main() -> None:
    count = int(sys.argv[2]) if len(sys.argv) > 2 else DOCUMENTS
    with Path(sys.argv[1]).open("rb") as lines:
        documents = [json.loads(line) for line in islice(lines, count)]
    print(f"{count:,} documents; bytes a matchable one, on disk of all; µs\n")
    print(f"| {' | '.join(HEADS)} |\n|---{'|--:' * (len(HEADS) - 1)}|")
    for name in registry.names():
        with tempfile.TemporaryDirectory() as folder:
            print(row(name, documents, Path(folder) / "index.db"), flush=True)


def row(name: str, documents: list[dict[str, Any]], url: Path) -> str:
    made = nd.dedup(documents, method=name, keep="first", kinds="none")
    with nd.Index.open(url, method=name, artefacts=made) as index:
        index.add_many(documents)
    with nd.Index.open(url) as index:
        gc.collect()
        tracemalloc.start()
        stats = index.stats()  # reads the window
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        check = microseconds(index, documents[:CHECKED])
    evidence, postings = stats["evidence_bytes"], stats["postings_bytes"]
    sizes = [one / stats["matchable"] for one in (evidence, postings, held - evidence)]
    disk = stats["bytes"] / stats["documents"]
    cells = " | ".join(f"{one:,.0f}" for one in (*sizes, disk, check))
    return f"| `{name}` | {cells} |"


def microseconds(index: nd.Index, documents: list[dict[str, Any]]) -> float:
    """The median of `check`, of the processor alone."""
    times = []
    for document in documents:
        start = time.process_time()
        index.check(document["text"])
        times.append(time.process_time() - start)
    return statistics.median(times) * 1e6


if __name__ == "__main__":
    main()
