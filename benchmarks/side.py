"""What the runners share: the settings, the corpus in memory, clusters, and the line they print.

Heavy modules are imported inside, because a runner that only starts a command must stay small:
a child process inherits the peak memory of its parent.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

THRESHOLD = 0.8
WORDS = 5
BANDS, ROWS = 16, 8
PERMUTATIONS = BANDS * ROWS
WARM_UP = 64  # documents given to each side before the clock starts


def load_arrow(parquet: str) -> Any:
    """The texts as one LargeStringArray."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pq.read_table(parquet, columns=["text"])["text"]
    return column.cast(pa.large_string()).combine_chunks()


def load_jsonl(path: str) -> list[str]:
    import orjson

    with open(path, "rb") as file:
        return [orjson.loads(line)["text"] for line in file]


def components(a: Any, b: Any, n: int) -> Any:
    """Cluster labels of n documents joined by the pairs (a, b)."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(a), dtype=bool), (a, b)), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def save_labels(labels: Any, out: str) -> int:
    """Keep the clusters for the quality row; how many documents they would set aside."""
    import numpy as np

    Path(out).parent.mkdir(parents=True, exist_ok=True)
    np.savez(out, labels=labels)
    return len(labels) - len(np.unique(labels))


def text_mb(texts: Any) -> float:
    """Bytes of an Arrow string array, in millions."""
    import pyarrow.compute as pc

    return pc.sum(pc.binary_length(texts)).as_py() / 1e6


def file_mb(path: str) -> float:
    return os.path.getsize(path) / 1e6


def peak_mb() -> float:
    """Peak resident memory of this process alone (ru_maxrss would count the parent's too)."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


class Begin(NamedTuple):
    wall: float
    processor: float


def begin() -> Begin:
    return Begin(time.perf_counter(), time.process_time())


def cost_since(start: Begin) -> dict[str, float]:
    """``processor``: user and system time, which other work on the machine changes less."""
    wall, processor = time.perf_counter() - start.wall, time.process_time() - start.processor
    return {"wall": wall, "processor": processor, "peak_mb": peak_mb()}


def report(side: str, row: str, *, wall: float, docs: int, mb: float, **more: Any) -> None:
    line = {"side": side, "row": row, "wall": wall, "docs": docs, "mb": mb}
    rates = {"mb_s": mb / wall, "docs_s": docs / wall}
    json.dump({**line, **rates, **more}, sys.stdout)
    print()
