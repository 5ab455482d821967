"""What the answers are worth: pairs found and pairs reported in error, against the exact Jaccard.

neardup's pairs are taken as `find` lists them; the peers' are all pairs inside their clusters.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.side import THRESHOLD


def true_pairs(truth: Path) -> tuple[np.ndarray, int]:
    """Codes of the pairs at or above the threshold, and the number of documents."""
    with np.load(truth) as exact:
        docs = int(exact["n"])
        above = exact["J"] >= THRESHOLD - 1e-9
        return encode(exact["a"][above], exact["b"][above], docs), docs


def encode(a: np.ndarray, b: np.ndarray, docs: int) -> np.ndarray:
    return np.unique(np.minimum(a, b).astype(np.int64) * docs + np.maximum(a, b))


def of_run(out: Path, truth: Path) -> dict[str, Any]:
    """neardup: the pairs of OUT/pairs.parquet; the ids of the corpus are its row numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pairs = pq.read_table(out / "pairs.parquet", columns=["a", "b"])
    a, b = (pairs[name].cast(pa.int64()).to_numpy() for name in ("a", "b"))
    wanted, docs = true_pairs(truth)
    reported = encode(a, b, docs)
    found = len(np.intersect1d(reported, wanted, assume_unique=True))
    return summary(found, len(wanted), len(reported))


def of_clusters(labels_file: Path, truth: Path) -> dict[str, Any]:
    with np.load(labels_file) as saved:
        labels = saved["labels"]
    wanted, docs = true_pairs(truth)
    found = int((labels[wanted // docs] == labels[wanted % docs]).sum())
    sizes = np.unique(labels, return_counts=True)[1].astype(np.int64)
    return summary(found, len(wanted), int((sizes * (sizes - 1) // 2).sum()))


def summary(found: int, wanted: int, reported: int) -> dict[str, Any]:
    return {
        "true_pairs": wanted,
        "reported": reported,
        "recall": found / max(1, wanted),
        "below": reported - found,
        "precision": found / max(1, reported),
    }
