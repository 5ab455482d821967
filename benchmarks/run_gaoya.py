"""gaoya: a MinHash index in Rust. It has no call for signatures alone: that row is the insertion.

usage: run_gaoya signatures FILE.parquet | run_gaoya dedup FILE.jsonl LABELS.npz
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from typing import Any

from gaoya.minhash import MinHashStringIndex

from benchmarks import side


def new_index() -> Any:
    return MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=side.THRESHOLD,
        num_bands=side.BANDS,
        band_size=side.ROWS,
        analyzer="word",
        lowercase=True,
        ngram_range=(side.WORDS, side.WORDS),
        id_container="smallvec",  # its documentation's choice where duplicates are few
    )


def insert(index: Any, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        index.insert_document(number, text)


def query(index: Any, texts: list[str]) -> list[tuple[int, int]]:
    return [(a, b) for a, text in enumerate(texts) for b in index.query(text) if a != b]


def time_signatures(parquet: str) -> None:
    column = side.load_arrow(parquet)
    mb, texts = side.text_mb(column), column.to_pylist()
    del column
    insert(new_index(), texts[: side.WARM_UP])
    start = time.perf_counter()
    insert(new_index(), texts)
    report("signatures", docs=len(texts), mb=mb, **side.cost_since(start))


def time_dedup(jsonl: str, out: str) -> None:
    start = time.perf_counter()
    texts = side.load_jsonl(jsonl)
    loaded = time.perf_counter()
    index = new_index()
    insert(index, texts)
    inserted = time.perf_counter()
    pairs = query(index, texts)
    labels = side.components(*zip(*pairs, strict=True), len(texts))
    cost = side.cost_since(start)
    steps = {"load": loaded - start, "insert": inserted - loaded}
    aside = side.save_labels(labels, out)
    report("dedup", docs=len(texts), mb=side.file_mb(jsonl), duplicates=aside, **cost, **steps)


def report(row: str, **figures: Any) -> None:
    side.report("gaoya", row, version=version("gaoya"), **figures)


if __name__ == "__main__":
    {"signatures": time_signatures, "dedup": time_dedup}[sys.argv[1]](*sys.argv[2:])
