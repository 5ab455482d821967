"""neardup: signatures and decisions by its Python API, timed after imports as the peers are; whole
runs by its command line, start-up and the writing of the kept documents included.

usage: run_neardup signatures FILE.parquet
       run_neardup decide FILE.jsonl WORKERS
       run_neardup simhash|lookup|group|levels FILE.parquet
       run_neardup dedup|find FILE.jsonl OUT WORKERS [METHOD]
       run_neardup default FILE.jsonl OUT WORKERS [METHOD]
       run_neardup help
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import side

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from neardup.engines.ranked import Grouper

LIST, LISTS = 500, 200  # results in a list, and how many lists are timed
COMMAND = Path(sys.executable).with_name("neardup")


def signatures(texts: pa.LargeStringArray) -> np.ndarray:
    """128 MinHash values of word 5-shingles a document, by `shingles`."""
    from neardup import Shingles

    return Shingles().signatures(texts)


def command(*arguments: str) -> dict[str, float]:
    """Seconds of the clock, of the processor and of the system among these, and the peak memory, of
    one `neardup …` process."""
    if not COMMAND.exists():
        sys.exit(f"neardup is not installed beside {Path(sys.executable).name}; run `make dev`")
    with tempfile.TemporaryFile() as log:
        start = time.perf_counter()
        process = subprocess.Popen([COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        if code := os.waitstatus_to_exitcode(status):
            log.seek(0)
            words = log.read().decode(errors="replace").split("\n")
            said = next((line for line in reversed(words) if line.strip()), "nothing")
            sys.exit(f"neardup {arguments[0]} ended with exit code {code} and said: {said}")
    return {
        "wall": wall,
        "processor": usage.ru_utime + usage.ru_stime,
        "system": usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
    }


def time_signatures(parquet: str) -> None:
    texts = side.load_arrow(parquet)
    mb = side.text_mb(texts)
    signatures(texts[: side.WARM_UP])
    start = side.begin()
    matrix = signatures(texts)
    cost = side.cost_since(start)
    assert matrix.shape == (len(texts), side.PERMUTATIONS), matrix.shape
    report("signatures", docs=len(texts), mb=mb, **cost)


def time_decide(jsonl: str, workers: str) -> None:
    """From the file to the table of decisions; nothing is written."""
    import neardup

    neardup.dedup(["a warm-up that loads every module"], method="shingles", workers=1)
    start = side.begin()
    result = neardup.dedup(Path(jsonl), method="shingles", workers=int(workers), kinds="none")
    cost = side.cost_since(start)
    counts = result.counts
    report(
        "decide",
        docs=counts.documents,
        mb=side.file_mb(jsonl),
        duplicates=counts.duplicates,
        workers=int(workers),
        **cost,
    )


def time_simhash(parquet: str) -> None:
    """From texts to fingerprints and the keys of all tables: what an index holds."""
    import pyarrow as pa

    from neardup import SimHash

    texts = side.load_arrow(parquet)
    mb = side.text_mb(texts)
    method = SimHash()
    batches = pa.table({"text": texts}).to_batches(max_chunksize=1000)
    method.prepare(batches[0])
    start = side.begin()
    for batch in batches:
        method.prepare(batch)
    report("simhash", docs=len(texts), mb=mb, **side.cost_since(start))


def time_levels(parquet: str) -> None:
    """Megabytes a second of processor time, by work and level of instructions: the best of three
    passes, the levels in turn."""
    import pyarrow as pa

    from neardup import Shingles, SimHash, _native
    from neardup.methods.qgrams import Qgrams

    texts = side.load_arrow(parquet)
    mb = side.text_mb(texts)
    batches = pa.table({"text": texts}).to_batches(max_chunksize=1000)

    def prepare(method: Any) -> None:
        for batch in batches:
            method.prepare(batch)

    works: dict[str, Callable[[], object]] = {
        "128 MinHash values": lambda: signatures(texts),
        "SimHash": lambda: prepare(SimHash()),
        "shingles": lambda: prepare(Shingles()),
        "q-grams": lambda: prepare(Qgrams()),
    }
    best: dict[str, dict[str, float]] = {work: {} for work in works}
    start = time.perf_counter()
    for _ in range(3):
        for level in _native.INSTRUCTIONS:
            _native.use_instructions(level)
            for work, run in works.items():
                busy = time.process_time()
                run()
                speed = mb / (time.process_time() - busy)
                best[work][level] = max(best[work].get(level, 0.0), speed)
    report("levels", wall=time.perf_counter() - start, docs=len(texts), mb=mb, levels=best)


def time_group(parquet: str) -> None:
    """Lists of documents in the order of the file, from their texts and from ready signatures; as
    far as the text that a search engine would print."""
    from neardup.engines.ranked import Grouper

    texts = side.load_arrow(parquet).to_pylist()
    starts = [LIST * i % max(len(texts) - LIST + 1, 1) for i in range(LISTS)]
    lists = [[{"id": str(i), "text": texts[i]} for i in range(at, at + LIST)] for at in starts]
    grouper = Grouper()
    signed = [grouper.sign(results) for results in lists]
    from_text = [_milliseconds(grouper, results) for results in lists]
    both = zip(lists, signed, strict=True)
    ready = [_milliseconds(grouper, results, signatures=made) for results, made in both]
    size = sum(len(one or b"") for made in signed for one in made) / (LIST * LISTS)
    report(
        "group",
        wall=sum(clock for clock, _ in from_text) / 1000,
        docs=LIST * LISTS,
        mb=sum(len(one["text"].encode()) for results in lists for one in results) / 1e6,
        text_ms=_percentiles(from_text),
        signatures_ms=_percentiles(ready),
        signature_bytes=size,
    )


def _milliseconds(grouper: Grouper, results: Any, **listing: Any) -> tuple[float, float]:
    """On the clock, and of the processor alone: other processes may be at work."""
    start, busy = time.perf_counter(), time.process_time()
    str(grouper.group(results, **listing))
    return (time.perf_counter() - start) * 1000, (time.process_time() - busy) * 1000


def _percentiles(times: list[tuple[float, float]]) -> list[float]:
    """The median and the 99th on the clock, the median of the processor."""
    clock, processor = (sorted(side) for side in zip(*times, strict=True))
    middle, last = len(clock) // 2, len(clock) * 99 // 100
    return [clock[middle], clock[last], processor[middle]]


def time_lookup(parquet: str) -> None:
    """One text asked of an index in memory: the passes of the other sides."""
    from benchmarks.runner import Runner
    from neardup import Index

    def index(texts: list[str]) -> Callable[[str], Any]:
        made = Index.open("memory:", method="shingles")
        for start in range(0, len(texts), 10_000):
            made.add_many(texts[start : start + 10_000])
        return lambda text: [match] if (match := made.check(text)) else []

    Runner("neardup", "neardup", index=index).lookup(parquet)


def time_run(name: str, jsonl: str, out: str, workers: str, method: str = "") -> None:
    shutil.rmtree(out, ignore_errors=True)
    chosen = ["--method", method] if method else []
    if name != "default":  # peers do not say what kind a duplicate is
        chosen = ["--method", method or "shingles", "--kinds", "none"]
    run = "find" if name == "find" else "dedup"
    cost = command(run, jsonl, "-o", out, "--workers", workers, *chosen)
    docs, duplicates = count_decisions(out) if run == "dedup" else (count_lines(jsonl), None)
    figures = {"duplicates": duplicates, "workers": int(workers), "method": method}
    report(name, docs=docs, mb=side.file_mb(jsonl), **cost, **figures)


def time_help() -> None:
    report("help", docs=0, mb=0, **command("--help"))


def count_decisions(out: str) -> tuple[int, int]:
    """Documents decided and documents set aside."""
    import pyarrow.parquet as pq

    decisions = pq.read_table(Path(out) / "decisions.parquet", columns=["decision"])
    values = decisions["decision"].to_pylist()
    return len(values), values.count("duplicate")


def count_lines(path: str) -> int:
    with open(path, "rb") as file:
        return sum(1 for _ in file)


def report(row: str, **figures: Any) -> None:
    side.report("neardup", row, version=version("neardup"), **figures)


if __name__ == "__main__":
    row, *arguments = sys.argv[1:]
    if row in ("dedup", "find", "default"):
        time_run(row, *arguments)
    else:
        rows = {
            "levels": time_levels,
            "signatures": time_signatures,
            "simhash": time_simhash,
            "decide": time_decide,
        }
        {**rows, "lookup": time_lookup, "help": time_help, "group": time_group}[row](*arguments)
