"""Peak memory, time and disk of runs over many short documents under ``--memory``.

    python -m benchmarks.capped_memory --documents 1000000 --memory 500MB --method shingles simhash

makes so many documents of about 650 bytes (pseudo-words of a fixed seed; one in five is an edited
copy of an earlier document) as JSON Lines, runs ``neardup dedup`` on them once a method in a
process of its own, and prints a line for each: wall time, processor time, the peak of resident
memory as the system counted it, the largest size of spool files, and the counts of the run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

WORDS, LENGTH, BATCH = 50_000, 95, 10_000
COPIES, EDITS = 0.2, 4  # the share of edited copies, and the words that are replaced in one


def vocabulary(rng: np.random.Generator) -> np.ndarray:
    letters = rng.integers(97, 123, (WORDS, 10)).astype(np.uint8)
    sizes = rng.integers(3, 10, WORDS)
    return np.array([bytes(row[:n]).decode() for row, n in zip(letters, sizes, strict=True)])


def texts(documents: int) -> Iterator[list[str]]:
    """Batches; a copy is of a document of its batch or of the one before."""
    rng = np.random.default_rng(1)
    words, before = vocabulary(rng), None
    for first in range(0, documents, BATCH):
        count = min(BATCH, documents - first)
        # A long tail: squares of uniform numbers.
        batch = (WORDS * rng.random((count, LENGTH)) ** 2).astype(np.int64)
        pool = batch if before is None else np.concatenate([before, batch])
        for i in np.flatnonzero(rng.random(count) < COPIES):
            if earlier := len(pool) - count + i:
                batch[i] = pool[rng.integers(earlier)]
            places = rng.integers(0, LENGTH, EDITS)
            batch[i, places] = rng.integers(0, WORDS, EDITS)
        before = batch
        yield [" ".join(row) for row in words[batch].tolist()]


def write(path: Path, documents: int) -> None:
    number = 0
    with path.open("w") as file:
        for batch in texts(documents):
            for text in batch:
                file.write(f'{{"id": "{number}", "text": "{text}"}}\n')
                number += 1


def free(folder: Path) -> int:
    return shutil.disk_usage(folder).free


def run(path: Path, method: str, memory: str, workers: int, folder: Path) -> str:
    command = [sys.executable, "-m", "neardup", "dedup", str(path), "--method", method]
    out = folder / f"out-{method}"
    command += ["-o", str(out), "--memory", memory, "--workers", str(workers), "--overwrite"]
    least, done, before = [free(folder)], threading.Event(), free(folder)

    def watch() -> None:
        while not done.wait(0.5):
            least[0] = min(least[0], free(folder))

    watching = threading.Thread(target=watch)
    watching.start()
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read().decode().splitlines()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    done.set()
    watching.join()
    if status:
        return f"{method}: {said[-1] if said else status}"
    counts = json.loads((out / "run.json").read_text())["counts"]
    shutil.rmtree(out)
    peak = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return (
        f"{method}: {wall:.0f} s, {used.ru_utime:.0f} s user, {used.ru_stime:.0f} s system, "
        f"peak {peak / 1e6:,.0f} MB, disk {(before - least[0]) / 1e6:,.0f} MB, "
        f"{counts['kept']:,} kept, {counts['duplicates']:,} duplicates"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--method", nargs="+", default=["simhash", "shingles"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--input", type=Path, help="these documents, instead of made ones")
    given = parser.parse_args()
    path = given.input or given.folder / f"short-{given.documents}.jsonl"
    if not path.exists():
        write(path, given.documents)
    for method in given.method:
        print(run(path, method, given.memory, given.workers, given.folder), flush=True)


if __name__ == "__main__":
    main()
