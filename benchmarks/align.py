"""`python -m benchmarks.align [SET | FILE.jsonl …]`: pairs of texts aligned in a second, one core.

Alike pairs of a set are those of its `silver_jaccard.jsonl.zst`, unlike ones are drawn at random;
up to 20,000 of either. The sets are folders of `NEARDUP_DATA` (default: ../shared/data). Pairs of a
file are its duplicates with the documents kept instead of them; they get their kinds, block by
block as in a run.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import neardup
from benchmarks.__main__ import machine
from neardup.decisions.kinds import aligned_kinds
from neardup.runs.run_tables import BLOCK_BYTES
from neardup.schema import DUPLICATE, Array, Ragged, slices_of
from neardup.text.alignment import align_pairs

Once = Callable[[Ragged, Array, Array], float]

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
SETS = ["press_de", "bbc_news"]
MOST, REPEAT = 20_000, 3


def main() -> None:
    print(f"{machine()}; processor seconds, best of {REPEAT}\n")
    print("| set | pairs | words a text | pairs/s | MB/s |\n|---|--:|--:|--:|--:|")
    for name in sys.argv[1:] or SETS:
        if name.endswith(".jsonl"):
            print(f"| {Path(name).stem}, kinds | {row(*decided(Path(name)), once_kinds)} |")
            continue
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


def decided(file: Path) -> tuple[Ragged, Array, Array]:
    """The texts of a file, and its duplicates beside their kept documents, as a run orders them."""
    with file.open("rb") as lines:
        documents = [json.loads(line) for line in lines]
    decisions = neardup.dedup(file, kinds="none", workers=1).decisions
    aligned = pc.and_(pc.equal(decisions["decision"], DUPLICATE), pc.is_null(decisions["kind"]))
    pairs = decisions.filter(aligned).select(["id", "kept_id"])
    place = {str(document["id"]): i for i, document in enumerate(documents)}
    left, right = (np.array([place[i] for i in pairs[c].to_pylist()]) for c in pairs.column_names)
    order = np.lexsort((left, right))
    return Ragged.of_texts([document["text"] for document in documents]), left[order], right[order]


def row(texts: Ragged, left: Array, right: Array, once: Once | None = None) -> str:
    seconds = min((once or once_aligned)(texts, left, right) for _ in range(REPEAT))
    found = align_pairs(texts, left, right)
    words = (found.words_a.sum() + found.words_b.sum()) / (2 * len(left))
    size = (texts.lengths[left].sum() + texts.lengths[right].sum()) / 1e6
    return f"{len(left):,} | {words:.0f} | {len(left) / seconds:,.0f} | {size / seconds:.0f}"


def once_aligned(texts: Ragged, left: Array, right: Array) -> float:
    start = time.process_time()
    align_pairs(texts, left, right)
    return time.process_time() - start


def once_kinds(texts: Ragged, left: Array, right: Array) -> float:
    seconds = 0.0
    for block in slices_of(texts.lengths[left] + texts.lengths[right], BLOCK_BYTES):
        both = np.concatenate([left[block], right[block]])
        chosen, where = np.unique(both, return_inverse=True)
        gathered, (a, b) = texts.take(chosen), where.reshape(2, -1)
        start = time.process_time()
        aligned_kinds(gathered, a, b)
        seconds += time.process_time() - start
    return seconds


if __name__ == "__main__":
    main()
