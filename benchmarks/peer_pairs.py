"""The pairs that a peer reports, with the settings of its documentation.

    python -m benchmarks.peer_pairs PEER TEXTS.json OUT.npz THRESHOLD…

It runs in the environment of the peer (`benchmarks.peers`); TEXTS.json is a list of texts.
`python -m quality.peers` in `tests/` calls it for every labelled set and judges the pairs.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np

Pairs = list[tuple[int, int]]


def datasketch(texts: list[str], threshold: float) -> Pairs:
    """As its page "MinHash LSH" shows it: the set of words, 128 permutations, pairs unverified."""
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=threshold, num_perm=128)
    pairs = []
    for number, text in enumerate(texts):
        signed = MinHash(num_perm=128)
        signed.update_batch([word.encode() for word in {*text.split()}])
        pairs += [(earlier, number) for earlier in lsh.query(signed)]
        lsh.insert(number, signed)
    return pairs


def gaoya(texts: list[str], threshold: float) -> Pairs:
    """The index of its docstring: words, 42 bands of 3; it verifies on the whole signature."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, threshold, 42, 3, None, "word", True, (1, 1))
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return [(a, b) for a, text in enumerate(texts) for b in index.query(text) if a < b]


def text_dedup(texts: list[str], threshold: float) -> Pairs:
    """What its command `text_dedup.minhash` does with its defaults but the threshold: 250
    permutations of word 5-shingles. Its answer is clusters, so all pairs inside of one count."""
    from text_dedup.minhash import (
        NON_ALPHA,
        RNG,
        SIGNATURE_COLUMN,
        UnionFind,
        embed_func,
        optimal_param,
        sha1_hash,
    )

    bands, rows = optimal_param(threshold, 250)
    prime = np.uint64((1 << 61) - 1)
    settings = {
        "num_perm": 250,
        "ngram_size": 5,
        "min_length": 5,
        "hashranges": [(band * rows, (band + 1) * rows) for band in range(bands)],
        "permutations": tuple(RNG.randint(low, prime, size=250, dtype=np.uint64) for low in (1, 0)),
        "hash_func": lambda data: sha1_hash(data, d=32),
        "dtype": np.uint64,
        "max_hash": np.uint32((1 << 32) - 1),
        "modulo_prime": prime,
    }
    found = UnionFind()
    first: list[dict[bytes, int]] = [{} for _ in range(bands)]
    for number, text in enumerate(texts):
        if len(NON_ALPHA.split(text.lower())) < settings["min_length"]:
            continue
        keys = embed_func(text, number, **settings)[SIGNATURE_COLUMN]
        for table, key in zip(first, keys, strict=True):
            found.union(number, table.setdefault(key, number))
    clusters: dict[int, list[int]] = {}
    for number in range(len(texts)):
        clusters.setdefault(found.find(number), []).append(number)
    return [pair for members in clusters.values() for pair in combinations(members, 2)]


def unisim(texts: list[str], threshold: float) -> Pairs:
    """`TextSim` with its exact index: all pairs whose cosine reaches the threshold."""
    vectors = _embedded(tuple(texts))
    pairs = []
    for number in range(1, len(texts)):
        near = np.flatnonzero(vectors[:number] @ vectors[number] >= threshold)
        pairs += [(int(earlier), number) for earlier in near]
    return pairs


@functools.cache  # for the next threshold
def _embedded(texts: tuple[str, ...]) -> np.ndarray:
    from unisim import TextSim

    return np.asarray(TextSim().embed(texts))


ABLE: dict[str, Callable[[list[str], float], Pairs]] = {
    made.__name__: made for made in (datasketch, gaoya, text_dedup, unisim)
}


def main() -> None:
    peer, source, out, *thresholds = sys.argv[1:]
    texts = json.loads(Path(source).read_text("utf-8"))
    found = {asked: ABLE[peer](texts, float(asked)) for asked in thresholds}
    np.savez(out, **{asked: np.array(found[asked]).reshape(-1, 2) for asked in found})


if __name__ == "__main__":
    main()
