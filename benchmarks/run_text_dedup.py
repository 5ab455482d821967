"""text-dedup: its signature function (32-bit xxh3) and the bands it chooses, called in one process.

Its command line, which goes through `datasets` and its caches, is slower and is not measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from text_dedup.minhash import RNG, SIGNATURE_COLUMN, embed_func, optimal_param, xxh3_32hash

from benchmarks import side
from benchmarks.runner import Pairs, Runner

BANDS, ROWS = optimal_param(side.THRESHOLD, side.PERMUTATIONS)
PRIME = np.uint32((1 << 32) - 5)
SETTINGS = {
    "num_perm": side.PERMUTATIONS,
    "ngram_size": side.WORDS,
    "min_length": side.WORDS,
    "hashranges": [(band * ROWS, (band + 1) * ROWS) for band in range(BANDS)],
    "permutations": tuple(
        RNG.randint(low, PRIME, size=side.PERMUTATIONS, dtype=np.uint32) for low in (1, 0)
    ),
    "hash_func": xxh3_32hash,
    "dtype": np.uint32,
    "max_hash": np.uint32((1 << 32) - 1),
    "modulo_prime": PRIME,
}


def sign(texts: list[str]) -> list[Any]:
    return [embed_func(text, n, **SETTINGS)[SIGNATURE_COLUMN] for n, text in enumerate(texts)]


def pairs(texts: list[str]) -> Pairs:
    first: list[dict[bytes, int]] = [{} for _ in range(BANDS)]
    found = []
    for number, bands in enumerate(sign(texts)):
        for table, key in zip(first, bands, strict=True):
            earlier = table.setdefault(key, number)
            if earlier != number:
                found.append((earlier, number))
    return found


if __name__ == "__main__":
    Runner("text_dedup", "text-dedup", sign=sign, pairs=pairs).main()
