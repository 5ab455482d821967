"""`python -m benchmarks.similarity [SET or FILE.parquet …]`: similarity vectors in a second, on one
core.

Profiles are made of up to 4,000 documents, with the frequencies of just these, and the vectors of
20,000 pairs of them drawn at random from the ready profiles, with the default measures and without
the one that needs words in their order. Sets are folders of `NEARDUP_DATA` (default:
../shared/data).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.__main__ import machine
from neardup.features import similarity
from neardup.features.similarity import MEASURES, vectors
from neardup.methods.profiles import needs, profiles
from neardup.testing import batch, resolved
from neardup.text.text_options import Text

DATA = Path(os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data")
SETS = ["press_de", "bbc_news"]
WITHOUT_ORDER = tuple(one for one in MEASURES if not one.startswith(similarity.ORDER_FAMILY))
DOCUMENTS, PAIRS, REPEAT = 4_000, 20_000, 3


def main() -> None:
    print(f"{machine()}; processor seconds, best of {REPEAT}; {len(MEASURES)} measures\n")
    print("| set | measures | documents | KB a document | profiles, MB/s | features | pairs/s |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for name in sys.argv[1:] or SETS:
        texts = texts_of(name)[:DOCUMENTS]
        for called, measures in (("default", MEASURES), ("without order", WITHOUT_ORDER)):
            print(f"| {Path(name).stem} | {called} | {row(texts, measures)} |", flush=True)


def texts_of(name: str) -> list[str]:
    if name.endswith(".parquet"):
        texts: list[str] = pq.read_table(name, columns=["text"])["text"].to_pylist()
        return texts
    with pa.input_stream(DATA / name / "docs.jsonl.zst", compression="zstd") as stream:
        return [json.loads(line)["text"] for line in stream.read().splitlines()]


def row(texts: list[str], measures: tuple[str, ...]) -> str:
    documents, text = batch(texts), Text()
    size = sum(len(one.encode()) for one in texts) / 1e6
    known = resolved(needs(text, measures), documents)
    making, made = best(lambda: profiles(documents, known, text, measures))
    a, b = np.random.default_rng(1).integers(0, len(texts), (2, PAIRS))
    comparing, _ = best(lambda: vectors(made, a, b, measures))
    return (
        f"{len(texts):,} | {1000 * size / len(texts):.1f} | {size / making:.0f} | "
        f"{len(made.values) / len(made):,.0f} | {PAIRS / comparing:,.0f}"
    )


def best(work: Callable[[], Any]) -> tuple[float, Any]:
    seconds = []
    for _ in range(REPEAT):
        start = time.process_time()
        found = work()
        seconds.append(time.process_time() - start)
    return min(seconds), found


if __name__ == "__main__":
    main()
