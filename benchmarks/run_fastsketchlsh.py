"""FastSketchLSH: sketches and LSH in C++, on shingles cut in Python; candidates as its index gives
them, not verified.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from FastSketchLSH import LSH, FastSimilaritySketch

from benchmarks import side
from benchmarks.runner import Pairs, Runner, chunks, shingles


def sign(texts: list[str]) -> np.ndarray:
    sketch = FastSimilaritySketch(side.PERMUTATIONS)
    parts = (sketch.batch([shingles(t) for t in part], num_threads=1) for part in chunks(texts))
    return np.concatenate([np.asarray(part, dtype=np.uint64) for part in parts])


def build(texts: list[str]) -> tuple[np.ndarray, Any]:
    matrix = sign(texts)
    lsh = LSH(side.PERMUTATIONS, side.BANDS, num_threads=1)
    lsh.reserve(len(texts))
    lsh.insert(matrix)
    return matrix, lsh


def pairs(texts: list[str]) -> Pairs:
    matrix, lsh = build(texts)
    return [(a, b) for a, found in enumerate(lsh.query(matrix)) for b in found if a < b]


def index(texts: list[str]) -> Callable[[str], Any]:
    _, lsh = build(texts)
    sketch = FastSimilaritySketch(side.PERMUTATIONS)

    def look_up(text: str) -> Any:
        return lsh.query(np.asarray(sketch.batch([shingles(text)], num_threads=1)[0], np.uint64))

    return look_up


if __name__ == "__main__":
    Runner("fastsketchlsh", "FastSketchLSH", sign=sign, pairs=pairs, index=index).main()
