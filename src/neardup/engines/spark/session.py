"""The Spark session, and the exchange with tasks: the plan, pieces of work, and errors.

An existing session is used as it is; a new one is started with the settings of neardup. Python
workers use the interpreter of the driver unless the user named one (``PYSPARK_PYTHON``,
``spark.pyspark.python``): on a cluster that is the path of an unpacked environment. The plan is
sent once to each machine, with artefacts and their digests. A task unpacks it on first use and
keeps it for the next task of its worker; artefacts that changed on the way are refused. Work that
the driver lists, such as pieces of files and references, is distributed over tasks. An error in a
task is reported on the driver as in a local run.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from neardup import errors
from neardup.engines.index.index_artefacts import packed, unpacked
from neardup.errors import MissingExtraError, NeardupError, UsageError
from neardup.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "neardup"
BATCH_ROWS, BATCH_BYTES = 10_000, 32 << 20
# Sizes of batches for Python workers, read when a query is planned. The last setting keeps tables
# of the driver out of plans, which Spark compares and copies many times.
ARROW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.localRelationThreshold": "0",
}
# For a Java machine that runs only our tasks: they wait for Python, so fast compilation is better
# than optimised code. Options of the user come after these.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"


def check_pyspark() -> None:
    """Reports, before any work, if Spark cannot run here."""
    try:
        import pandas  # noqa: F401  # pyspark asks for it without requiring it
        import pyspark
    except ImportError as error:
        raise MissingExtraError(
            f"Running on Spark needs {error.name}, which is not installed.",
            hint="pip install 'neardup[spark]'",
        ) from error
    if int(pyspark.__version__.split(".")[0]) < 4:
        raise MissingExtraError(
            f"Running on Spark needs pyspark 4 or later; {pyspark.__version__} is installed.",
            hint="pip install 'neardup[spark]'",
        )


def check_java() -> None:
    home = os.environ.get("JAVA_HOME")
    has_java = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not has_java:
        where = f"JAVA_HOME is {home}, where there is none" if home else "there is none on PATH"
        raise MissingExtraError(
            f"Spark needs Java 17 or later, and {where}.",
            hint="install a Java runtime, such as openjdk-17-jre-headless, or set JAVA_HOME.",
        )


def session(given: SparkSession | None = None, *, master: str | None = None) -> SparkSession:
    """The given session, the active one, or a new one on ``master``."""
    check_pyspark()
    from pyspark.sql import SparkSession

    active = given or SparkSession.getActiveSession()
    if active is not None:
        return _prepared(active, master)
    check_java()
    python = os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", python)
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.showConsoleProgress": "false",
        **({"spark.driver.defaultJavaOptions": QUICK} if _is_local(master) else {}),
    }
    if master or "SPARK_REMOTE" not in os.environ:
        builder = SparkSession.builder.appName(NAME).config(map=settings)
        started = (builder.master(master) if master else builder).getOrCreate()
        return _prepared(started, None)
    raise _no_connect()


def _prepared(spark: SparkSession, master: str | None) -> SparkSession:
    try:
        context = spark.sparkContext
    except Exception as error:  # Spark Connect raises an error of a different class
        raise _no_connect() from error
    if master is not None and context.master != master:
        raise UsageError(
            f"A session on {context.master} is active; the master asked for is {master}.",
            hint="stop that session first, or leave the master out.",
        )
    named = os.environ.get("PYSPARK_PYTHON") or spark.conf.get("spark.pyspark.python", None)
    if not named:
        context.pythonExec = sys.executable
    return spark


def _is_local(master: str | None) -> bool:
    """Whether the Java machine of the driver also runs the tasks."""
    return (master or "").startswith("local")


@contextmanager
def lent(spark: SparkSession) -> Iterator[None]:
    """Runs with our settings; afterwards the session has its own again."""
    before = {name: spark.conf.get(name, None) for name in ARROW}
    for name, value in ARROW.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, own in before.items():
            if own is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, own)


def _no_connect() -> UsageError:
    return UsageError(
        "Spark Connect sessions cannot run neardup: it needs the session's own driver.",
        hint="start a classic session, with spark-submit or SparkSession.builder.master(…).",
    )


@dataclass(frozen=True)
class Carried:
    """Provides the plan in a task; ``broadcast`` has it as bytes."""

    broadcast: Any
    digest: str

    def plan(self) -> Plan:
        return _unpacked(self.digest, _Bytes(self.broadcast))


@dataclass(frozen=True, eq=False)
class _Bytes:
    """The bytes of a plan. Plans are remembered by their digest, not by the bytes."""

    broadcast: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes)

    def __hash__(self) -> int:
        return 0


def carried(spark: SparkSession, plan: Plan) -> Carried:
    """The plan for tasks, with one thread each, because Spark runs tasks in parallel."""
    alone = replace(plan, artefacts={}, workers=1)
    data = pickle.dumps((alone, packed(plan.artefacts), plan.digests))
    digest = hashlib.sha256(data).hexdigest()[:32]
    return Carried(spark.sparkContext.broadcast(data), digest)


@functools.lru_cache(maxsize=2)
def _unpacked(digest: str, data: _Bytes) -> Plan:  # noqa: ARG001 (what it is remembered by)
    plan, files, digests = pickle.loads(data.broadcast.value)
    complete: Plan = replace(plan, artefacts=unpacked(files, plan.method, digests))
    return complete


def spread(
    spark: SparkSession,
    items: Sequence[Any],
    work: Callable[[Iterator[Any]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """The results of ``work`` for the items, each in its own task. The rows that Spark distributes
    are numbers: rows of Python objects would need one more Python worker for each task."""
    shared = spark.sparkContext.broadcast([pickle.dumps(item) for item in items])

    def map_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (number for rows in batches for number in rows.column(0).to_pylist())
        return work(pickle.loads(shared.value[number]) for number in numbers)

    return spark.range(0, len(items), 1, max(len(items), 1)).mapInArrow(map_numbers, schema)


_RAISED = re.compile(r"neardup\.errors\.(\w+): (.*?)(?:\n\n|\n\s*SQLSTATE|\n\tat |\Z)", re.DOTALL)
HINT = " Hint: "


@contextmanager
def as_ours() -> Iterator[None]:
    """Raises an error of neardup that a task raised; all other errors stay as they are."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:  # what a collect raises is the latter
        ours = _ours(str(error))
        if ours is None:
            raise
        raise ours from error


def _ours(said: str) -> NeardupError | None:
    match = _RAISED.search(said)
    kind = getattr(errors, match[1], None) if match else None
    if match is None or not (isinstance(kind, type) and issubclass(kind, NeardupError)):
        return None
    message, _, hint = match[2].strip().partition(HINT)
    return kind(message, hint=hint or None)
