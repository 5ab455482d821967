"""datasketch: numpy MinHash (affine32, xxhash) and its LSH with the bands it chooses, on shingles
cut in Python; pairs verified by its estimate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import xxhash
from datasketch import MinHash, MinHashLSH

from benchmarks import side
from benchmarks.runner import Pairs, Runner, shingles


def sign_one(text: str) -> MinHash:
    signed = MinHash(side.PERMUTATIONS, hashfunc=xxhash.xxh32_intdigest, scheme="affine32")
    signed.update_batch([shingle.encode() for shingle in shingles(text)])
    return signed


def sign(texts: list[str]) -> list[MinHash]:
    return [sign_one(text) for text in texts]


def build(texts: list[str]) -> tuple[list[MinHash], MinHashLSH]:
    signed = sign(texts)
    lsh = MinHashLSH(threshold=side.THRESHOLD, num_perm=side.PERMUTATIONS)
    for number, one in enumerate(signed):
        lsh.insert(number, one, check_duplication=False)
    return signed, lsh


def close(asked: MinHash, signed: list[MinHash], lsh: MinHashLSH) -> list[Any]:
    return [b for b in lsh.query(asked) if asked.jaccard(signed[b]) >= side.THRESHOLD]


def pairs(texts: list[str]) -> Pairs:
    signed, lsh = build(texts)
    return [(a, b) for a, one in enumerate(signed) for b in close(one, signed, lsh) if a < b]


def index(texts: list[str]) -> Callable[[str], Any]:
    signed, lsh = build(texts)
    return lambda text: close(sign_one(text), signed, lsh)


if __name__ == "__main__":
    Runner("datasketch", "datasketch", sign=sign, pairs=pairs, index=index).main()
