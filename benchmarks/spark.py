"""The same work on Spark, by our local engine and by Spark's MLlib, in one run.

`python -m benchmarks.spark` prints a line of JSON a side: JSONL → decisions at a resemblance of 0.8
on two cores. Sessions are started, and have done a few documents, before the clock; ours has the
Java options of a session that neardup starts, MLlib's has Java's own. Beside seconds it says what
goes into docs/scale.md: bytes shuffled and spilled, CPU seconds, and the most memory of the Java
machine and of all Python workers at one moment.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks import corpus, peers

SIDES = ("spark", "local", "mllib")
THRESHOLD = 0.8
TICKS = os.sysconf("SC_CLK_TCK")
WARM_UP = corpus.ROOT / "examples" / "news.jsonl"
WARM_UP_RANGE = 20_000  # bytes, so that both cores have a Python worker
STEP = 0.25  # seconds between two looks at the processes


class Watched(threading.Thread):
    """The memory and CPU of this process and all it started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = self.java = self.workers = 0
        self.cpu: dict[int, float] = {}
        self.java_pid = 0
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(STEP):
            self.look()

    def look(self) -> None:
        java = workers = 0
        for pid in _descendants(os.getpid()):
            try:
                name = Path(f"/proc/{pid}/comm").read_text().strip()
                size = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
                times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            self.cpu[pid] = (int(times[11]) + int(times[12])) / TICKS
            self.java_pid = pid if name == "java" else self.java_pid
            java, workers = (java + size, workers) if name == "java" else (java, workers + size)
        self.peak = max(self.peak, java + workers)
        self.java, self.workers = max(self.java, java), max(self.workers, workers)

    def stop(self) -> dict[str, Any]:
        self._done.set()
        self.look()
        mb = {"peak": self.peak, "java": self.java, "python": self.workers}
        return {f"{name}_mb": round(size / 1e6) for name, size in mb.items()}


def _descendants(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found, queue = [root], [root]
    while queue:
        more = parents.get(queue.pop(), [])
        found += more
        queue += more
    return found


def started(master: str, log: str, **more: Any) -> Any:
    """With a log of its events, which say what was shuffled."""
    from pyspark.sql import SparkSession

    from neardup.engines.spark.session import session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, Any] = {
        "spark.driver.memory": "6g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "OFF",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{log}",
        "spark.eventLog.compress": "false",
        "spark.eventLog.rolling.enabled": "false",
    }
    settings |= more
    made = SparkSession.builder.master(master).config(map=settings).getOrCreate()
    return session(made)


def metrics(log: str) -> dict[str, Any]:
    """Added up over all tasks."""
    totals = dict.fromkeys(("shuffled", "spilled_memory", "spilled_disk", "java_cpu_s"), 0.0)
    for file in Path(log).iterdir():
        for line in file.read_text("utf-8").splitlines():
            try:
                event = json.loads(line)
            except ValueError:  # it is being written
                continue
            told = event.get("Task Metrics") if event["Event"] == "SparkListenerTaskEnd" else None
            if told:
                totals["shuffled"] += told["Shuffle Write Metrics"]["Shuffle Bytes Written"]
                totals["spilled_memory"] += told["Memory Bytes Spilled"]
                totals["spilled_disk"] += told["Disk Bytes Spilled"]
                totals["java_cpu_s"] += told["Executor CPU Time"] / 1e9
    return {name: round(value, 1) for name, value in totals.items()}


def _since(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value - before[name], 1) for name, value in after.items()}


