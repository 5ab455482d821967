"""rensa: R-MinHash and LSH in Rust, on shingles cut in Python; pairs verified by its estimate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rensa import RMinHash, RMinHashLSH

from benchmarks import side
from benchmarks.runner import Pairs, Runner, shingles

SEED = 42


def sign(texts: list[str]) -> Any:
    return RMinHash.digest_matrix_from_token_sets(map(shingles, texts), side.PERMUTATIONS, SEED)


def build(texts: list[str]) -> tuple[list[Any], Any]:
    signed = RMinHash.from_token_sets(map(shingles, texts), side.PERMUTATIONS, SEED)
    lsh = RMinHashLSH(side.THRESHOLD, side.PERMUTATIONS, side.BANDS)
    lsh.insert_many(signed)
    return signed, lsh


def pairs(texts: list[str]) -> Pairs:
    signed, lsh = build(texts)
    candidates = enumerate(lsh.query_all(signed))
    return [
        (a, b)
        for a, found in candidates
        for b in found
        if a < b and signed[a].jaccard(signed[b]) >= side.THRESHOLD
    ]


def index(texts: list[str]) -> Callable[[str], Any]:
    signed, lsh = build(texts)

    def look_up(text: str) -> list[int]:
        asked = RMinHash(side.PERMUTATIONS, SEED)
        asked.update(shingles(text))
        return [b for b in lsh.query(asked) if asked.jaccard(signed[b]) >= side.THRESHOLD]

    return look_up


if __name__ == "__main__":
    Runner("rensa", "rensa", sign=sign, pairs=pairs, index=index).main()
