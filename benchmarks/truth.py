"""The exact Jaccard of every pair of documents that share enough word 5-shingles.

Words are runs of \\w in lower case; a document of fewer than five words is one shingle. No pair is
missed: an inverted index of all shingles counts what each two documents share. A shingle is held
as a 64-bit mix of its words; on 100,000 documents the chance that any two meet is below 1/1000.

usage: truth FILE.parquet OUT.npz (arrays a < b, the Jaccard J of each pair, and n)
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable

import numpy as np

WORDS = 5
AT_LEAST = 0.3
WORD = re.compile(r"\w+")
ODD = np.random.default_rng(5).integers(1, 1 << 63, WORDS, dtype=np.uint64) * 2 + 1


def exact_pairs(texts: Iterable[str], at_least: float = AT_LEAST) -> tuple[np.ndarray, ...]:
    """Row numbers a < b and the Jaccard of the pairs of at least that much."""
    sets = list(shingle_sets(texts))
    sizes = np.array([len(keys) for keys in sets])
    a, b, shared = shared_counts(sets)
    jaccard = shared / (sizes[a] + sizes[b] - shared)
    enough = jaccard >= at_least
    return a[enough], b[enough], jaccard[enough]


def shingle_sets(texts: Iterable[str]) -> Iterable[np.ndarray]:
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers) + 1)  # 0 is no word
    for text in texts:
        words = [numbers[word] for word in WORD.findall(text.lower())]
        padding = [0] * (WORDS - len(words)) if words else []
        yield np.unique(shingle_keys(np.array(words + padding, dtype=np.uint64)))


def shingle_keys(words: np.ndarray) -> np.ndarray:
    count = max(0, len(words) - WORDS + 1)
    keys = np.zeros(count, dtype=np.uint64)
    for place, odd in enumerate(ODD):
        keys = _mix((keys ^ words[place : place + count]) * odd)
    return keys


def shared_counts(sets: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs that share a shingle, and how many: rows that lie d apart in the sorted index."""
    keys, rows = _inverted_index(sets)
    codes, place = [np.empty(0, dtype=np.int64)], np.arange(len(keys))
    for apart in range(1, len(keys)):
        place = place[: np.searchsorted(place, len(keys) - apart)]
        place = place[keys[place] == keys[place + apart]]
        if not len(place):
            break
        codes.append(rows[place] * len(sets) + rows[place + apart])
    code, shared = np.unique(np.concatenate(codes), return_counts=True)
    return code // max(1, len(sets)), code % max(1, len(sets)), shared


def _inverted_index(sets: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Shingles of more than one document in order, and the rows that hold them, ascending."""
    keys = np.concatenate([np.empty(0, dtype=np.uint64), *sets])
    rows = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    order = np.argsort(keys, kind="stable")
    keys, rows = keys[order], rows[order]
    same = np.concatenate([[False], keys[1:] == keys[:-1], [False]])
    repeated = same[:-1] | same[1:]
    return keys[repeated[: len(keys)]], rows[repeated[: len(keys)]]


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    return x ^ (x >> np.uint64(32))


if __name__ == "__main__":
    import pyarrow.parquet as pq

    texts = pq.read_table(sys.argv[1], columns=["text"])["text"].to_pylist()
    a, b, jaccard = exact_pairs(texts)
    np.savez(sys.argv[2], a=a, b=b, J=jaccard, n=len(texts))
