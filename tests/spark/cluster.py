"""`make spark`: a master and two workers as processes of their own, one of which is killed midway.

The run goes on with the other worker, and decides as the local engine does. Ports are chosen by the
system.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

import neardup as nd
from conftest import DATA
from neardup.progress import Silent
from online.test_equality import real

MASTER = "org.apache.spark.deploy.master.Master"
WORKER = "org.apache.spark.deploy.worker.Worker"
LONGEST = 180  # seconds that a process may take to say that it is there


@contextmanager
def started(folder: Path, *arguments: str, until: str) -> Iterator[tuple[Any, str]]:
    """A process of Spark, and what it said when it was there."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    environment |= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    log = (folder / f"{len(list(folder.iterdir()))}.log").open("w+b")
    command = [str(home / "bin" / "spark-class"), *arguments]
    process = subprocess.Popen(
        command, stdout=log, stderr=subprocess.STDOUT, env=environment, start_new_session=True
    )
    try:
        yield process, _said(log, until, process)
    finally:
        _kill(process)
        log.close()


def _said(log: IO[bytes], until: str, process: Any) -> str:
    end = time.monotonic() + LONGEST
    while time.monotonic() < end and process.poll() is None:
        text = Path(log.name).read_text("utf-8", "replace")
        if found := re.search(until, text):
            return found[1]
        threading.Event().wait(0.2)
    raise RuntimeError(Path(log.name).read_text("utf-8", "replace")[-2000:])


def _kill(process: Any) -> None:
    """It and the executors it started; nobody else."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class KillsWhenMatching(Silent):
    """When documents are signed, and what was signed lies on both machines."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def stage(self, name: str, *rest: Any, **more: Any) -> None:
        del rest, more
        if name == "matching":
            _kill(self.process)


def main() -> None:
    warnings.simplefilter("ignore")
    documents = [{**one, "at": at} for at, one in enumerate(real(DATA, "press_de", 600))]
    with tempfile.TemporaryDirectory(prefix="neardup-cluster-") as made:
        folder = Path(made)
        master = started(
            folder, MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0",
            until=r"Starting Spark master at (spark://\S+)",
        )  # fmt: skip
        with master as (_, url):
            worker = (WORKER, url, "--host", "127.0.0.1", "--cores", "1", "--memory", "1g")
            worker += ("--port", "0", "--webui-port", "0")
            there = r"(Successfully registered with master)"
            one, other = (started(folder, *worker, until=there) for _ in range(2))
            with one as (first, _), other:
                _check(url, first, documents)


def _check(url: str, first: Any, documents: list[dict[str, Any]]) -> None:
    from pyspark.sql import SparkSession

    from neardup.plan import resolve, settings_of
    from neardup.spark.frames import FrameInput
    from neardup.spark.run import run
    from neardup.spark.session import session

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings: dict[str, Any] = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.log.level": "OFF",
    }
    spark = session(SparkSession.builder.master(url).config(map=settings).getOrCreate())
    given = {"method": "shingles", "kinds": "none"}
    plan = resolve(settings_of(given))
    frame = spark.createDataFrame(pa.Table.from_pylist(documents)).repartition(6)
    found = run(
        spark, FrameInput(frame, plan.columns, "at"), plan, progress=KillsWhenMatching(first)
    )
    assert first.poll() is not None, "the worker was not killed"
    columns = ["id", "decision", "reason", "kept_id", "score", "cluster"]
    ours = found.collected().decisions.select(columns).to_pylist()
    assert ours == nd.dedup(documents, **given).decisions.select(columns).to_pylist()
    spark.stop()
    print(f"one of two workers was killed; the answer is the same: {found.counts.sentence()}")


if __name__ == "__main__":
    main()
