"""`python -m benchmarks.align [SET …]`: pairs of real texts aligned in a second, on one core.

Alike pairs are those of the set's `silver_jaccard.jsonl.zst`, unlike ones are drawn at random; up
to 20,000 of either. The sets are folders of `NEARDUP_DATA` (default: ../shared/data).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.__main__ import machine
from neardup.schema import Array, Ragged
from neardup.text.alignment import align_pairs

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
SETS = ["press_de", "bbc_news"]
MOST, REPEAT = 20_000, 3


def main() -> None:
    print(f"{machine()}; processor seconds, best of {REPEAT}\n")
    print("| set | pairs | words a text | pairs/s | MB/s |\n|---|--:|--:|--:|--:|")
    for name in sys.argv[1:] or SETS:
        documents = read(name, "docs")
        texts = Ragged.of_texts([document["text"] for document in documents])
        for how, pairs in (("alike", silver(name, documents)), ("unlike", drawn(len(texts)))):
            print(f"| {name}, {how} | {row(texts, *pairs)} |")


def read(name: str, file: str) -> list[Any]:
    with pa.input_stream(DATA / name / f"{file}.jsonl.zst", compression="zstd") as stream:
        return [json.loads(line) for line in stream.read().splitlines()]


def silver(name: str, documents: list[Any]) -> tuple[Array, Array]:
    place = {document["id"]: i for i, document in enumerate(documents)}
    pairs = read(name, "silver_jaccard")
    both = np.array([(place[pair["a"]], place[pair["b"]]) for pair in pairs])
    chosen = np.random.default_rng(1).permutation(len(both))[:MOST]
    return both[chosen, 0], both[chosen, 1]


def drawn(count: int) -> tuple[Array, Array]:
    both = np.random.default_rng(1).integers(0, count, (2, MOST))
    return both[0], both[1]


def row(texts: Ragged, left: Array, right: Array) -> str:
    seconds = min(once(texts, left, right) for _ in range(REPEAT))
    found = align_pairs(texts, left, right)
    words = (found.words_a.sum() + found.words_b.sum()) / (2 * len(left))
    size = (texts.lengths[left].sum() + texts.lengths[right].sum()) / 1e6
    return f"{len(left):,} | {words:.0f} | {len(left) / seconds:,.0f} | {size / seconds:.0f}"


def once(texts: Ragged, left: Array, right: Array) -> float:
    start = time.process_time()
    align_pairs(texts, left, right)
    return time.process_time() - start


if __name__ == "__main__":
    main()