def on_spark(path: Path, master: str, method: str) -> dict[str, Any]:
    from neardup.documents import collect
    from neardup.engines.spark.session import QUICK
    from neardup.engines.spark.spark_files import FileInput
    from neardup.engines.spark.spark_run import run
    from neardup.plan import resolve
    from neardup.settings import settings_of

    with tempfile.TemporaryDirectory(prefix="neardup-bench-") as log:
        spark = started(master, log, **{"spark.driver.defaultJavaOptions": QUICK})
        plan = resolve(settings_of({"method": method, "kinds": "none"}))
        few = FileInput(spark, collect(str(WARM_UP)), plan, range_bytes=WARM_UP_RANGE)
        warm = run(spark, few, plan)
        warm.decisions.count()
        before_log = metrics(log)
        watched = Watched()
        watched.look()
        before = sum(watched.cpu.values())
        java_before = watched.cpu.get(watched.java_pid, 0.0)
        watched.start()
        settings = {"method": method, "kinds": "none"}
        if method == "shingles":
            settings["threshold"] = THRESHOLD  # type: ignore[assignment]
        plan = resolve(settings_of(settings))
        began = time.perf_counter()
        result = run(spark, FileInput(spark, collect(str(path)), plan), plan)
        result.decisions.count()
        seconds = time.perf_counter() - began
        memory = watched.stop()
        cpu = sum(watched.cpu.values()) - before
        java_cpu = watched.cpu.get(watched.java_pid, 0.0) - java_before
        spark.stop()
        return {
            "seconds": round(seconds, 2),
            "cpu_s": round(cpu, 1),
            "java_process_cpu_s": round(java_cpu, 1),
            **memory,
            **_since(before_log, metrics(log)),
            "counts": vars(result.counts),
            "statistics": result.info["statistics"],
            "timings": result.info["timings"],
        }


def locally(path: Path, _master: str, method: str) -> dict[str, Any]:
    import neardup as nd

    settings = {"threshold": THRESHOLD} if method == "shingles" else {}
    watched = Watched()
    watched.start()
    began = time.perf_counter()
    result = nd.dedup(str(path), method=method, kinds="none", **settings)
    seconds = time.perf_counter() - began
    memory = watched.stop()
    cpu = sum(watched.cpu.values())
    return {"seconds": round(seconds, 2), "cpu_s": cpu, **memory, "counts": vars(result.counts)}


def _texts(path: Path) -> list[str]:
    with path.open("rb") as lines:
        return [json.loads(line)["text"] for line in lines]


def by_mllib(path: Path, master: str, _method: str) -> dict[str, Any]:
    """As in `run_spark.py`: exact resemblance of the candidates of five tables."""
    from benchmarks import run_spark

    with tempfile.TemporaryDirectory(prefix="neardup-bench-") as log:
        run_spark.SESSION = started(master, log)
        run_spark.pairs(_texts(path)[:200])  # not the example: texts without \w end it
        before = metrics(log)
        watched = Watched()
        watched.look()
        cpu = sum(watched.cpu.values())
        watched.start()
        began = time.perf_counter()
        pairs = run_spark.pairs(_texts(path))
        seconds = time.perf_counter() - began
        memory = {**watched.stop(), "cpu_s": round(sum(watched.cpu.values()) - cpu, 1)}
        run_spark.SESSION.stop()
        return {
            "seconds": round(seconds, 2),
            **memory,
            **_since(before, metrics(log)),
            "pairs": len(pairs),
        }


WORK = {"spark": on_spark, "local": locally, "mllib": by_mllib}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--docs", type=int, default=corpus.FULL, metavar="N")
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=list(SIDES), metavar="SIDE")
    parser.add_argument("--master", default="local[2]", metavar="URL")
    parser.add_argument("--method", default="shingles", metavar="NAME")
    parser.add_argument("--limit", type=float, default=3600.0, metavar="SECONDS", help="of a side")
    parser.add_argument("--one", metavar="SIDE", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    made = corpus.make(options.docs, peers.common)
    if options.one:
        print(json.dumps(WORK[options.one](made.jsonl, options.master, options.method)))
        return
    for one in options.sides:  # a process each, so that none inherits the memory of another
        command = [sys.executable, "-m", "benchmarks.spark", "--one", one]
        command += ["--docs", str(options.docs), "--master", options.master]
        command += ["--method", options.method]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=options.limit, check=False
            )
            said = done.stdout.strip().splitlines() or ["{}"]
            line = json.loads(said[-1]) if done.returncode == 0 else {"error": done.stderr[-500:]}
        except subprocess.TimeoutExpired:
            line = {"error": f"not done in {options.limit:.0f} s"}
        load = round(os.getloadavg()[0], 1)
        print(json.dumps({"side": one, "docs": options.docs, "load": load, **line}), flush=True)


if __name__ == "__main__":
    main()
