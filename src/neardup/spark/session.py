"""The Spark session: found, or started with what neardup needs, without the user having to know.

Python workers take the interpreter of the driver unless the user named one (``PYSPARK_PYTHON``,
``spark.pyspark.python``): on a cluster that is the path of an unpacked environment.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
