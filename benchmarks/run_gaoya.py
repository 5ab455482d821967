"""gaoya: MinHash and SimHash indexes in Rust. It gives no signatures alone: those rows are the
insertion.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gaoya.minhash import MinHashStringIndex
from gaoya.simhash import SimHashStringIndex

from benchmarks import side
from benchmarks.runner import Pairs, Runner


def build(texts: list[str]) -> Any:
    index = MinHashStringIndex(
        hash_size=32,
        jaccard_threshold=side.THRESHOLD,
        num_bands=side.BANDS,
        band_size=side.ROWS,
        analyzer="word",
        lowercase=True,
        ngram_range=(side.WORDS, side.WORDS),
        id_container="smallvec",  # its documentation's choice where duplicates are few
    )
    return insert(index, texts)


def simhash(texts: list[str]) -> Any:
    return insert(SimHashStringIndex(64, lowercase=True, ngram_range=(1, 1)), texts)


def insert(index: Any, texts: list[str]) -> Any:
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return index


def pairs(texts: list[str]) -> Pairs:
    index = build(texts)
    return [(a, b) for a, text in enumerate(texts) for b in index.query(text) if a != b]


def look_up(texts: list[str]) -> Callable[[str], Any]:
    return build(texts).query


if __name__ == "__main__":
    Runner("gaoya", "gaoya", sign=build, pairs=pairs, index=look_up, simhash=simhash).main()
