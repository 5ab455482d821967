"""The Spark session, and what tasks need of the driver: the plan, pieces of work, errors in return.

A session is taken as it is, or started with what neardup needs. Python workers take the interpreter
of the driver unless the user named one (``PYSPARK_PYTHON``, ``spark.pyspark.python``): on a cluster
that is the path of an unpacked environment. The plan travels once to a machine, artefacts with
their digests; a task unpacks it when it first needs it and keeps it for the next task of its
worker, and artefacts that changed on the way are refused. Work that the driver lists, such as
pieces of files and references, is spread over tasks. What goes wrong in a task is reported on the
driver as it would be in a local run.
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
from neardup.engines.index.index_settings import packed, unpacked
from neardup.errors import MissingExtraError, NeardupError, UsageError
from neardup.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "neardup"
BATCH_ROWS, BATCH_BYTES = 10_000, 32 << 20
# Of batches that go to Python workers and come back; read when a query is planned. Tables that the
# driver made are not part of plans, which Spark compares and copies many times.
ARROW = {
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    "spark.sql.execution.arrow.maxBytesPerBatch": str(BATCH_BYTES),
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.localRelationThreshold": "0",
}
# Of a Java machine that runs tasks of ours only: they wait for Python, so code that is compiled
# quickly serves them better than code that is compiled well. Options of the user come after these.
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC"


def check_pyspark() -> None:
    """Whether Spark can run here at all, said where the feature begins."""
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
    there = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not there:
        where = f"JAVA_HOME is {home}, where there is none" if home else "there is none on PATH"
        raise MissingExtraError(
            f"Spark needs Java 17 or later, and {where}.",
            hint="install a Java runtime, such as openjdk-17-jre-headless, or set JAVA_HOME.",
        )


def session(given: SparkSession | None = None, *, master: str | None = None) -> SparkSession:
    """The one that was given, the active one, or a new one on ``master``."""
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
        made = (builder.master(master) if master else builder).getOrCreate()
        return _prepared(made, None)
    raise _no_connect()


def _prepared(spark: SparkSession, master: str | None) -> SparkSession:
    try:
        context = spark.sparkContext
    except Exception as error:  # of Spark Connect: the class of its error is not that of others
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
    """Whether the driver's Java machine is the one that runs the tasks."""
    return (master or "").startswith("local")


@contextmanager
def lent(spark: SparkSession) -> Iterator[None]:
    """With our settings; the session has its own again afterwards."""
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
    """Gives the plan in a task; ``broadcast`` holds it as bytes."""

    broadcast: Any
    digest: str

    def plan(self) -> Plan:
        return _unpacked(self.digest, _Bytes(self.broadcast))


@dataclass(frozen=True, eq=False)
class _Bytes:
    """Not part of what plans are remembered by: the digest is."""

    broadcast: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bytes)

    def __hash__(self) -> int:
        return 0


def carried(spark: SparkSession, plan: Plan) -> Carried:
    """Threads are Spark's business: a task works alone."""
    alone = replace(plan, artefacts={}, workers=1)
    data = pickle.dumps((alone, packed(plan.artefacts), plan.digests))
    digest = hashlib.sha256(data).hexdigest()[:32]
    return Carried(spark.sparkContext.broadcast(data), digest)


@functools.lru_cache(maxsize=2)
def _unpacked(digest: str, data: _Bytes) -> Plan:  # noqa: ARG001 (what it is remembered by)
    plan, files, digests = pickle.loads(data.broadcast.value)
    made: Plan = replace(plan, artefacts=unpacked(files, plan.method, digests))
    return made


def spread(
    spark: SparkSession,
    items: Sequence[Any],
    work: Callable[[Iterator[Any]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """What ``work`` makes of the items, each in a task of its own. Spark's own rows are numbers:
    rows made of Python objects would pass through one more Python worker a task."""
    there = spark.sparkContext.broadcast([pickle.dumps(item) for item in items])

    def map_numbers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        numbers = (number for rows in batches for number in rows.column(0).to_pylist())
        return work(pickle.loads(there.value[number]) for number in numbers)

    return spark.range(0, len(items), 1, max(len(items), 1)).mapInArrow(map_numbers, schema)


_RAISED = re.compile(r"neardup\.errors\.(\w+): (.*?)(?:\n\n|\n\s*SQLSTATE|\n\tat |\Z)", re.DOTALL)
HINT = " Hint: "


@contextmanager
def as_ours() -> Iterator[None]:
    """An error of ours that a task raised, raised again; all others as they are."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:  # what a collect raises is the latter
        found = _ours(str(error))
        if found is None:
            raise
        raise found from error


def _ours(said: str) -> NeardupError | None:
    match = _RAISED.search(said)
    kind = getattr(errors, match[1], None) if match else None
    if match is None or not (isinstance(kind, type) and issubclass(kind, NeardupError)):
        return None
    message, _, hint = match[2].strip().partition(HINT)
    return kind(message, hint=hint or None)
