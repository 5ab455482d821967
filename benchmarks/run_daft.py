"""daft: `normalize` and `minhash` in Rust; it has no index, so banding and clusters are numpy's.

usage: run_daft signatures FILE.parquet | run_daft dedup FILE.jsonl LABELS.npz
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from typing import Any

import daft
import numpy as np
import pyarrow as pa
from daft.functions import minhash, normalize

from benchmarks import side

HASH = "xxhash"  # the fastest that daft offers


def signatures(texts: pa.Array) -> np.ndarray:
    clean = normalize(daft.col("text"), lowercase=True, remove_punct=True, white_space=True)
    values = minhash(clean, num_hashes=side.PERMUTATIONS, ngram_size=side.WORDS, hash_function=HASH)
    table = daft.from_arrow(pa.table({"text": texts})).select(values.alias("values")).to_arrow()
    flat = table["values"].combine_chunks().flatten()
    return flat.to_numpy(zero_copy_only=False).reshape(len(texts), side.PERMUTATIONS)


def band_pairs(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours in the order of each band's key: enough to join all that share a band."""
    odd = np.random.default_rng(1).integers(1, 2**63, side.ROWS, dtype=np.uint64) * 2 + 1
    firsts, seconds = [], []
    for band in range(side.BANDS):
        columns = matrix[:, band * side.ROWS : (band + 1) * side.ROWS].astype(np.uint64)
        keys = columns @ odd
        order = np.argsort(keys)
        same = keys[order[1:]] == keys[order[:-1]]
        firsts.append(order[:-1][same])
        seconds.append(order[1:][same])
    return np.concatenate(firsts), np.concatenate(seconds)


def time_signatures(parquet: str) -> None:
    texts = side.load_arrow(parquet)
    mb = side.text_mb(texts)
    signatures(texts[: side.WARM_UP])
    start = side.begin()
    signatures(texts)
    report("signatures", docs=len(texts), mb=mb, **side.cost_since(start))


def time_dedup(jsonl: str, out: str) -> None:
    signatures(pa.array(["a few words to warm up with"], pa.large_string()))
    start = side.begin()
    texts = pa.array(side.load_jsonl(jsonl), pa.large_string())
    loaded = time.perf_counter()
    matrix = signatures(texts)
    signed = time.perf_counter()
    labels = side.components(*band_pairs(matrix), len(texts))
    cost = side.cost_since(start)
    steps = {"load": loaded - start.wall, "signatures": signed - loaded}
    aside = side.save_labels(labels, out)
    report("dedup", docs=len(texts), mb=side.file_mb(jsonl), duplicates=aside, **cost, **steps)


def report(row: str, **figures: Any) -> None:
    side.report("daft", row, version=version("daft"), hash=HASH, **figures)


if __name__ == "__main__":
    {"signatures": time_signatures, "dedup": time_dedup}[sys.argv[1]](*sys.argv[2:])
