"""A master and two workers as processes of their own: one task runs twice at once, one worker dies.

A task of the run waits until Spark has started a copy of it on the other worker (speculation); when
documents are signed one worker is killed. The run goes on, and decides as the local engine does.
It is a program of its own (``python -m engines.spark.cluster``), because a process has one Spark.
Ports are chosen by the system.
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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import SparkSession

import neardup as nd
from conftest import DATA
from engines.index.test_equality import real
from neardup.engines.spark.session import session
from neardup.engines.spark.spark_frames import FrameInput
from neardup.engines.spark.spark_run import run
from neardup.engines.spark.spark_signing import Taken, Work
from neardup.plan import resolve
from neardup.progress import Silent
from neardup.settings import settings_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MASTER = ("org.apache.spark.deploy.master.Master", "--host", "127.0.0.1")
WORKER = ("org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "1g")
PORTS = ("--port", "0", "--webui-port", "0")
# Spark starts a copy on another machine only, and knows machines by their names.
HOSTS = ("127.0.0.1", "localhost")
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LONGEST = 180  # seconds that something may take to happen
PARTITIONS = 2
METHOD: dict[str, Any] = {"method": "shingles", "kinds": "none"}
COLUMNS = ["id", "decision", "reason", "kept_id", "score", "cluster"]
SETTINGS: dict[str, Any] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.defaultJavaOptions": QUICK,
    "spark.executor.defaultJavaOptions": QUICK,
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # no task before both are there
    "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{LONGEST}s",
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.5",
    "spark.shuffle.io.maxRetries": "1",  # who is killed does not come back
    "spark.shuffle.io.retryWait": "100ms",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.log.level": "OFF",
}


@contextmanager
def started(log: Path, *arguments: str, host: str) -> Iterator[Any]:
    """A process of Spark."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_HOSTNAME": host,
        "SPARK_WORKER_DIR": str(log.parent),
        "SPARK_DAEMON_JAVA_OPTS": QUICK,
        "PYSPARK_PYTHON": sys.executable,
    }
    command = [str(home / "bin" / "spark-class"), *arguments]
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=environment, start_new_session=True
        )
        try:
            yield process
        finally:
            _kill(process)


def _kill(process: Any) -> None:
    """It and the executors it started; nobody else."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _until(found: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + LONGEST
    while not (seen := found()):
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not happen in {LONGEST} s")
        threading.Event().wait(0.05)
    return seen


def _url(log: Path) -> str:
    said = r"Starting Spark master at (spark://\S+)"
    found = _until(lambda: re.search(said, log.read_text("utf-8", "replace")), "a master")
    return str(found[1])


def meet_copy(folder: Path) -> None:
    """The first task waits for a copy of itself and the copy for the word that it was seen, so
    both run at one time; then both do all of the work. Later, nobody waits."""
    from pyspark import TaskContext

    task = TaskContext.get()
    assert task is not None
    both = folder / "both"
    if task.partitionId() == 0 and not both.exists():
        (folder / f"attempt-{task.attemptNumber()}").touch()
        if task.attemptNumber() == 0:
            _until((folder / "attempt-1").exists, "a copy of the task")
            both.touch()
        _until(both.exists, "a word of the first task")


@dataclass
class MeetsItsCopy(FrameInput):
    folder: Path = Path()

    def mapped(self, work: Work, schema: str) -> DataFrame:
        folder = self.folder

        def met(taken: Iterator[Taken]) -> Iterator[pa.RecordBatch]:
            meet_copy(folder)
            return work(taken)

        return super().mapped(met, schema)


class KillsWhenMatching(Silent):
    """When documents are signed, and what was signed lies on both machines."""

    def __init__(self, process: Any) -> None:
        self.process = process

    def stage(self, name: str, *rest: Any, **more: Any) -> None:
        del rest, more
        if name == "matching":
            _kill(self.process)


def _decided(spark: SparkSession, worker: Any, documents: list[Any], folder: Path) -> list[Any]:
    plan = resolve(settings_of(METHOD))
    frame = spark.createDataFrame(pa.Table.from_pylist(documents)).repartition(PARTITIONS)
    given = MeetsItsCopy(frame, plan.columns, "at", folder)
    found = run(spark, given, plan, progress=KillsWhenMatching(worker))
    decided: list[Any] = found.collected().decisions.select(COLUMNS).to_pylist()
    return decided


def _check(url: str, worker: Any, folder: Path) -> None:
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    spark = session(SparkSession.builder.master(url).config(map=SETTINGS).getOrCreate())
    documents = [{**one, "at": at} for at, one in enumerate(real(DATA, "press_de", 200))]
    ours = _decided(spark, worker, documents, folder)
    spark.stop()
    attempts = sorted(path.name for path in folder.glob("attempt-*"))
    assert attempts == ["attempt-0", "attempt-1"], attempts
    assert worker.poll() is not None, "the worker was not killed"
    assert ours == nd.dedup(documents, **METHOD).decisions.select(COLUMNS).to_pylist()


def main() -> None:
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(prefix="neardup-cluster-") as made:
        folder = Path(made)
        logs = [folder / f"{name}.log" for name in ("master", "one", "other")]
        with started(logs[0], *MASTER, *PORTS, host=HOSTS[0]):
            url = _url(logs[0])
            one, other = (
                started(log, *WORKER, *PORTS, "--host", host, url, host=host)
                for log, host in zip(logs[1:], HOSTS, strict=True)
            )
            with one as worker, other:
                _check(url, worker, folder)
    print("a task ran twice at once, one of two workers was killed, and the answer is the same")


if __name__ == "__main__":
    main()
